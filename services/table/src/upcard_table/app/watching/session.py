"""One watcher of one table: what is sent next, from where it stands.

A session keeps nothing of what it has still to send: that is what lies, for all of them alike, between its
marks and the end of the table's rounds. So ten thousand sessions cost ten thousand marks, and how far one is
behind is known without a queue.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from rules_core.views.viewers import Viewer, viewer_text
from upcard_table.app.watching.resuming import Cursor, Mark, ResumeTokens
from upcard_table.app.watching.shown import Audience, Item, audience_of, player_of
from upcard_table.domain.state import TableState

if TYPE_CHECKING:
    from upcard_table.app.watching.feed import RoundFeed
    from upcard_table.app.watching.hub import TableHub

_OWN_AT_ONCE: Final = 100
"""Most of a player's own events in one message."""


class WatchEnded(Exception):
    """The session is over. `reason`: `too_slow`, or `table_unreadable` where the table's hub has failed."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Bounds:
    """How far a session may be behind before it is dropped.

    In messages and not in seconds: when this instance is slow, all of its sessions are, and none is at fault.
    For how long one message may wait for its reader is the call's matter.
    """

    pieces: int = 500
    """Shared messages: two minutes of a table where something happens all the time."""
    piece_bytes: int = 64 * 1_048_576
    """Of all of them. They are held once for all sessions; this bounds what one may still ask for."""
    own: int = 2_000
    """Events of the player."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a watcher asked for."""

    viewer: Viewer
    currency: str | None = None
    """A player's, for the actions that are allowed."""
    with_view: bool = False
    """A player's own boxes and allowed actions, whenever they may have changed."""
    own_only: bool = False
    """Without what everybody is shown."""


@dataclass(frozen=True, slots=True)
class SnapshotUpdate:
    """Everything that the watcher may see now."""

    table: TableState
    table_position: int
    round: int
    step: str
    position: int
    view: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class SharedUpdate:
    """What many see alike, encoded."""

    body: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class OwnUpdate:
    """What concerns the player alone. Its repr shows no card."""

    round: int
    items: Sequence[Item]
    view: bytes = field(default=b"", repr=False)


Update = SnapshotUpdate | SharedUpdate | OwnUpdate


@dataclass(frozen=True, slots=True)
class Told:
    """One message of a session."""

    seq: int
    token: str
    update: Update
    resume_expired: bool = False


