"""Where the chats of tables lie."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any, Final

from eventstore.postgres import Pool
from upcard_gateway.app.chat import Line, Said, Saying
from upcard_gateway.domain.chat import Standing

__all__ = ["PostgresChat"]

PRUNED_AT_ONCE: Final = 5_000
WORDS_MAX: Final = 5_000

_COLUMNS: Final = """
SELECT table_id, line, told, said_at, player, nickname, CASE WHEN removed_at IS NULL THEN body END AS body
  FROM gateway.chat_lines
"""
_BEFORE: Final = "SELECT line FROM gateway.chat_lines WHERE player = $1 AND message = $2"
_STANDING: Final = """
SELECT s.muted_until, coalesce(s.is_revoked, false) AS is_revoked,
       (SELECT count(*) FROM gateway.chat_lines AS l WHERE l.player = $1 AND l.said_at > $2) AS recent
  FROM (VALUES ($1::text)) AS asked (player)
  LEFT JOIN gateway.chat_players AS s USING (player)
"""
_WORDS: Final = "SELECT word FROM gateway.chat_words ORDER BY word LIMIT $1"
# One statement: the table's row is locked by it, so numbers are committed in their order.
_ADD: Final = """
WITH told AS (
    INSERT INTO gateway.chat_tables AS t (table_id, told) VALUES ($1, 1)
    ON CONFLICT (table_id) DO UPDATE SET told = t.told + 1
    RETURNING told
)
INSERT INTO gateway.chat_lines (table_id, line, told, said_at, player, message, nickname, body)
SELECT $1, told, told, $2, $3, $4, $5, $6 FROM told
RETURNING line
"""
_KNOWN: Final = "SELECT EXISTS (SELECT FROM gateway.people WHERE player = $1)"
_TOLD: Final = "SELECT told FROM gateway.chat_tables WHERE table_id = $1"
_LATEST: Final = f"""
SELECT * FROM ({_COLUMNS} WHERE table_id = $1 AND told <= $2 AND removed_at IS NULL
                ORDER BY line DESC LIMIT $3) AS lines ORDER BY line
"""  # noqa: S608 - constants
_SINCE: Final = """
SELECT lines.* FROM unnest($1::text[], $2::bigint[]) AS asked (table_id, told)
 CROSS JOIN LATERAL (
    SELECT l.table_id, l.line, l.told, l.said_at, l.player, l.nickname,
           CASE WHEN l.removed_at IS NULL THEN l.body END AS body
      FROM gateway.chat_lines AS l
     WHERE l.table_id = asked.table_id AND l.told > asked.told
     ORDER BY l.told LIMIT $3
 ) AS lines
 ORDER BY lines.table_id, lines.told
"""
_REMOVE: Final = """
WITH told AS (
    UPDATE gateway.chat_tables SET told = told + 1
     WHERE table_id = $1
       AND EXISTS (SELECT FROM gateway.chat_lines WHERE table_id = $1 AND line = $2 AND removed_at IS NULL)
    RETURNING told
)
UPDATE gateway.chat_lines SET removed_at = $3, told = told.told
  FROM told
 WHERE table_id = $1 AND line = $2 AND removed_at IS NULL
"""
_MUTE: Final = """
INSERT INTO gateway.chat_players (player, muted_until, changed_at, changed_by, reason)
SELECT player, $2, $5, $3, $4 FROM gateway.players WHERE player = $1
ON CONFLICT (player) DO UPDATE
SET muted_until = excluded.muted_until, changed_at = excluded.changed_at, changed_by = excluded.changed_by,
    reason = excluded.reason
"""
_REVOKE: Final = """
INSERT INTO gateway.chat_players (player, is_revoked, changed_at, changed_by, reason)
SELECT player, $2, $5, $3, $4 FROM gateway.players WHERE player = $1
ON CONFLICT (player) DO UPDATE
SET is_revoked = excluded.is_revoked, changed_at = excluded.changed_at, changed_by = excluded.changed_by,
    reason = excluded.reason
