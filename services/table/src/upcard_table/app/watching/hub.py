"""One table as all its watchers on this instance see it: fed by the log, whoever owns the table."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from contextvars import Context
from dataclasses import dataclass, field
from typing import Final

import structlog

from eventstore.coordination.outages import PASSING
from rules_core.canonical import canonical_bytes
from rules_core.round.commands import Placement
from rules_core.round.decide.betting import bets_to_repeat
from rules_core.views.table import table_view
from rules_core.views.viewers import Dealer, Operations, Player, Viewer
from upcard_table.app.watching.channel import Channel, Encode
from upcard_table.app.watching.feed import RoundFeed
from upcard_table.app.watching.following import TableFollower
from upcard_table.app.watching.resuming import Cursor
from upcard_table.app.watching.session import Session, Wanted
from upcard_table.app.watching.shown import AUDIENCES, Audience
from upcard_table.app.watching.sources import Sources
from upcard_table.app.watching.table_feed import TableFeed

_FIRST_PAUSE_S: Final = 0.2
_LONGEST_PAUSE_S: Final = 5.0
_AT_ONCE: Final = 100
"""Sessions that are woken in one turn of the event loop: others have work to do in between."""
_STAFF: Final[dict[Audience, Viewer]] = {"dealer": Dealer(), "operations": Operations()}

EncodeState = Callable[[bytes], bytes]
"""Makes the message of what dealer or operations are told besides events, of its canonical JSON."""

_log = structlog.get_logger("upcard_table.watching")


@dataclass(frozen=True, slots=True)
class Encoding:
    """How what is shared becomes bytes: once, for all sessions."""

    events: Encode
    state: EncodeState


@dataclass(frozen=True, slots=True)
class StateMessage:
    """What an audience is told of the table besides events."""

    version: int
    plain: bytes = field(repr=False)
    body: bytes = field(repr=False)


class TableHub:
    """`open` it, `offer` it what the log tells, `close` it."""

    def __init__(self, table: str, sources: Sources, encoding: Encoding, interval_s: float) -> None:
        self.table = table
        self.states: dict[Audience, StateMessage] = {}
        self.sessions: set[Session] = set()
        self.failed = False
        self._of_player: dict[str, set[Session]] = {}
        self._channels: dict[tuple[int, Audience], Channel] = {}
        self._views: dict[Audience, tuple[int, int, bytes]] = {}
        """By audience the last view that was made: round, position, bytes."""
        self._encoding = encoding
        self._interval_s = interval_s
        self._follower = TableFollower(table, sources, encoding.events, self)
        self._something = asyncio.Event()
        self._untold: deque[str] = deque()
        """Players who have something new and were not woken yet."""
        self._telling = asyncio.Event()
        self._lock = asyncio.Lock()
        """Held by whoever reads the log into the rounds that are kept."""
        self._loading = asyncio.Lock()
        """Held by whoever reads a whole round aside."""
        self._tasks: tuple[asyncio.Task[None], ...] = ()

    @property
    def table_feed(self) -> TableFeed:
        """The table's own stream."""
        return self._follower.feed

    @property
    def rounds(self) -> dict[int, RoundFeed]:
        """The latest rounds that are loaded, by number, ascending."""
        return self._follower.rounds

    @property
    def latest(self) -> RoundFeed | None:
        """The table's latest round; None before its first."""
        return self._follower.latest

    async def open(self) -> None:
        """Load what there is, and go on from there. Raises TableUnknown, or what reading raises."""
        async with self._lock:
            await self._follower.open()
        # Detached: it serves all watchers, not the one who came first.
        self._tasks = (
            asyncio.create_task(
                self._or_fail(self._follow()), name=f"hub of {self.table}", context=Context()
            ),
            asyncio.create_task(
                self._or_fail(self._publish()), name=f"publisher of {self.table}", context=Context()
            ),
        )

    async def close(self) -> None:
        """End all sessions and stop."""
        for session in tuple(self.sessions):
            session.end("table_unreadable" if self.failed else "server_stopping")
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def offer(self, stream: str, position: int, content: bytes) -> None:
        """An event of this table or one of its rounds was committed."""
        self._follower.inbox.put(stream, position, content)

    def miss(self) -> None:
        """Events may have been committed that were not offered."""
        self._follower.inbox.miss()

    async def go_on(self, session: Session, cursor: Cursor | None) -> bool:
        """Let a session go on from where an earlier one was; False: it begins anew."""
        if cursor is None:
            return False
        # One at a time: of a thousand that come back together, the first one loads what all of them need.
        async with self._loading:
            missing = self._follower.missing_for(cursor)
            while missing:
                # The table goes on meanwhile.
                feed = await self._follower.read(missing[0])
                if feed is None:
                    return False
                async with self._lock:
                    await self._follower.adopt(feed)
                missing = self._follower.missing_for(cursor)
        async with self._lock:
            if not await self._follower.reach_back(cursor, session.audience, session.player):
                return False
            session.go_on_from(cursor)
        return True

    def attach(self, session: Session) -> None:
        """Wake this session from now on."""
        self.sessions.add(session)
        if self.failed:
            session.end("table_unreadable")
        if session.player is not None:
            self._of_player.setdefault(session.player, set()).add(session)
        self._something.set()

    def detach(self, session: Session) -> None:
        """Forget a session."""
        self.sessions.discard(session)
        if session.player is not None:
            theirs = self._of_player.get(session.player, set())
            theirs.discard(session)
            if not theirs:
                self._of_player.pop(session.player, None)

    def channel(self, feed: RoundFeed, audience: Audience) -> Channel:
        """What an audience is shown of a round, in pieces."""
        key = feed.number, audience
        channel = self._channels.get(key)
        if channel is None:
            channel = Channel(feed.number, feed.items(audience), self._encoding.events)
            self._channels[key] = channel
        return channel

    def view(self, feed: RoundFeed, wanted: Wanted) -> bytes:
        """The round as a viewer sees it now (docs/views.md), made once for all who see the same."""
        session_audience = _audience_without_player(wanted.viewer)
        if session_audience is None:
            return canonical_bytes(self._view_of(feed, wanted))
        number, position, made = self._views.get(session_audience, (0, 0, b""))
        if (number, position) != (feed.number, feed.position):
            made = canonical_bytes(self._view_of(feed, wanted))
            self._views[session_audience] = feed.number, feed.position, made
        return made

    def own_view(self, feed: RoundFeed, wanted: Wanted) -> bytes:
        """A player's own boxes and allowed actions now."""
        view = self._view_of(feed, wanted)
        return canonical_bytes({"actions": view["actions"], "own": view["own"]})

    async def round_view(self, number: int, wanted: Wanted) -> tuple[bytes, int] | None:
        """A round's view and the position that it knows of; None: it was never opened. 0: the latest."""
        feed = self.rounds.get(number) if number else self.latest
        if feed is None and number:
            async with self._loading:
                feed = await self._follower.read(number)
        if feed is None or feed.state is None:
            return None
        return self.view(feed, wanted), feed.position

    def _view_of(self, feed: RoundFeed, wanted: Wanted) -> dict[str, object]:
        if feed.state is None:
            raise ValueError("a round without events has no view")
        viewer, before = wanted.viewer, self.rounds.get(feed.number - 1)
        previous: tuple[Placement, ...] = ()
        if isinstance(viewer, Player) and before is not None and before.state is not None:
            previous = bets_to_repeat(before.state, viewer.player)
        return table_view(viewer, feed.state, feed.sealed, currency=wanted.currency, previous=previous)

    # ------------------------------------------------------------------------------ what the follower tells

    def told(self, players: set[str]) -> None:
        """See `Listener`: what is a player's own is sent at once; to ten thousand, one after the other."""
        if len(players) > _AT_ONCE or self._untold:
            self._untold.extend(players)
            self._telling.set()
        else:
            self._wake_players(players)

    def _wake_players(self, players: Iterable[str]) -> None:
        for player in players:
            for session in self._of_player.get(player, ()):
                session.wake()

    def changed(self) -> None:
        """See `Listener`."""
        self._something.set()

    def leaves(self, feed: RoundFeed) -> None:
        """See `Listener`: whoever has not been sent all of a round by now is too slow."""
        for session in self.sessions:
            if not session.has_all_of(feed):
                session.end("too_slow")
            session.forget(feed.number)
        for audience in AUDIENCES:
            self._channels.pop((feed.number, audience), None)

    # -------------------------------------------------------------------------------------------- its tasks

    async def _follow(self) -> None:
        inbox = self._follower.inbox
        pause_s = _FIRST_PAUSE_S
        while True:
            await inbox.news.wait()
            inbox.news.clear()
            try:
                async with self._lock:
                    await self._follower.take_in()
                pause_s = _FIRST_PAUSE_S
            except PASSING as error:
                _log.warning("a table cannot be followed now", table=self.table, why=type(error).__name__)
                await asyncio.sleep(pause_s)
                pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
                inbox.miss()

    async def _tell(self) -> None:
        """Wake many players, some of them in each turn of the event loop."""
        while True:
            await self._telling.wait()
            self._telling.clear()
            while self._untold:
                self._wake_players([self._untold.popleft() for _ in range(min(_AT_ONCE, len(self._untold)))])
                await asyncio.sleep(0)

    async def _publish(self) -> None:
        """Cut what is new into pieces and wake those who wait, so many times a second at the most."""
        while True:
            await self._something.wait()
            self._something.clear()
            waiting = [one for one in self.sessions if one.wanted.with_view or not one.wanted.own_only]
            audiences = {session.audience for session in waiting}
            for feed in self.rounds.values():
                for audience in audiences:
                    self.channel(feed, audience).cut_pieces()
            for audience in audiences:
                self._update_state(audience)
            for number, session in enumerate(waiting, 1):
                session.wake()
                if number % _AT_ONCE == 0:
                    await asyncio.sleep(0)
            await asyncio.sleep(self._interval_s)

    async def _or_fail(self, work: Awaitable[None]) -> None:
        """What fails here fails for all watchers: they are told, and begin anew with another hub."""
        try:
            await work
        except Exception as error:  # noqa: BLE001 - whatever it is; its words might show a card
            # No traceback: an event that cannot be folded may stand in its words.
            _log.error("a table cannot be watched", table=self.table, why=type(error).__name__)
            self.failed = True
            for session in tuple(self.sessions):
                session.end("table_unreadable")

    def _update_state(self, audience: Audience) -> None:
        viewer, feed = _STAFF.get(audience), self.latest
        if viewer is None or feed is None or feed.state is None:
            return
        view = table_view(viewer, feed.state, feed.sealed)
        plain = canonical_bytes({key: view[key] for key in ("desk", "house") if key in view})
        known = self.states.get(audience)
        if known is None or known.plain != plain:
            version = 1 if known is None else known.version + 1
            self.states[audience] = StateMessage(version, plain, self._encoding.state(plain))


def _audience_without_player(viewer: Viewer) -> Audience | None:
    """Whose view is the same for all of them; None: a player's is their own."""
    if isinstance(viewer, Player):
        return None
    return next((audience for audience, staff in _STAFF.items() if staff == viewer), "public")
