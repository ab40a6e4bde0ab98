"""The hubs of this instance: one a table that is watched here, fed by one subscription for all of them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from contextvars import Context
from dataclasses import dataclass, field
from typing import Final

import structlog

from eventstore import EventFilter, ShardPage
from eventstore.coordination.outages import PASSING
from upcard_table.app.watching.hub import Encoding, TableHub
from upcard_table.app.watching.resuming import ResumeTokens
from upcard_table.app.watching.session import Bounds, Session, Wanted, WatchEnded, session_name
from upcard_table.app.watching.sources import Sources

_WANTED: Final = EventFilter(categories=frozenset({"round", "table"}))
_FIRST_PAUSE_S: Final = 0.2
_LONGEST_PAUSE_S: Final = 5.0

_log = structlog.get_logger("upcard_table.watching")


class TooManyWatchers(Exception):
    """This instance serves as many watchers, or tables of them, as it may."""


@dataclass(frozen=True, slots=True)
class Watching:
    """How tables are watched."""

    updates_per_s: float = 4.0
    """How often all who see the same are told, at the most."""
    sessions_max: int = 20_000
    tables_max: int = 1_000
    idle_s: float = 60.0
    """For how long a table that nobody watches is kept."""
    bounds: Bounds = field(default_factory=Bounds)


class Hubs:
    """Hands out sessions. `run` feeds them."""

    def __init__(
        self, sources: Sources, encoding: Encoding, tokens: ResumeTokens, how: Watching | None = None
    ) -> None:
        self.sources = sources
        self._encoding = encoding
        self._tokens = tokens
        self._how = how or Watching()
        self._hubs: dict[str, _Opening] = {}
        self._sessions = 0

    @property
    def sessions(self) -> int:
        """Watchers that are served now: a metric."""
        return self._sessions

    @property
    def tables(self) -> int:
        """Tables that are kept for watchers: a metric."""
        return len(self._hubs)

    @contextlib.asynccontextmanager
    async def watch(self, table: str, wanted: Wanted, token: str = "") -> AsyncIterator[Session]:
        """A session; it goes on where the token says, if that is possible.

        Raises TableUnknown, TooManyWatchers, WatchEnded.
        """
        if self._sessions >= self._how.sessions_max:
            raise TooManyWatchers
        self._sessions += 1
        try:
            async with self._hub(table) as hub:
                session = Session(hub, wanted, self._tokens, self._how.bounds, expired=bool(token))
                if token:
                    with database_there():
                        await hub.go_on(session, self._tokens.read(session_name(table, wanted), token))
                hub.attach(session)
                try:
                    yield session
                finally:
                    hub.detach(session)
        finally:
            self._sessions -= 1

    async def round_view(self, table: str, number: int, wanted: Wanted) -> tuple[bytes, int] | None:
        """A round as a viewer sees it now, and up to which position; None: it was never opened.

        0: the latest round. Raises TableUnknown, TooManyWatchers, WatchEnded.
        """
        async with self._hub(table) as hub:
            with database_there():
                return await hub.round_view(number, wanted)

    async def run(self, ending: asyncio.Event) -> None:
        """Feed the hubs from the log until told to end; outages are waited for. Ends all sessions."""
        following = asyncio.create_task(self._patiently(), context=Context())
        stopped = asyncio.create_task(ending.wait())
        try:
            await asyncio.wait([following, stopped], return_when=asyncio.FIRST_COMPLETED)
            if following.done():
                following.result()
        finally:
            for task in (following, stopped):
                task.cancel()
            await asyncio.gather(following, stopped, return_exceptions=True)
            await asyncio.gather(*(self._close(table) for table in tuple(self._hubs)))

    async def _patiently(self) -> None:
        pause_s = _FIRST_PAUSE_S
        while True:
            try:
                heads = await self.sources.log.shard_heads()
                async with self.sources.log.subscribe(dict(enumerate(heads)), wanted=_WANTED) as pages:
                    # What was committed up to the heads was not offered to hubs that were there before.
                    for opening in self._hubs.values():
                        opening.hub.miss()
                    async for page in pages:
                        pause_s = _FIRST_PAUSE_S
                        self._offer(page)
            except PASSING as error:
                _log.warning("the log cannot be followed for watchers now", why=type(error).__name__)
                await asyncio.sleep(pause_s)
                pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)

    def _offer(self, page: ShardPage) -> None:
        for event in page.events:
            opening = self._hubs.get(table_of(event.stream))
            if opening is not None:
                opening.hub.offer(event.stream, event.stream_position, event.content)

    @contextlib.asynccontextmanager
    async def _hub(self, table: str) -> AsyncIterator[TableHub]:
        opening = self._hubs.get(table)
        if opening is not None and opening.hub.failed:
            await self._close(table)
            opening = None
        if opening is None:
            await self._make_room()
            # Somebody else may have begun it meanwhile.
            opening = self._hubs.get(table) or self._begin(table)
        opening.users += 1
        try:
            # The first one's going away must not fail those who wait with it.
            with database_there():
                await asyncio.shield(opening.opened)
            yield opening.hub
        finally:
            opening.users -= 1
            self._when_idle(table, opening)

    async def _make_room(self) -> None:
        if len(self._hubs) < self._how.tables_max:
            return
        idle = next((table for table, opening in self._hubs.items() if not opening.users), None)
        if idle is None:
            raise TooManyWatchers
        await self._close(idle)

    def _begin(self, table: str) -> _Opening:
        hub = TableHub(table, self.sources, self._encoding, 1 / self._how.updates_per_s)
        opened = asyncio.create_task(hub.open(), name=f"opening of {table}", context=Context())
        opening = self._hubs[table] = _Opening(hub, opened)
        return opening

    def _when_idle(self, table: str, opening: _Opening) -> None:
        if opening.users or self._hubs.get(table) is not opening:
            return
        if opening.opened.done() and (opening.opened.cancelled() or opening.opened.exception() is not None):
            del self._hubs[table]
            return
        opening.idle_since = asyncio.get_running_loop().time()
        asyncio.get_running_loop().call_later(self._how.idle_s, self._end_if_idle, table, opening)

    def _end_if_idle(self, table: str, opening: _Opening) -> None:
        over = asyncio.get_running_loop().time() - opening.idle_since >= self._how.idle_s
        if over and not opening.users and self._hubs.get(table) is opening:
            closing = asyncio.get_running_loop().create_task(self._close(table), context=Context())
            opening.closing = closing

    async def _close(self, table: str) -> None:
        opening = self._hubs.pop(table, None)
        if opening is None:
            return
        opening.opened.cancel()
        await asyncio.gather(opening.opened, return_exceptions=True)
        await opening.hub.close()


@dataclass(slots=True)
class _Opening:
    """A hub, and whether it is there yet."""

    hub: TableHub
    opened: asyncio.Task[None]
    users: int = 0
    idle_since: float = 0.0
    closing: asyncio.Task[None] | None = None


@contextlib.contextmanager
def database_there() -> Iterator[None]:
    """Within the context, a database that is away ends the session, for now."""
    try:
        yield
    except PASSING:
        raise WatchEnded("table_unreadable") from None


def table_of(stream: str) -> str:
    """The table of a stream of `table-<id>` or `round-<id>.<number>`."""
    category, _, rest = stream.partition("-")
    return rest.rpartition(".")[0] if category == "round" else rest
