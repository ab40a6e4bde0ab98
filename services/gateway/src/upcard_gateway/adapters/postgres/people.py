"""Players, the erasable link to their operators' ids, and their accounts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from eventstore.postgres import Connection, Pool
from upcard_gateway.app.people import ASKED_MAX, Account, Person, Player, PlayerAccount

__all__ = ["PeopleTables", "PostgresPeople"]

_COLUMNS: Final = "player, operator, partner_player, nickname, country, language, cashier_url"
_PLAYER_OF: Final = f"SELECT {_COLUMNS} FROM gateway.people WHERE operator = $1 AND partner_player = $2"  # noqa: S608 - constants
_KNOWN: Final = f"SELECT {_COLUMNS} FROM gateway.people WHERE player = ANY ($1::text[])"  # noqa: S608 - constants
_PARTNER_IDS: Final = """
SELECT player, partner_player FROM gateway.people WHERE operator = $1 AND player = ANY ($2::text[])
"""
_OPERATORS: Final = "SELECT player, operator FROM gateway.players WHERE player = ANY ($1::text[])"
_ACCOUNT: Final = """
SELECT account FROM gateway.accounts WHERE player = $1 AND currency = $2 AND opened_at IS NOT NULL
"""
_ACCOUNTS: Final = """
SELECT account, player, operator, currency FROM gateway.accounts
 WHERE player = $1 AND opened_at IS NOT NULL ORDER BY currency
"""
_OWNERS: Final = """
SELECT account, player, operator, currency FROM gateway.accounts
 WHERE account = ANY ($1::text[]) AND opened_at IS NOT NULL
"""
# Both rows in one statement: whoever comes second finds the first one's player, and leaves no row of its own.
_LINK: Final = """
WITH linked AS (
    INSERT INTO gateway.people (player, operator, partner_player, nickname, country, language, cashier_url)
    VALUES ($1, $2, $3, $4, $5, $6, $7)
    ON CONFLICT (operator, partner_player) DO UPDATE
    SET nickname = excluded.nickname, country = excluded.country, language = excluded.language,
        cashier_url = excluded.cashier_url, changed_at = clock_timestamp()
    RETURNING player, operator
), known AS (
    INSERT INTO gateway.players (player, operator) SELECT player, operator FROM linked
    ON CONFLICT (player) DO NOTHING
)
SELECT player FROM linked
"""
# The update changes nothing; it is there because only then the row is returned.
_ENSURE: Final = """
INSERT INTO gateway.accounts AS a (account, player, operator, currency) VALUES ($1, $2, $3, $4)
ON CONFLICT (player, currency) DO UPDATE SET opened_at = a.opened_at
RETURNING account, opened_at IS NOT NULL AS is_open
"""
_OPENED: Final = """
UPDATE gateway.accounts SET opened_at = clock_timestamp() WHERE account = $1 AND opened_at IS NULL
"""
_ERASE: Final = "DELETE FROM gateway.people WHERE operator = $1 AND player = $2"


class PostgresPeople:
    """`People` on the tables."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def player_of(self, operator: str, partner_id: str) -> Player | None:
        """See `People`."""
        async with self._pool.acquire() as connection:
            return await PeopleTables.player_of(connection, operator, partner_id)

    async def partner_ids(self, operator: str, players: Sequence[str]) -> Mapping[str, str]:
        """See `People`."""
        rows = await self._fetch(_PARTNER_IDS, operator, _asked(players))
        return {row["player"]: row["partner_player"] for row in rows}

    async def operators_of(self, players: Sequence[str]) -> Mapping[str, str]:
        """See `People`."""
        rows = await self._fetch(_OPERATORS, _asked(players))
        return {row["player"]: row["operator"] for row in rows}

    async def known(self, players: Sequence[str]) -> Mapping[str, Player]:
        """See `People`."""
        rows = await self._fetch(_KNOWN, _asked(players))
        return {row["player"]: Player(*row) for row in rows}

    async def account_of(self, player: str, currency: str) -> str | None:
        """See `People`."""
        rows = await self._fetch(_ACCOUNT, player, currency)
        return rows[0]["account"] if rows else None

    async def accounts_of(self, player: str) -> tuple[PlayerAccount, ...]:
        """See `People`."""
        return tuple(PlayerAccount(*row) for row in await self._fetch(_ACCOUNTS, player))

    async def owners_of(self, accounts: Sequence[str]) -> Mapping[str, PlayerAccount]:
        """See `People`."""
        rows = await self._fetch(_OWNERS, _asked(accounts))
        return {row["account"]: PlayerAccount(*row) for row in rows}

    async def _fetch(self, statement: str, *arguments: object) -> list[Any]:
        async with self._pool.acquire() as connection:
            return await connection.fetch(statement, *arguments)


class PeopleTables:
    """The same tables in a transaction of the caller's: see `PersonTables`."""

    @staticmethod
    async def player_of(connection: Connection, operator: str, partner_id: str) -> Player | None:
        """See `PersonTables`."""
        row = await connection.fetchrow(_PLAYER_OF, operator, partner_id)
        return None if row is None else Player(*row)

    @staticmethod
    async def link(connection: Connection, new_player: str, person: Person) -> str:
        """See `PersonTables`."""
        player: str = await connection.fetchval(
            _LINK,
            new_player,
            person.operator,
            person.partner_id,
            person.nickname,
            person.country,
            person.language,
            person.cashier_url,
        )
        return player

    @staticmethod
    async def ensure_account(
        connection: Connection, new_account: str, player: str, operator: str, currency: str
    ) -> Account:
        """See `PersonTables`."""
        row = await connection.fetchrow(_ENSURE, new_account, player, operator, currency)
        if row is None:
            raise RuntimeError("an account is inserted or found")
        return Account(row["account"], row["is_open"])

    @staticmethod
    async def account_opened(connection: Connection, account: str) -> None:
        """See `PersonTables`."""
        await connection.execute(_OPENED, account)

    @staticmethod
    async def erase(connection: Connection, operator: str, player: str) -> bool:
        """See `PersonTables`."""
        return bool(await connection.execute(_ERASE, operator, player) == "DELETE 1")


def _asked(ids: Sequence[str]) -> list[str]:
    if len(ids) > ASKED_MAX:
        raise ValueError(f"at most {ASKED_MAX} ids at once, not {len(ids)}")
    return list(ids)
