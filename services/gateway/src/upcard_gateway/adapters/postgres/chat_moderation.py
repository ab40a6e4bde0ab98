"""Chats as shift managers see them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any, Final

from eventstore.postgres import Pool
from upcard_gateway.app.chat import ChatStanding
from upcard_gateway.app.chat_moderation import BlockedWord, ChatTable, ModeratedLine

__all__ = ["PostgresModeration"]

_TABLES: Final = """
SELECT latest.table_id, busy.lines, busy.people, latest.said_at, latest.nickname, latest.body
  FROM gateway.chat_tables AS t
 CROSS JOIN LATERAL (
    SELECT l.table_id, l.said_at, l.nickname, CASE WHEN l.removed_at IS NULL THEN l.body END AS body
      FROM gateway.chat_lines AS l WHERE l.table_id = t.table_id ORDER BY l.line DESC LIMIT 1
 ) AS latest
 CROSS JOIN LATERAL (
    SELECT count(*) AS lines, count(DISTINCT l.player) AS people
      FROM gateway.chat_lines AS l WHERE l.table_id = t.table_id AND l.said_at > $1
 ) AS busy
 ORDER BY latest.said_at DESC LIMIT $2
"""
_LINES: Final = """
SELECT l.table_id, l.line, l.said_at, l.removed_at, l.player, l.nickname, l.body, s.muted_until,
       coalesce(s.is_revoked, false) AS is_revoked
  FROM gateway.chat_lines AS l LEFT JOIN gateway.chat_players AS s USING (player)
"""
_OF_TABLE: Final = f"{_LINES} WHERE l.table_id = $1 ORDER BY l.line DESC LIMIT $2"
_ONE: Final = f"{_LINES} WHERE l.table_id = $1 AND l.line = $2"
_OF_PLAYER: Final = f"{_LINES} WHERE l.player = $1 ORDER BY l.said_at DESC LIMIT $2"
_STANDINGS: Final = """
SELECT s.player, p.nickname, s.muted_until, s.is_revoked, s.changed_by, s.changed_at, s.reason
  FROM gateway.chat_players AS s LEFT JOIN gateway.people AS p USING (player)
 WHERE s.is_revoked OR s.muted_until > $1
 ORDER BY s.changed_at DESC LIMIT $2
"""
_WORDS: Final = "SELECT word, added_by, added_at FROM gateway.chat_words ORDER BY word LIMIT $1"
_BUSY: Final = dt.timedelta(hours=1)


class PostgresModeration:
    """See `Moderation`."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def tables(self, now: dt.datetime, limit: int) -> Sequence[ChatTable]:
        """See `Moderation`."""
        return [ChatTable(*row) for row in await self._rows(_TABLES, now - _BUSY, limit)]

    async def lines(self, table: str, limit: int) -> Sequence[ModeratedLine]:
        """See `Moderation`."""
        return [ModeratedLine(*row) for row in await self._rows(_OF_TABLE, table, limit)]

    async def line(self, table: str, line: int) -> ModeratedLine | None:
        """See `Moderation`."""
        rows = await self._rows(_ONE, table, line)
        return ModeratedLine(*rows[0]) if rows else None

    async def of_player(self, player: str, limit: int) -> Sequence[ModeratedLine]:
        """See `Moderation`."""
        return [ModeratedLine(*row) for row in await self._rows(_OF_PLAYER, player, limit)]

    async def standings(self, now: dt.datetime, limit: int) -> Sequence[ChatStanding]:
        """See `Moderation`."""
        return [ChatStanding(*row) for row in await self._rows(_STANDINGS, now, limit)]

    async def words(self, limit: int) -> Sequence[BlockedWord]:
        """See `Moderation`."""
        return [BlockedWord(*row) for row in await self._rows(_WORDS, limit)]

    async def _rows(self, statement: str, *arguments: object) -> list[Any]:
        async with self._pool.acquire() as connection:
            return await connection.fetch(statement, *arguments)
