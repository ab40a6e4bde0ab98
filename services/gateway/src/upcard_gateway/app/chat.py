"""The chats of tables: saying a line, what is told to whom, and what shift managers do about it.

Each line has a number at its table. A line that is taken away is told again, without its text.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from upcard_gateway.domain.chat import NotSaid, Standing, cleaned, folded, may_say

__all__ = [
    "LATEST",
    "MISSED_MAX",
    "ChatStanding",
    "ChatStore",
    "Line",
    "Said",
    "Saying",
    "blocked_word",
    "say",
]

LATEST: Final = 50
"""Lines that somebody is shown who comes to a table."""
MISSED_MAX: Final = 200
"""More that was missed is not told one by one."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a table's chat."""

    table: str
    line: int
    told: int
    """Number of the last that was told of it."""
    said_at: dt.datetime
    player: str
    nickname: str = field(repr=False)
    text: str | None = field(repr=False)
    """None: it was taken away."""


@dataclass(frozen=True, slots=True)
class Saying:
    """A line that a player wants to say."""

    table: str
    player: str
    message: str
    """The message's id, of the player's alone: the same again is the same line."""
    nickname: str = field(repr=False)
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Said:
    """It was said, now or before."""

    line: int


@dataclass(frozen=True, slots=True)
class ChatStanding:
    """What shift managers see of a player in chats."""

    player: str
    nickname: str | None = field(repr=False)
    """None: the person was erased."""
    muted_until: dt.datetime | None
    is_revoked: bool
    changed_by: str
    changed_at: dt.datetime
    reason: str


class ChatStore(Protocol):
    """Where chats lie: `adapters.postgres.chat.PostgresChat(pool)`. Each call is one transaction."""

    async def said_before(self, player: str, message: str) -> Said | None:
        """The line that this message has said already."""
        ...

    async def standing(self, player: str, since: dt.datetime) -> tuple[Standing, int]:
        """What a player may, and how many lines they have said since a moment."""
        ...

    async def words(self) -> frozenset[str]:
        """Words that nobody may say, folded."""
        ...

    async def add(self, saying: Saying, now: dt.datetime) -> Said | None:
        """Add a line, once a message; None: the person is not known any more."""
        ...

    async def latest(self, table: str, limit: int) -> tuple[int, Sequence[Line]]:
        """How much was told at a table, and its last lines that stand, oldest first."""
        ...

    async def since(self, tables: Sequence[tuple[str, int]], limit: int) -> Sequence[Line]:
        """What was told at tables behind these numbers, by table and number, at most `limit` a table."""
        ...

    async def told(self, table: str) -> int:
        """How much was told at a table."""
        ...

    async def remove(self, table: str, line: int, now: dt.datetime) -> bool:
        """Take a line away, and tell it again; False: there is none that stands."""
        ...

    async def mute(
        self, player: str, until: dt.datetime | None, by: str, reason: str, now: dt.datetime
    ) -> bool:
        """Let a player say nothing until then; None: they may again. False: nobody knows the player."""
        ...

    async def revoke(self, player: str, by: str, reason: str, now: dt.datetime, *, revoked: bool) -> bool:
        """Take the chat from a player, or give it back. False: nobody knows the player."""
        ...

    async def block(self, word: str, by: str) -> bool:
        """Let nobody say a (folded) word; False: nobody may already."""
        ...

    async def unblock(self, word: str) -> bool:
        """Let it be said again; False: it may be."""
        ...

    async def prune(self, before: dt.datetime) -> int:
        """Remove lines that were said before a moment, a bounded number: how many."""
        ...


async def say(
    store: ChatStore, words: frozenset[str], saying: Saying, now: dt.datetime, window: dt.timedelta
) -> Said | NotSaid:
    """Say a line, once a message, or tell why not."""
    before = await store.said_before(saying.player, saying.message)
    if before is not None:
        return before
    standing, recent = await store.standing(saying.player, now - window)
    line = cleaned(saying.text)
    refused = may_say(line, standing, recent, words, now)
    if refused is not None:
        return refused
    plain = Saying(saying.table, saying.player, saying.message, cleaned(saying.nickname), line)
    return await store.add(plain, now) or "chat_revoked"


def blocked_word(text: str) -> str:
    """A word as it is blocked: as words are compared."""
    return folded(cleaned(text))
