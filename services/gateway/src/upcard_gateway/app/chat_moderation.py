"""What shift managers see of chats: tables where people talk, lines with whose they are, who may not chat."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from upcard_gateway.app.chat import ChatStanding

__all__ = ["BlockedWord", "ChatTable", "ModeratedLine", "Moderation"]


@dataclass(frozen=True, slots=True)
class ChatTable:
    """A table where something was said."""

    table: str
    lines: int
    """Lines of the last hour."""
    people: int
    """Who said them."""
    last_at: dt.datetime
    last_nickname: str = field(repr=False)
    last_text: str | None = field(repr=False)
    """None: it was taken away."""


@dataclass(frozen=True, slots=True)
class ModeratedLine:
    """A line with whose it is, taken away or not."""

    table: str
    line: int
    said_at: dt.datetime
    removed_at: dt.datetime | None
    player: str
    nickname: str = field(repr=False)
    text: str = field(repr=False)
    muted_until: dt.datetime | None
    is_revoked: bool


@dataclass(frozen=True, slots=True)
class BlockedWord:
    """A word that nobody may say."""

    word: str
    added_by: str
    added_at: dt.datetime


class Moderation(Protocol):
    """What is read for shift managers: `adapters.postgres.chat_moderation.PostgresModeration(pool)`."""

    async def tables(self, now: dt.datetime, limit: int) -> Sequence[ChatTable]:
        """Tables where people talk, the latest line first."""
        ...

    async def lines(self, table: str, limit: int) -> Sequence[ModeratedLine]:
        """A table's lines, newest first, those that were taken away too."""
        ...

    async def line(self, table: str, line: int) -> ModeratedLine | None:
        """One line."""
        ...

    async def of_player(self, player: str, limit: int) -> Sequence[ModeratedLine]:
        """A player's lines at all tables, newest first."""
        ...

    async def standings(self, now: dt.datetime, limit: int) -> Sequence[ChatStanding]:
        """Players who may not chat now, the latest change first."""
        ...

    async def words(self, limit: int) -> Sequence[BlockedWord]:
        """Words that nobody may say, in their order."""
        ...
