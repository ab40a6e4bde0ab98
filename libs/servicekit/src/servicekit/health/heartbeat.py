"""Does the event loop turn? Asked from outside of it, by a thread that runs when the loop does not."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from typing import Final

from servicekit.context import detached
from servicekit.metrics import histogram

BEAT_S: Final = 0.25

_late = histogram(
    "upcard_loop_lag_seconds", "How much later than asked for the event loop woke its heartbeat"
)


class Heartbeat:
    """The last time that the event loop turned."""

    def __init__(self) -> None:
        self._beat_at: float | None = None

    @property
    def silent_for_s(self) -> float:
        """Seconds since the loop last turned; 0 before it begins and after it ended."""
        beat_at = self._beat_at
        return 0.0 if beat_at is None else time.monotonic() - beat_at

    @contextlib.asynccontextmanager
    async def beating(self) -> AsyncIterator[None]:
        """Beat, for as long as this lasts."""
        self._beat_at = time.monotonic()
        task = asyncio.create_task(self._beat(), name="heartbeat", context=detached())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait([task])
            self._beat_at = None

    async def _beat(self) -> None:
        while True:
            before = time.monotonic()
            await asyncio.sleep(BEAT_S)
            self._beat_at = time.monotonic()
            _late.observe(max(0.0, self._beat_at - before - BEAT_S))
