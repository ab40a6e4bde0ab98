"""A table and its latest rounds, kept up with the log. Positions decide: what it tells of is only a hint.

Each event is applied once, in its stream's order. What was missed is read; so nothing depends on a
notification that arrives, on when it does, or on the order in which shards are read.
"""

from __future__ import annotations

from typing import Final, Protocol

from eventstore.errors import LogBroken
from upcard_table.app.watching.channel import Encode
from upcard_table.app.watching.feed import RoundFeed, round_event
from upcard_table.app.watching.inbox import Entries, Inbox
from upcard_table.app.watching.resuming import ROUNDS_KEPT, Cursor, Mark
from upcard_table.app.watching.shown import Audience
from upcard_table.app.watching.sources import Sources, last_round
from upcard_table.app.watching.table_feed import EVENTS_KEPT, TableFeed, table_event
from upcard_table.domain.events import TipGiven

PAGE_EVENTS: Final = 500


class TableUnknown(LookupError):
    """No such table was ever opened."""


class Listener(Protocol):
    """Hears what has changed."""

    def told(self, players: set[str]) -> None:
        """These players have something new of their own."""
        ...

    def changed(self) -> None:
        """There is something new for everybody."""
        ...

    def leaves(self, feed: RoundFeed) -> None:
        """A round is about to be forgotten."""
        ...


