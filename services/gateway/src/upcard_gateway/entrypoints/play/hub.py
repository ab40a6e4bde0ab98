"""One table for all connections of this instance: followed once, framed once, told to everybody.

A connection that comes back names the place it was told up to. Where what follows is kept here it goes on
at once. Where it is not, since this instance has not followed the table for so long, the table itself is
asked to go on from that place, and that stream is the hub's from then on: what is news to whom follows from
log positions alone, so that nobody misses anything and nobody is told anything twice.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import structlog

from upcard_gateway.app.play_places import Place, PlaceSeal
from upcard_gateway.app.play_watch import TableWatch, Update, WatchBroken, WatchRefused
from upcard_gateway.entrypoints.play.contract import Beginning, Happened, Json, Made, TableShown
from upcard_gateway.entrypoints.play.frames import message
from upcard_gateway.entrypoints.play.looking import Kept, Looker, Lookers, Told, table_frame

__all__ = ["HubBounds", "TableAway", "TableHub"]

BEGIN_S: Final = 10.0
"""Within so many seconds a table has to tell how it is."""
NOW_FRESH_S: Final = 0.3
"""For so long a picture of the table serves all who join, with what came since behind it."""
SOURCES_MAX: Final = 4
"""Most earlier places from which a table is followed anew at a time."""
_FIRST_PAUSE_S: Final = 0.1
_LONGEST_PAUSE_S: Final = 2.0

_log = structlog.get_logger("upcard.gateway.play")


class TableAway(Exception):
    """The table cannot be shown. `reason`: `table_unknown`, `table_away`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class HubBounds:
    """What a hub keeps, and how long it is patient."""

    messages: int
    bytes: int
    away_s: float
    """For how long the table service may be away."""
    backlog_bytes: int
    """Most that one who comes back is told message by message; else a snapshot."""


@dataclass(slots=True, eq=False)
class _Source:
    """A stream of the table's, from a place on."""

    start: Place
    token: str = field(repr=False)
    place: Place
    waiting: dict[Looker, Place] = field(default_factory=dict)
    """Who waits for it to begin."""
    task: asyncio.Task[None] | None = None


@dataclass(frozen=True, slots=True)
class _Now:
    place: Place
    token: str = field(repr=False)
    at_s: float
    round: int
    table: Json
    view: Json | None