"""
_BLOCK: Final = """
INSERT INTO gateway.chat_words (word, added_by) VALUES ($1, $2) ON CONFLICT (word) DO NOTHING
"""
_UNBLOCK: Final = "DELETE FROM gateway.chat_words WHERE word = $1"
_PRUNE: Final = """
WITH old AS (
    SELECT table_id, line FROM gateway.chat_lines WHERE said_at < $1 ORDER BY said_at LIMIT $2
    FOR UPDATE SKIP LOCKED
)
DELETE FROM gateway.chat_lines AS l USING old WHERE l.table_id = old.table_id AND l.line = old.line
"""


class PostgresChat:
    """See `ChatStore`."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def said_before(self, player: str, message: str) -> Said | None:
        """See `ChatStore`."""
        line = await self._value(_BEFORE, player, message)
        return None if line is None else Said(line)

    async def standing(self, player: str, since: dt.datetime) -> tuple[Standing, int]:
        """See `ChatStore`."""
        (row,) = await self._rows(_STANDING, player, since)
        return Standing(row["muted_until"], row["is_revoked"]), row["recent"]

    async def words(self) -> frozenset[str]:
        """See `ChatStore`."""
        return frozenset(row["word"] for row in await self._rows(_WORDS, WORDS_MAX))

    async def add(self, saying: Saying, now: dt.datetime) -> Said | None:
        """See `ChatStore`."""
        async with self._pool.acquire() as connection, connection.transaction():
            # Two tries of one message at a time: the second waits here for the first.
            await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 7))", saying.player)
            before = await connection.fetchval(_BEFORE, saying.player, saying.message)
            if before is not None:
                return Said(before)
            if not await connection.fetchval(_KNOWN, saying.player):
                return None
            line = await connection.fetchval(
                _ADD, saying.table, now, saying.player, saying.message, saying.nickname, saying.text
            )
            return Said(line)

    async def told(self, table: str) -> int:
        """See `ChatStore`."""
        return int(await self._value(_TOLD, table) or 0)

    async def latest(self, table: str, limit: int) -> tuple[int, Sequence[Line]]:
        """See `ChatStore`."""
        told = await self.told(table)
        return told, [_line(row) for row in await self._rows(_LATEST, table, told, limit)]

    async def since(self, tables: Sequence[tuple[str, int]], limit: int) -> Sequence[Line]:
        """See `ChatStore`."""
        names, numbers = [one for one, _ in tables], [one for _, one in tables]
        return [_line(row) for row in await self._rows(_SINCE, names, numbers, limit)]

    async def remove(self, table: str, line: int, now: dt.datetime) -> bool:
        """See `ChatStore`."""
        return await self._changed(_REMOVE, table, line, now)

    async def mute(
        self, player: str, until: dt.datetime | None, by: str, reason: str, now: dt.datetime
    ) -> bool:
        """See `ChatStore`."""
        return await self._changed(_MUTE, player, until, by, reason, now)

    async def revoke(self, player: str, by: str, reason: str, now: dt.datetime, *, revoked: bool) -> bool:
        """See `ChatStore`."""
        return await self._changed(_REVOKE, player, revoked, by, reason, now)

    async def block(self, word: str, by: str) -> bool:
        """See `ChatStore`."""
        return await self._changed(_BLOCK, word, by)

    async def unblock(self, word: str) -> bool:
        """See `ChatStore`."""
        return await self._changed(_UNBLOCK, word)

    async def prune(self, before: dt.datetime) -> int:
        """See `ChatStore`."""
        async with self._pool.acquire() as connection:
            status: str = await connection.execute(_PRUNE, before, PRUNED_AT_ONCE)
        return int(status.rpartition(" ")[2])

    async def _rows(self, statement: str, *arguments: object) -> list[Any]:
        async with self._pool.acquire() as connection:
            return await connection.fetch(statement, *arguments)

    async def _value(self, statement: str, *arguments: object) -> Any:  # noqa: ANN401 - of any column
        async with self._pool.acquire() as connection:
            return await connection.fetchval(statement, *arguments)

    async def _changed(self, statement: str, *arguments: object) -> bool:
        async with self._pool.acquire() as connection:
            status: str = await connection.execute(statement, *arguments)
        return not status.endswith(" 0")


def _line(row: Any) -> Line:  # noqa: ANN401 - a row of asyncpg's
    return Line(
        row["table_id"],
        row["line"],
        row["told"],
        row["said_at"],
        row["player"],
        row["nickname"],
        row["body"],
    )
