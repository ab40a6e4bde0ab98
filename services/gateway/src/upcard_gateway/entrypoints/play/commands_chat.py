"""The chats of tables over all gateways: what is said here and elsewhere is told to who follows a table."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import structlog

from eventstore.coordination.outages import PASSING
from upcard_gateway.adapters.postgres.chat import PostgresChat
from upcard_gateway.adapters.postgres.session_checks import PostgresChecks
from upcard_gateway.app.chat import LATEST, MISSED_MAX, ChatStore, Line, Said, Saying, say
from upcard_gateway.app.game_seen import Json
from upcard_gateway.domain.chat import RATE_WINDOW, NotSaid
from upcard_gateway.entrypoints.http.edge import Edge
from upcard_gateway.entrypoints.play.contract import ChatTold

__all__ = ["TableChat", "chat_of"]

WORDS_FRESH_S: Final = 5.0
"""A word that is blocked is blocked everywhere after so long."""
PRUNED_EVERY_S: Final = 3_600.0
CHECKS_KEPT: Final = dt.timedelta(days=7)
"""As long as services keep answers."""
_CATCHING_UP: Final = 500
_MOST_BATCHES: Final = 100

_log = structlog.get_logger("upcard.gateway.chat")

Told = Callable[[Sequence[ChatTold]], None]


class TableChat:
    """The chats of tables of one process. `run` has to go on for as long as somebody follows a table."""

    def __init__(
        self,
        store: ChatStore,
        checks: PostgresChecks,
        now: Callable[[], dt.datetime],
        *,
        every_s: float,
        kept: dt.timedelta,
    ) -> None:
        """`every_s`: how often it looks for what others said; `kept`: how long lines stay."""
        self._store = store
        self._checks = checks
        self._now = now
        self._every_s = every_s
        self._kept = kept
        self._followers: defaultdict[str, list[Told]] = defaultdict(list)
        self._told: dict[str, int] = {}
        """Up to where the followers of a table were told."""
        self._wake = asyncio.Event()
        self._words: tuple[float, frozenset[str]] | None = None
        self._failing = False

    async def latest(self, table: str) -> tuple[int, Sequence[ChatTold]]:
        """See `Chat`."""
        told, lines = await self._store.latest(table, LATEST)
        if table in self._followers:
            # Followers are told everything behind this, whatever was read of the table meanwhile.
            self._told[table] = min(told, self._told.get(table, told))
        return told, [_told(line) for line in lines]

    async def since(self, table: str, seq: int) -> Sequence[ChatTold] | None:
        """See `Chat`."""
        if seq > await self._store.told(table):
            return None
        lines = await self._store.since([(table, seq)], MISSED_MAX + 1)
        return None if len(lines) > MISSED_MAX else [_told(line) for line in lines]

    def follow(self, table: str, told: Told) -> Callable[[], None]:
        """See `Chat`. What is told begins somewhere: whoever follows compares numbers with what they have."""
        self._followers[table].append(told)
        self._wake.set()

        def leave() -> None:
            following = self._followers.get(table, [])
            if told in following:
                following.remove(told)
            if not following:
                self._followers.pop(table, None)
                self._told.pop(table, None)

        return leave

    async def say(self, saying: Saying) -> Said | NotSaid:
        """Say a line, once a message, or tell why not."""
        outcome = await say(self._store, await self._blocked(), saying, self._now(), RATE_WINDOW)
        self.look()
        return outcome

    def look(self) -> None:
        """Look for what is new now, not at the next turn."""
        self._wake.set()

    def forget_words(self) -> None:
        """The list of blocked words was changed here."""
        self._words = None

    async def run(self, ending: asyncio.Event) -> None:
        """Go on until `ending` is set: tell what is new, remove what is old."""
        loop = asyncio.get_running_loop()
        stop = asyncio.ensure_future(ending.wait())
        pruned_at = loop.time()
        try:
            while not ending.is_set():
                await self._patiently(self._tell)
                if loop.time() - pruned_at >= PRUNED_EVERY_S:
                    pruned_at = loop.time()
                    await self._patiently(self._prune)
                woken = asyncio.ensure_future(self._wake.wait())
                await asyncio.wait((stop, woken), timeout=self._every_s, return_when=asyncio.FIRST_COMPLETED)
                woken.cancel()
                self._wake.clear()
        finally:
            stop.cancel()

    async def _tell(self) -> None:
        new = [table for table in self._followers if table not in self._told]
        for table in new:
            self._told.setdefault(table, await self._store.told(table))
        known = [(table, self._told[table]) for table in self._followers if table in self._told]
        if not known:
            return
        found: defaultdict[str, list[Line]] = defaultdict(list)
        for line in await self._store.since(known, _CATCHING_UP):
            found[line.table].append(line)
        for table, lines in found.items():
            if table not in self._followers:
                continue
            self._told[table] = lines[-1].told
            told = [_told(line) for line in lines]
            for follower in tuple(self._followers[table]):
                follower(told)

    async def _prune(self) -> None:
        for _ in range(_MOST_BATCHES):
            if not await self._store.prune(self._now() - self._kept):
                break
        for _ in range(_MOST_BATCHES):
            if not await self._checks.prune(self._now() - CHECKS_KEPT):
                break

    async def _blocked(self) -> frozenset[str]:
        clock = asyncio.get_running_loop().time()
        if self._words is None or clock - self._words[0] >= WORDS_FRESH_S:
            self._words = (clock, await self._store.words())
        return self._words[1]

    async def _patiently(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except PASSING:
            if not self._failing:
                _log.warning("the chat waits for the database")
            self._failing = True
        else:
            self._failing = False


def chat_of(edge: Edge) -> TableChat:
    """The chats of a gateway."""
    settings = edge.settings
    return TableChat(
        PostgresChat(edge.pool),
        PostgresChecks(edge.pool),
        edge.now,
        every_s=settings.chat_every_s,
        kept=dt.timedelta(days=settings.chat_kept_days),
    )


def _told(line: Line) -> ChatTold:
    said: Json = {
        "line": line.line,
        "nickname": line.nickname,
        "who": "player",
        "own": False,
        "text": line.text,
        "said_at": line.said_at.astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
    }
    return ChatTold(line.told, said, line.player)
