"""Free bets, and the wagers that they paid."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final

import asyncpg

from eventstore.postgres import Connection
from upcard_bonus.app.ports import BetKey
from upcard_bonus.app.recording import instant_text, moment_of
from upcard_bonus.domain.free_bet import FreeBet, Use

_FREE_BETS: Final = """
SELECT free_bet, player, currency, amount, wagers, expires_at, used, lapsed, expired FROM bonus.free_bets
"""

_ADD: Final = """
INSERT INTO bonus.free_bets (free_bet, player, currency, amount, wagers, expires_at)
VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (free_bet) DO NOTHING
"""

_LOCK: Final = f"{_FREE_BETS} WHERE free_bet = ANY ($1::text[]) ORDER BY free_bet FOR UPDATE"

_LOCK_DUE: Final = f"""
{_FREE_BETS}
 WHERE NOT expired AND expires_at <= clock_timestamp()
 ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED
"""

_SAVE: Final = """
UPDATE bonus.free_bets AS f SET used = u.used, lapsed = u.lapsed, expired = u.expired
  FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::boolean[]) AS u (free_bet, used, lapsed, expired)
 WHERE f.free_bet = u.free_bet
"""

_LIST: Final = f"""
{_FREE_BETS}
 WHERE player = $1 AND free_bet > $2
   AND (NOT $4::boolean OR NOT expired AND expires_at > clock_timestamp() AND amount > used + lapsed)
 ORDER BY free_bet LIMIT $3
"""

_USES: Final = """
SELECT round, player, bet_id, box, wager, free_bet, amount, back
  FROM bonus.free_bet_uses WHERE round = ANY ($1::text[])
"""

_PUT_USES: Final = """
INSERT INTO bonus.free_bet_uses AS f (round, player, bet_id, box, wager, free_bet, amount, back)
SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::integer[], $5::text[], $6::text[], $7::bigint[],
                     $8::boolean[])
ON CONFLICT (round, player, bet_id, box, wager) DO UPDATE SET back = excluded.back
"""

_DROP_USES: Final = """
DELETE FROM bonus.free_bet_uses AS f
 USING unnest($1::text[], $2::text[], $3::text[], $4::integer[], $5::text[])
       AS u (round, player, bet_id, box, wager)
 WHERE (f.round, f.player, f.bet_id, f.box, f.wager) = (u.round, u.player, u.bet_id, u.box, u.wager)
"""


class FreeBetTables:
    """Implements `app.ports.FreeBets`."""

    async def add(self, connection: Connection, state: FreeBet) -> bool:
        """See `FreeBets`."""
        status = await connection.execute(
            _ADD,
            state.free_bet,
            state.player,
            state.currency,
            state.amount,
            list(state.wagers),
            moment_of(state.expires_at),
        )
        return status == "INSERT 0 1"

    async def lock(self, connection: Connection, names: Collection[str]) -> dict[str, FreeBet]:
        """See `FreeBets`."""
        return {row["free_bet"]: _of(row) for row in await connection.fetch(_LOCK, list(names))}

    async def lock_due(self, connection: Connection, most: int) -> Sequence[FreeBet]:
        """See `FreeBets`."""
        return [_of(row) for row in await connection.fetch(_LOCK_DUE, most)]

    async def save(self, connection: Connection, states: Iterable[FreeBet]) -> None:
        """See `FreeBets`."""
        rows = [(one.free_bet, one.used, one.lapsed, one.expired) for one in states]
        if rows:
            await connection.execute(_SAVE, *zip(*rows, strict=True))

    async def list(
        self, connection: Connection, player: str, *, after: str, limit: int, usable_only: bool
    ) -> Sequence[FreeBet]:
        """See `FreeBets`."""
        return [_of(row) for row in await connection.fetch(_LIST, player, after, limit, usable_only)]

    async def uses(self, connection: Connection, names: Collection[str]) -> Sequence[Use]:
        """See `FreeBets`."""
        return [Use(*row) for row in await connection.fetch(_USES, list(names))]

    async def put_uses(self, connection: Connection, uses: Iterable[Use]) -> None:
        """See `FreeBets`."""
        rows = [
            (one.round, one.player, one.bet_id, one.box, one.wager, one.free_bet, one.amount, one.back)
            for one in uses
        ]
        if rows:
            await connection.execute(_PUT_USES, *zip(*rows, strict=True))

    async def drop_uses(self, connection: Connection, keys: Iterable[BetKey]) -> None:
        """See `FreeBets`."""
        rows = [tuple(key) for key in keys]
        if rows:
            await connection.execute(_DROP_USES, *zip(*rows, strict=True))


def _of(row: asyncpg.Record) -> FreeBet:
    return FreeBet(
        row["free_bet"],
        row["player"],
        row["currency"],
        row["amount"],
        tuple(row["wagers"]),
        instant_text(row["expires_at"]),
        row["used"],
        row["lapsed"],
        row["expired"],
    )
