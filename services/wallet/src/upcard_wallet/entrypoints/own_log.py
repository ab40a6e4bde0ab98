"""Following the wallet's own log, from its positions: what the audit runs on."""

from __future__ import annotations

import asyncio

import structlog

from eventstore import EventFilter
from eventstore.coordination.outages import PASSING
from eventstore.following import Applier, DatabaseAway, FollowerStopped, Gap, LiveFollower
from eventstore.port import Reader
from eventstore.streams import SHARDS

_EVENTS_MAX = 500
_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 10.0
_LOOK_EVERY_S = 1.0

_log = structlog.get_logger("upcard_wallet.own_log")


class OwnLog:
    """Runs an applier of this database's log until told to end; outages are waited for.

    It may be run by every instance at once: nothing has its effect twice.
    """

    def __init__(self, store: Reader, applier: Applier, wanted: EventFilter) -> None:
        self._follower = applier.follower
        self._live = LiveFollower(
            store,
            applier,
            shards=range(SHARDS),
            events_max=_EVENTS_MAX,
            look_interval_s=_LOOK_EVERY_S,
            wanted=wanted,
        )

    async def run(self, ending: asyncio.Event) -> None:
        """Apply what is there and what comes; a follower that was stopped waits to be resumed."""
        following = asyncio.create_task(self._patiently())
        stopped = asyncio.create_task(ending.wait())
        try:
            await asyncio.wait([following, stopped], return_when=asyncio.FIRST_COMPLETED)
            if following.done():
                following.result()
        finally:
            for task in (following, stopped):
                task.cancel()
            await asyncio.wait([following, stopped])

    async def _patiently(self) -> None:
        pause_s = _FIRST_PAUSE_S
        while True:
            self._live.progressed = False
            try:
                await self._live.follow()
            except FollowerStopped:
                pause_s = _LOOK_EVERY_S
            except (DatabaseAway, Gap, *PASSING) as error:
                _log.warning(
                    "the own log cannot be followed now",
                    follower=self._follower,
                    why=type(error).__name__,
                )
            if self._live.progressed:
                pause_s = _FIRST_PAUSE_S
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