class TableHub:
    """Made when somebody comes to the table; `close` ends it."""

    def __init__(
        self,
        table: str,
        watch: TableWatch,
        shown: Callable[[], TableShown],
        now: Callable[[], dt.datetime],
        bounds: HubBounds,
        seal: PlaceSeal,
    ) -> None:
        self.table = table
        self._seal = seal
        self._whose = f"table {table}"
        self._watch = watch
        self._make_shown = shown
        self._clock = now
        self._bounds = bounds
        self.shown = shown()
        """The table, with all that happened taken in."""
        self.empty_since_s: float | None = time.monotonic()
        self._lookers = Lookers()
        self._kept = Kept(bounds.messages, bounds.bytes)
        self._begun = asyncio.Event()
        self._failed: str | None = None
        self._beginning: Beginning | None = None
        self._folded = Place()
        """How much of what happened `shown` knows."""
        self._now: _Now | None = None
        self._looking_up = asyncio.Lock()
        self._pending: list[_Source] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._main = _Source(Place(), "", Place())
        self._start(self._main)

    @property
    def round(self) -> int:
        """Number of the table's latest round; 0: none yet."""
        return max(self._folded.rounds, default=0)

    @property
    def reached(self) -> Place:
        """How far `shown` knows the table."""
        return self._folded

    @property
    def is_over(self) -> bool:
        """Whether nothing can be told any more."""
        return self._failed is not None

    def __len__(self) -> int:
        """How many look."""
        return len(self._lookers) + sum(len(one.waiting) for one in self._pending)

    async def join(self, looker: Looker, resume: str | None) -> bool:
        """Tell somebody of the table from now on, or from where they were. Whether they went on there.

        Raises TableAway.
        """
        await self._ready()
        self.empty_since_s = None
        if resume is not None:
            found = self._seal.read(self._whose, resume)
            if found is not None and self._go_on(looker, *found):
                looker.write(self.window_frame())
                return True
        await self._begin_anew(looker, "joined" if resume is None else "resume_expired")
        return False

    def leave(self, looker: Looker) -> None:
        """Tell somebody nothing more."""
        self._lookers.remove(looker)
        for source in self._pending:
            source.waiting.pop(looker, None)
        if not len(self):
            self.empty_since_s = time.monotonic()

    def window_frame(self) -> bytes:
        """The `window` message of now."""
        return self._framed(self.shown.window(self._clock()))

    def _framed(self, made: Made) -> bytes:
        return message(made.type, self._clock(), made.body, round_number=made.round)

    async def close(self) -> None:
        """Follow the table no longer."""
        self._failed = self._failed or "table_away"
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=2.0)

    async def _ready(self) -> None:
        try:
            async with asyncio.timeout(BEGIN_S):
                await self._begun.wait()
        except TimeoutError:
            raise TableAway("table_away") from None
        if self._failed is not None:
            raise TableAway(self._failed)

    def _go_on(self, looker: Looker, place: Place, token: str) -> bool:
        """Go on where somebody was; False: they have to begin anew."""
        missed = self._kept.behind(place)
        if missed is not None:
            if len(missed) > self._bounds.backlog_bytes:
                return False
            self._lookers.add(looker, place)
            looker.write(missed)
            return True
        source = next((one for one in self._pending if place.reaches(one.start)), None)
        if source is None:
            if not token or len(self._pending) >= SOURCES_MAX:
                return False
            source = _Source(place, token, place)
            self._pending.append(source)
            self._start(source)
        source.waiting[looker] = place
        return True

    async def _begin_anew(self, looker: Looker, because: str) -> None:
        now = await self._picture()
        missed = self._kept.behind(now.place)
        if missed is None:  # pragma: no cover - more than all that is kept came during a question
            raise TableAway("table_away")
        body = {"because": because, "table": now.table, "view": now.view}
        seq = self._seal.text(self._whose, now.place, now.token)
        first = message("snapshot", self._clock(), body, round_number=now.round, channel="table", seq=seq)
        self._lookers.add(looker, now.place)
        looker.write(first + missed + self.window_frame())

    async def _picture(self) -> _Now:
        """The table as it is now, or a moment ago."""
        async with self._looking_up:
            known = self._now
            if (
                known is not None
                and known.place.reaches(self._kept.start)
                and (time.monotonic() - known.at_s < NOW_FRESH_S or known.place.reaches(self._main.place))
            ):
                return known
            # The token is of before the question: what comes behind it is told, what was known is filtered.
            token, before = self._main.token, self._main.place
            try:
                beginning = await self._watch.now(self.table)
            except (WatchBroken, WatchRefused) as error:
                raise TableAway(getattr(error, "reason", "table_away")) from error
            self._now = self._seen(beginning, before, token)
            return self._now

    def _seen(self, beginning: Beginning, before: Place, token: str) -> _Now:
        shown = self._make_shown()
        shown.begin(beginning)
        place = _place_at(beginning, before)
        return _Now(place, token, time.monotonic(), beginning.round, shown.table(), shown.view())

    def _start(self, source: _Source) -> None:
        source.task = asyncio.create_task(self._follow(source), name=f"table {self.table}")
        self._tasks.add(source.task)
        source.task.add_done_callback(self._tasks.discard)

    async def _follow(self, source: _Source) -> None:
        """Follow the table for as long as it is wanted; what passes is tried again, with growing pauses."""
        pause_s, since_s = _FIRST_PAUSE_S, time.monotonic()
        while True:
            try:
                async for update in self._watch.public(self.table, source.token):
                    pause_s, since_s = _FIRST_PAUSE_S, time.monotonic()
                    self._take(source, update)
                    if source is not self._main and source not in self._pending:
                        return
            except WatchRefused as refused:
                self._fail(source, refused.reason)
                return
            except WatchBroken as broken:
                _log.info("a table is followed anew", table=self.table, why=str(broken))
            except Exception as error:  # noqa: BLE001 - a defect of ours must not leave watchers in the dark
                _log.error("a table cannot be shown", table=self.table, exc_info=error)
                self._fail(source, "table_away")
                return
            if time.monotonic() - since_s > self._bounds.away_s:
                self._fail(source, "table_away")
                return
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)

    def _fail(self, source: _Source, reason: str) -> None:
        concerned: list[Looker] = list(source.waiting)
        if source is self._main:
            self._failed = reason
            self._begun.set()
            concerned += list(self._lookers)
        elif source in self._pending:
            self._pending.remove(source)
        for one in concerned:
            self.leave(one)
            one.leave_for(reason)

    def _take(self, source: _Source, update: Update) -> None:
        if isinstance(update.what, Beginning):
            self._begin(source, update.what, update.token)
        elif isinstance(update.what, tuple):
            if source is not self._main:
                self._promote(source)
            self._tell(source, update.what, update.token)

    def _begin(self, source: _Source, beginning: Beginning, token: str) -> None:
        if source is not self._main:
            # The place that somebody named leads nowhere: they begin anew, where the others are.
            self._pending.remove(source)
            for one in source.waiting:
                self._spawn(self._anew(one))
            return
        place = _place_at(beginning, Place())
        source.token, source.place, source.start = token, place, place
        self._beginning, self._folded, self._now = beginning, place, None
        self._kept.begin(place)
        self.shown.begin(beginning)
        self._begun.set()
        for one in self._lookers:
            self._spawn(self._anew(one))

    async def _anew(self, looker: Looker) -> None:
        try:
            await self._begin_anew(looker, "resume_expired")
        except TableAway as away:
            self.leave(looker)
            looker.leave_for(away.reason)

    def _spawn(self, work: object) -> None:
        task: asyncio.Task[None] = asyncio.create_task(work)  # type: ignore[arg-type]  # a coroutine
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _promote(self, source: _Source) -> None:
        """Go on with a stream from an earlier place: who was told more already hears only what is news."""
        former, self._main = self._main, source
        self._pending.remove(source)
        self._lookers.go_back_from(former.place)
        for looker, place in source.waiting.items():
            self._lookers.add(looker, place)
        source.waiting.clear()
        self._kept.begin(source.start)
        self._now = None
        if former.task is not None:
            former.task.cancel()

    def _tell(self, source: _Source, events: tuple[Happened, ...], token: str) -> None:
        now = self._clock()
        told = [(one.round, one.position, self._event(one)) for one in events]
        moved = any(self.shown.moves_window(one) for one in events)
        new = [one for one in events if not self._folded.had(one.round, one.position)]
        notices = [made for made in map(self.shown.notice, new) if made is not None]
        for one in events:
            source.place = source.place.after(one.round, one.position)
            self._folded = self._folded.after(one.round, one.position)
        source.token = token
        if told:
            seq = self._seal.text(self._whose, source.place, token)
            made = Told(told, source.place, seq, table_frame(told, source.place, seq, now), now)
            self._kept.add(made)
            self._lookers.tell(made)
        for notice in notices:
            self._lookers.tell_all(self._framed(notice))
        if moved:
            self._lookers.tell_all(self.window_frame())

    def _event(self, happened: Happened) -> Json:
        """An event as it is told; taken in once, however often a stream brings it."""
        if not self._folded.had(happened.round, happened.position):
            return self.shown.event(happened)
        shown = self._make_shown()
        if self._beginning is not None:
            shown.begin(self._beginning)
        return shown.event(happened)


def _place_at(beginning: Beginning, before: Place) -> Place:
    """The place of a picture of the table; of earlier rounds than it shows we know as much as before."""
    position = beginning.table.get("position", 0)
    place = Place(position if isinstance(position, int) else 0, before.rounds)
    return place.after(beginning.round, beginning.position) if beginning.round else place
