"""Values that are read for many and kept for a moment: one read at a time, however many ask.

A value is *fresh* for a while and handed out as it is. After that whoever asks has it read again, once for
all who ask meanwhile, and waits for it a short moment only: then the older value has to do. What could not be
read for too long is not shown any more. After a failure the next read waits as long as a value is fresh, so
that a service that is down is not asked by everybody.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from contextvars import Context
from dataclasses import dataclass
from typing import Generic, TypeVar

import structlog

from upcard_gateway.app.lobby_tables import LeftAlone, SourceAway

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")

Read = Callable[[], Awaitable[T]]
Clock = Callable[[], float]

_log = structlog.get_logger("upcard.gateway.lobby")


class NotKnown(Exception):
    """It could not be read, and nothing that is young enough is here."""


@dataclass(frozen=True, slots=True)
class Times:
    """How long a value serves, in seconds."""

    fresh_s: float
    """For so long nobody reads it again."""
    patience_s: float
    """So long is waited for a newer value where an older one is here."""
    longest_s: float
    """So long is waited where none is; the read's own deadline ends it before."""
    stale_s: float
    """A value that is older than this is not shown."""


@dataclass(frozen=True, slots=True)
class Aged(Generic[T]):
    """A value, and how old it is."""

    value: T
    age_s: float
    stale: bool
    """Whether it should have been read again by now, and could not be."""


class Kept(Generic[T]):
    """One value."""

    __slots__ = ("_clock", "_next_read", "_read", "_read_at", "_times", "_under_way", "_value")

    def __init__(self, read: Read[T], times: Times, clock: Clock = time.monotonic) -> None:
        """`read` has a deadline of its own and raises SourceAway where it cannot; `clock` never goes back."""
        self._read = read
        self._times = times
        self._clock = clock
        self._value: tuple[T] | None = None
        self._read_at = 0.0
        self._next_read = 0.0
        self._under_way: asyncio.Task[None] | None = None

    async def get(self, *, fresh_s: float | None = None) -> Aged[T]:
        """The value; `fresh_s` other than the usual. Raises NotKnown, and whatever is wrong with the read."""
        fresh = self._times.fresh_s if fresh_s is None else fresh_s
        if not self._is_fresh(fresh):
            await self._refresh(fresh)
        age = self._clock() - self._read_at
        if self._value is None or age > self._times.stale_s:
            raise NotKnown
        return Aged(self._value[0], age, age > fresh)

    @property
    def known(self) -> T | None:
        """What was read last, however long ago; None: nothing yet."""
        return None if self._value is None else self._value[0]

    def _is_fresh(self, fresh_s: float) -> bool:
        return self._value is not None and self._clock() - self._read_at <= fresh_s

    async def _refresh(self, fresh_s: float) -> None:
        if self._under_way is None:
            if self._clock() < self._next_read:
                return
            # It is for all: nobody's deadline, correlation id or signature is to get into it.
            self._under_way = asyncio.create_task(self._reading(fresh_s), context=Context())
            self._under_way.add_done_callback(self._ended)
        known = self._value is not None and self._clock() - self._read_at <= self._times.stale_s
        task = self._under_way
        await asyncio.wait({task}, timeout=self._times.patience_s if known else self._times.longest_s)
        if task.done() and not task.cancelled():
            task.result()

    async def _reading(self, fresh_s: float) -> None:
        asked_at = self._clock()
        try:
            value = await self._read()
        except SourceAway as why:
            self._next_read = self._clock() + fresh_s
            if not isinstance(why, LeftAlone):
                _log.warning("a part of the lobby could not be read", why=str(why))
            return
        # As old as the question: what happened while it was answered may not be in it.
        self._value, self._read_at, self._next_read = (value,), asked_at, 0.0

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._under_way = None
        if not task.cancelled() and task.exception() is not None:
            # Whoever waits for it raises it too; here it is told although nobody may.
            _log.error("a part of the lobby failed to be read", exc_info=task.exception())


class KeptByKey(Generic[K, T]):
    """Values by key, of a version each; at most so many, the one asked for longest ago goes first."""

    def __init__(self, times: Times, *, most: int, clock: Clock = time.monotonic) -> None:
        self._times = times
        self._most = most
        self._clock = clock
        self._kept: OrderedDict[K, tuple[Hashable, Kept[T]]] = OrderedDict()

    def of(self, key: K, version: Hashable, read: Read[T]) -> Kept[T]:
        """The value of a key; one of another version is forgotten."""
        found = self._kept.get(key)
        if found is None or found[0] != version:
            found = (version, Kept(read, self._times, self._clock))
            self._kept[key] = found
        self._kept.move_to_end(key)
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)
        return found[1]

    def __len__(self) -> int:
        return len(self._kept)