class TableFollower:
    """Used by one task at a time: whoever calls `open`, `take_in`, `adopt` or `reach_back` holds a lock."""

    def __init__(self, table: str, sources: Sources, encode: Encode, listener: Listener) -> None:
        self.table = table
        self.inbox = Inbox()
        self.feed = TableFeed(table, encode)
        self.rounds: dict[int, RoundFeed] = {}
        """The latest rounds that are loaded, by number, ascending."""
        self._encode = encode
        self._sources = sources
        self._listener = listener

    @property
    def latest(self) -> RoundFeed | None:
        """The table's latest round; None before its first."""
        return self.rounds[max(self.rounds)] if self.rounds else None

    async def open(self) -> None:
        """Load the table and its last two rounds, since rebet repeats the one before. Raises TableUnknown."""
        known = await self._sources.index.find(self.table)
        self.feed = TableFeed(self.table, self._encode, known.state, known.position)
        await self._read_table()
        if not self.feed.position:
            raise TableUnknown(self.table)
        last = await last_round(self._sources.log, self.table, known.last_round)
        for number in range(max(1, last - 1), last + 1):
            await self._load(number)

    async def take_in(self) -> None:
        """Apply what the log has told since."""
        if self.inbox.missed:
            self.inbox.missed = False
            await self._compare()
        while (taken := self.inbox.take()) is not None:
            stream, entries = taken
            if stream == self.feed.stream:
                await self._table(entries)
            else:
                await self._round(int(stream.rpartition(".")[2]), entries)

    def missing_for(self, cursor: Cursor) -> list[int] | None:
        """Rounds to be loaded for a session that goes on from there; None: it cannot, too far back."""
        last = max(self.rounds, default=0)
        oldest = max(1, last - ROUNDS_KEPT + 1)
        if cursor.table > self.feed.position or max(cursor.rounds, default=1) < oldest:
            return None
        wanted = range(max(oldest, min(cursor.rounds, default=1)), last + 1)
        return [number for number in wanted if number not in self.rounds]

    async def adopt(self, feed: RoundFeed) -> None:
        """Keep a round that was read aside, if it is still among the latest."""
        await self._read_round(feed, quietly=True)
        if feed.number not in self.rounds and feed.number > max(self.rounds, default=0) - ROUNDS_KEPT:
            self.rounds = dict(sorted({**self.rounds, feed.number: feed}.items()))

    async def reach_back(self, cursor: Cursor, audience: Audience, player: str | None) -> bool:
        """Whether a session can go on from there. The table's own events that it needs are loaded."""
        if self.missing_for(cursor) != []:
            return False
        feed = self.feed
        missing = feed.reaches_back_to - cursor.table
        if missing > 0:
            if feed.position - cursor.table > EVENTS_KEPT:
                return False
            log = self._sources.log
            feed.prepend(await log.read_contents(feed.stream, after=cursor.table, limit=missing))
        oldest = max(self.rounds, default=0) - ROUNDS_KEPT
        for number in [number for number in cursor.rounds if number <= oldest]:
            del cursor.rounds[number]
        return all(
            number in self.rounds and _is_possible(self.rounds[number], mark, audience, player)
            for number, mark in cursor.rounds.items()
        )

    async def read(self, number: int) -> RoundFeed | None:
        """A round that is not kept, for one look at it; None: it was never opened."""
        feed = RoundFeed(self.table, number)
        await self._read_round(feed, quietly=True)
        return feed if feed.position else None

    async def _load(self, number: int) -> None:
        feed = await self.read(number)
        if feed is not None:
            self.rounds = dict(sorted({**self.rounds, number: feed}.items()))
            self._listener.told(set(feed.own))
            self._listener.changed()

    async def _compare(self) -> None:
        """Catch up with everything, since nobody knows what was missed.

        Raises LogBroken where the log ends earlier than it did: it was restored; what is here is not true.
        """
        ends = {feed.stream: feed.position for feed in self.rounds.values()}
        for stream, position in {self.feed.stream: self.feed.position, **ends}.items():
            head = await self._sources.log.stream_head(stream)
            if head.position < position:
                raise LogBroken(f"{stream} ends at {head.position}, and was at {position} before")
        await self._read_table()
        for feed in tuple(self.rounds.values()):
            await self._read_round(feed)
        known = max(self.rounds, default=0)
        last = await last_round(self._sources.log, self.table, known)
        if last > known:
            await self._go_on_to(last)

    async def _table(self, entries: Entries) -> None:
        for position, content in entries:
            if position > self.feed.position + 1:
                await self._read_table()
            elif position == self.feed.position + 1:
                self._apply_to_table(content)

    async def _read_table(self) -> None:
        feed, log = self.feed, self._sources.log
        while True:
            contents = await log.read_contents(feed.stream, after=feed.position, limit=PAGE_EVENTS)
            for content in contents:
                self._apply_to_table(content)
            if len(contents) < PAGE_EVENTS:
                return

    def _apply_to_table(self, content: bytes) -> None:
        event = table_event(content)
        self.feed.apply(event)
        if isinstance(event, TipGiven):
            self._listener.told({event.player})
        self._listener.changed()

    async def _round(self, number: int, entries: Entries) -> None:
        if number > max(self.rounds, default=0):
            await self._go_on_to(number)
        feed = self.rounds.get(number)
        if feed is None:
            return
        for position, content in entries:
            if position > feed.position + 1:
                await self._read_round(feed)
            elif position == feed.position + 1:
                await self._apply(feed, content)

    async def _go_on_to(self, number: int) -> None:
        """Begin the rounds up to this one.

        They lie in different shards: what ended them may not have come yet.
        """
        last = self.latest
        if last is not None:
            await self._read_round(last)
        for following in range(max(max(self.rounds, default=0) + 1, number - ROUNDS_KEPT + 1), number + 1):
            await self._load(following)
        for old in [kept for kept in self.rounds if kept <= max(self.rounds) - ROUNDS_KEPT]:
            self._listener.leaves(self.rounds[old])
            del self.rounds[old]

    async def _read_round(self, feed: RoundFeed, *, quietly: bool = False) -> None:
        log = self._sources.log
        while True:
            contents = await log.read_contents(feed.stream, after=feed.position, limit=PAGE_EVENTS)
            for content in contents:
                await self._apply(feed, content, quietly=quietly)
            if len(contents) < PAGE_EVENTS:
                return

    async def _apply(self, feed: RoundFeed, content: bytes, *, quietly: bool = False) -> None:
        event = round_event(content)
        wanted = feed.wanted(event)
        if wanted:
            after, count = feed.span(wanted)
            private = await self._sources.private.read_private(feed.stream, after=after, limit=count)
            feed.let_in(wanted, tuple(private.values()))
        concerned = feed.apply(event)
        if not quietly:
            self._listener.told(concerned)
            self._listener.changed()


def _is_possible(feed: RoundFeed, mark: Mark, audience: Audience, player: str | None) -> bool:
    own = feed.own.get(player, ()) if player is not None else ()
    return mark.shared <= len(feed.items(audience)) and mark.own <= len(own)
