"""The owner's time: the wall clock, read once, moved on by the monotonic one. It never jumps."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from typing import Protocol

_NS_IN_US = 1_000


class Clock(Protocol):
    """Tells the time and waits for it. Instants: whole microseconds after 1970."""

    def now_us(self) -> int:
        """Now."""
        ...

    async def wait(self, wake: asyncio.Event, until_us: int | None) -> None:
        """Return when `wake` is set, or at that instant; None: only when it is set."""
        ...


class SteadyClock:
    """The clock of a process; whose start is refused when the wall clock is wrong (`require_clock`)."""

    def __init__(
        self,
        wall_ns: Callable[[], int] = time.time_ns,
        monotonic_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._monotonic_ns = monotonic_ns
        self._began_us = wall_ns() // _NS_IN_US - monotonic_ns() // _NS_IN_US

    def now_us(self) -> int:
        """See `Clock`."""
        return self._began_us + self._monotonic_ns() // _NS_IN_US

    async def wait(self, wake: asyncio.Event, until_us: int | None) -> None:
        """See `Clock`."""
        if wake.is_set():
            return
        if until_us is None:
            await wake.wait()
            return
        left_us = until_us - self.now_us()
        if left_us <= 0:
            await asyncio.sleep(0)
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(left_us / 1_000_000):
                await wake.wait()