class Session:
    """A watcher. `next` is for one reader at a time."""

    __slots__ = (
        "_bounds",
        "_cursor",
        "_ended",
        "_expired",
        "_first",
        "_hub",
        "_name",
        "_slack",
        "_snapshot_due",
        "_state_seen",
        "_tokens",
        "_turns_seen",
        "_woken",
        "audience",
        "player",
        "wanted",
    )

    def __init__(
        self, hub: TableHub, wanted: Wanted, tokens: ResumeTokens, bounds: Bounds, *, expired: bool = False
    ) -> None:
        self._hub = hub
        self.wanted = wanted
        self.audience: Audience = audience_of(wanted.viewer)
        self.player = player_of(wanted.viewer)
        self._tokens = tokens
        self._bounds = bounds
        self._name = session_name(hub.table, wanted)
        self._cursor = Cursor()
        self._first = 1
        self._snapshot_due = True
        self._expired = expired
        self._state_seen = 0
        self._turns_seen = (0, 0)
        self._ended: str | None = None
        self._slack = (0, 0, 0)
        """What it was behind when it went on: that much more it may be behind until it has caught up."""
        self._woken = asyncio.Event()

    def go_on_from(self, cursor: Cursor) -> None:
        """Go on where an earlier session was, which the hub has found to be possible."""
        self._cursor = cursor
        self._first = min(cursor.rounds, default=1)
        self._snapshot_due = False
        for feed in self._hub.rounds.values():
            self._hub.channel(feed, self.audience).cut_pieces()
        self._slack = self._behind()

    def wake(self) -> None:
        """There may be something to send."""
        self._woken.set()

    def end(self, reason: str) -> None:
        """Send nothing more."""
        self._ended = self._ended or reason
        self._woken.set()

    async def next(self) -> Told:
        """The next message, as soon as there is one. Raises WatchEnded."""
        while True:
            self._woken.clear()
            if self._ended is not None:
                raise WatchEnded(self._ended)
            told = self._next_now()
            if told is not None:
                return told
            await self._woken.wait()

    def has_all_of(self, feed: RoundFeed) -> bool:
        """Whether everything of a round was sent: it is about to be forgotten."""
        if self._snapshot_due or feed.number < self._first:
            return True
        mark = self._cursor.rounds.get(feed.number, Mark())
        own = len(feed.own.get(self.player, ())) if self.player is not None else 0
        shared = 0 if self.wanted.own_only else len(feed.items(self.audience))
        return mark.shared >= shared and mark.own >= own

    def forget(self, number: int) -> None:
        """A round is watched no more."""
        if self._cursor.rounds.pop(number, None) is not None:
            self._first = max(self._first, number + 1)

    def _next_now(self) -> Told | None:
        if self._snapshot_due:
            return self._snapshot()
        self._check_behind()
        update = self._table_news() or self._of_rounds() or self._state() or self._turn()
        return None if update is None else self._told(update)

    def _told(self, update: Update, *, expired: bool = False) -> Told:
        self._cursor.seq += 1
        return Told(self._cursor.seq, self._tokens.issue(self._name, self._cursor), update, expired)

    def _snapshot(self) -> Told:
        hub = self._hub
        feed = hub.latest
        table = hub.table_feed
        rounds: dict[int, Mark] = {}
        update = SnapshotUpdate(table.state, table.position, 0, "", 0, b"")
        if feed is not None and feed.state is not None:
            own = len(feed.own.get(self.player, ())) if self.player is not None else 0
            rounds[feed.number] = Mark(len(feed.items(self.audience)), own)
            self._first = feed.number
            self._turns_seen = (feed.number, feed.turns)
            view = hub.view(feed, self.wanted)
            step = feed.state.step
            update = SnapshotUpdate(table.state, table.position, feed.number, step, feed.position, view)
        self._cursor = Cursor(0, table.position, rounds)
        self._snapshot_due = False
        return self._told(update, expired=self._expired)

    def _table_news(self) -> Update | None:
        table = self._hub.table_feed
        while self._cursor.table < table.position:
            news = table.after(self._cursor.table)
            if news is None:
                raise WatchEnded("too_slow")
            self._cursor.table += 1
            mine = self.player is not None and getattr(news.item.event, "player", None) == self.player
            if (mine or not self.wanted.own_only) and news.shown_to(self.audience, self.player):
                return SharedUpdate(news.body)
        return None

    def _of_rounds(self) -> Update | None:
        for feed in self._hub.rounds.values():
            if feed.number < self._first:
                continue
            mark = self._cursor.rounds.get(feed.number)
            if mark is None:
                mark = self._cursor.rounds[feed.number] = Mark()
            update = self._own(feed, mark) or self._shared(feed, mark)
            if update is not None:
                return update
        return None

    def _own(self, feed: RoundFeed, mark: Mark) -> Update | None:
        items = feed.own.get(self.player) if self.player is not None else None
        if items is None or mark.own >= len(items):
            return None
        new = items[mark.own : mark.own + _OWN_AT_ONCE]
        mark.own += len(new)
        return OwnUpdate(feed.number, new, self._view(feed))

    def _view(self, feed: RoundFeed) -> bytes:
        if not self.wanted.with_view or feed is not self._hub.latest:
            return b""
        self._turns_seen = (feed.number, feed.turns)
        return self._hub.own_view(feed, self.wanted)

    def _shared(self, feed: RoundFeed, mark: Mark) -> Update | None:
        if self.wanted.own_only:
            return None
        piece = self._hub.channel(feed, self.audience).next_piece(mark.shared)
        if piece is None:
            return None
        mark.shared = piece.through
        return SharedUpdate(piece.body)

    def _state(self) -> Update | None:
        """What dealer and operations are told besides events: what the table waits for."""
        state = self._hub.states.get(self.audience)
        if state is None or state.version == self._state_seen:
            return None
        self._state_seen = state.version
        return SharedUpdate(state.body)

    def _turn(self) -> Update | None:
        feed = self._hub.latest
        if not self.wanted.with_view or self.player is None or feed is None:
            return None
        if self._turns_seen == (feed.number, feed.turns):
            return None
        return OwnUpdate(feed.number, (), self._view(feed))

    def _check_behind(self) -> None:
        now, bounds = self._behind(), self._bounds
        self._slack = min(self._slack[0], now[0]), min(self._slack[1], now[1]), min(self._slack[2], now[2])
        most = (bounds.pieces, bounds.piece_bytes, bounds.own)
        if any(one > slack + bound for one, slack, bound in zip(now, self._slack, most, strict=True)):
            raise WatchEnded("too_slow")

    def _behind(self) -> tuple[int, int, int]:
        """Shared pieces, bytes of them, and own events that are there and were not sent."""
        pieces = size = own = 0
        for feed in self._hub.rounds.values():
            if feed.number < self._first:
                continue
            mark = self._cursor.rounds.get(feed.number) or Mark()
            if self.player is not None:
                own += len(feed.own.get(self.player, ())) - mark.own
            if not self.wanted.own_only:
                waiting, waiting_bytes = self._hub.channel(feed, self.audience).backlog(mark.shared)
                pieces, size = pieces + waiting, size + waiting_bytes
        return pieces, size, own


def session_name(table: str, wanted: Wanted) -> str:
    """Whose a resume token is: no other session can go on with it."""
    parts = "own" if wanted.own_only else "all"
    return f"{table} {viewer_text(wanted.viewer)} {parts}"
