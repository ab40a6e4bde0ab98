"""Following the own log under a lease: one instance of all works, and another one goes on when it dies."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Coroutine
from typing import Any, Final

import structlog

from eventstore import EventFilter
from eventstore.coordination import LeaseLost, hold_lease, run_while_held
from eventstore.coordination.outages import PASSING
from eventstore.following import Applier, DatabaseAway, FollowerStopped, Gap, LiveFollower
from eventstore.port import Reader
from eventstore.postgres import Pool
from eventstore.streams import SHARDS

_EVENTS_MAX: Final = 500
_LOOK_EVERY_S: Final = 1.0
_FIRST_PAUSE_S: Final = 0.5
_LONGEST_PAUSE_S: Final = 10.0

_log = structlog.get_logger("upcard_history.following")


class UnderLease:
    """Runs work wherever its lease is; an outage, or the loss of the lease, is waited for.

    The lease saves work and nothing else: whoever applies events under a lease that is over has no effect
    that another one has had.
    """

    def __init__(
        self,
        pool: Pool,
        name: str,
        holder: str,
        work: Callable[[], Coroutine[Any, Any, None]],
        *,
        lease_s: float,
    ) -> None:
        """`lease_s`: how long after the death of who holds the lease another one waits, in seconds."""
        self._pool = pool
        self._name = name
        self._holder = holder
        self._work = work
        self._lease_s = lease_s

    async def run(self, ending: asyncio.Event) -> None:
        """Work, or wait for one's turn, until `ending` is set. Raises what will not pass."""
        working = asyncio.create_task(self._patiently())
        stopping = asyncio.create_task(ending.wait())
        try:
            await asyncio.wait([working, stopping], return_when=asyncio.FIRST_COMPLETED)
            if working.done():
                working.result()
        finally:
            for task in (working, stopping):
                task.cancel()
            await asyncio.wait([working, stopping])

    async def _patiently(self) -> None:
        pause_s = _FIRST_PAUSE_S
        while True:
            began = time.monotonic()
            try:
                async with hold_lease(
                    self._pool, self._name, holder=self._holder, ttl_s=self._lease_s
                ) as held:
                    _log.info("this instance works", what=self._name, token=held.token)
                    await run_while_held(held, self._work())
            except (LeaseLost, DatabaseAway, Gap, *PASSING) as error:
                _log.warning("work is broken off", what=self._name, why=type(error).__name__)
            if time.monotonic() - began > _LONGEST_PAUSE_S:
                pause_s = _FIRST_PAUSE_S
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)


async def follow_own_log(store: Reader, applier: Applier, wanted: EventFilter) -> None:
    """Apply what is in this database's log, and what comes; a follower that was stopped waits to be resumed.

    Raises what the store and the applier raise of an outage: it is begun anew then.
    """
    live = LiveFollower(
        store,
        applier,
        shards=range(SHARDS),
        events_max=_EVENTS_MAX,
        look_interval_s=_LOOK_EVERY_S,
        wanted=wanted,
    )
    while True:
        with contextlib.suppress(FollowerStopped):
            await live.follow()
        await asyncio.sleep(_LOOK_EVERY_S)
