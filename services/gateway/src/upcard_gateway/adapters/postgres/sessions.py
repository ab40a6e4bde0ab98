"""Sessions as they stand."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Final

import asyncpg

from eventstore.postgres import Connection
from upcard_gateway.domain.sessions import Limits, Session

__all__ = ["PostgresSessions"]

_COLUMNS: Final = """
session, player, operator, account, currency, environment, wallet, table_id, wager_max, round_max, opened_at,
launch_until, ends_by, idle_s, seen_at, events, redeemed_at, ended_at, end_reason
"""
_SELECT: Final = f"SELECT {_COLUMNS} FROM gateway.sessions"  # noqa: S608 - constants
_LOCK: Final = """
SELECT player FROM gateway.players WHERE player = ANY ($1::text[]) ORDER BY player FOR NO KEY UPDATE
"""
_OF_PLAYER: Final = f"""{_SELECT}
 WHERE player = $1 AND ($2::timestamptz IS NULL OR (opened_at, session) < ($2, $3))
 ORDER BY opened_at DESC, session DESC LIMIT $4
"""
_DUE: Final = f"""{_SELECT}
 WHERE ended_at IS NULL AND due_at <= $1 AND ($3::text[] IS NULL OR player = ANY ($3))
 ORDER BY due_at LIMIT $2
"""
_INSERT: Final = """
INSERT INTO gateway.sessions
       (session, player, operator, account, currency, environment, wallet, table_id, wager_max, round_max,
        opened_at, launch_until, ends_by, idle_s, seen_at, events, due_at, launch_hash)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
"""
_STORE: Final = """
UPDATE gateway.sessions AS s
   SET seen_at = n.seen_at, due_at = n.due_at, events = n.events, redeemed_at = n.redeemed_at,
       ended_at = n.ended_at, end_reason = n.end_reason, secret_hash = coalesce($8, s.secret_hash)
  FROM unnest($1::text[], $2::timestamptz[], $3::timestamptz[], $4::bigint[], $5::timestamptz[],
              $6::timestamptz[], $7::text[])
       AS n (session, seen_at, due_at, events, redeemed_at, ended_at, end_reason)
 WHERE s.session = n.session
"""


class PostgresSessions:
    """`SessionTables` on the tables."""

    async def lock_players(
        self, connection: Connection, players: Sequence[str], *, wait: bool = True
    ) -> frozenset[str]:
        """See `SessionTables`."""
        rows = await connection.fetch(_LOCK if wait else f"{_LOCK} SKIP LOCKED", list(players))
        return frozenset(row["player"] for row in rows)

    async def session(self, connection: Connection, session: str) -> Session | None:
        """See `SessionTables`."""
        return _one(await connection.fetchrow(f"{_SELECT} WHERE session = $1", session))

    async def by_launch(self, connection: Connection, launch_hash: bytes) -> Session | None:
        """See `SessionTables`."""
        return _one(await connection.fetchrow(f"{_SELECT} WHERE launch_hash = $1", launch_hash))

    async def by_secret(self, connection: Connection, secret_hash: bytes) -> Session | None:
        """See `SessionTables`."""
        return _one(await connection.fetchrow(f"{_SELECT} WHERE secret_hash = $1", secret_hash))

    async def live(self, connection: Connection, player: str) -> Session | None:
        """See `SessionTables`."""
        return _one(await connection.fetchrow(f"{_SELECT} WHERE player = $1 AND ended_at IS NULL", player))

    async def latest(self, connection: Connection, player: str) -> Session | None:
        """See `SessionTables`."""
        return _one(await connection.fetchrow(_OF_PLAYER, player, None, None, 1))

    async def of_player(
        self, connection: Connection, player: str, after: Session | None, limit: int
    ) -> Sequence[Session]:
        """See `SessionTables`."""
        before = (None, None) if after is None else (after.opened_at, after.id)
        return tuple(map(_session, await connection.fetch(_OF_PLAYER, player, *before, limit)))

    async def due(
        self, connection: Connection, now: dt.datetime, limit: int, players: Sequence[str] | None = None
    ) -> Sequence[Session]:
        """See `SessionTables`."""
        asked = None if players is None else list(players)
        return tuple(map(_session, await connection.fetch(_DUE, now, limit, asked)))

    async def insert(self, connection: Connection, session: Session, launch_hash: bytes) -> None:
        """See `SessionTables`."""
        await connection.execute(
            _INSERT,
            session.id,
            session.player,
            session.operator,
            session.account,
            session.currency,
            session.environment,
            session.wallet,
            session.table,
            session.limits.wager_max,
            session.limits.round_max,
            session.opened_at,
            session.launch_until,
            session.ends_by,
            session.idle_s,
            session.seen_at,
            session.events,
            session.due[0],
            launch_hash,
        )

    async def store(
        self, connection: Connection, sessions: Sequence[Session], secret_hash: bytes | None = None
    ) -> None:
        """See `SessionTables`."""
        if secret_hash is not None and len(sessions) != 1:
            raise ValueError("a secret is one session's")
        await connection.execute(
            _STORE,
            [one.id for one in sessions],
            [one.seen_at for one in sessions],
            [one.due[0] for one in sessions],
            [one.events for one in sessions],
            [one.redeemed_at for one in sessions],
            [one.ended_at for one in sessions],
            [one.end_reason for one in sessions],
            secret_hash,
        )


def _one(row: asyncpg.Record | None) -> Session | None:
    return None if row is None else _session(row)


def _session(row: asyncpg.Record) -> Session:
    return Session(
        id=row["session"],
        player=row["player"],
        operator=row["operator"],
        account=row["account"],
        currency=row["currency"],
        environment=row["environment"],
        wallet=row["wallet"],
        table=row["table_id"],
        limits=Limits(row["wager_max"], row["round_max"]),
        opened_at=row["opened_at"],
        launch_until=row["launch_until"],
        ends_by=row["ends_by"],
        idle_s=row["idle_s"],
        seen_at=row["seen_at"],
        events=row["events"],
        redeemed_at=row["redeemed_at"],
        ended_at=row["ended_at"],
        end_reason=row["end_reason"],
    )
