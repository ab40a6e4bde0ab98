"""Following the gateway's own log, for what is significant in it."""

from __future__ import annotations

import asyncio
from typing import Final

import structlog

from eventstore.following import OWN, Applier, Handler, LiveFollower
from eventstore.postgres import Pool, PostgresEventStore
from eventstore.projections.runner import ALL_SHARDS
from servicekit.database import FollowerMetrics
from upcard_gateway.app.significant import OWN_WANTED

FOLLOWER: Final = "significant_staff"
"""Under which positions in the own log are noted."""

_EVENTS_MAX: Final = 500
_LOOK_EVERY_S: Final = 1.0
_FIRST_PAUSE_S: Final = 0.5
_LONGEST_PAUSE_S: Final = 30.0

_log = structlog.get_logger("upcard.gateway.significant")


class OwnLog:
    """Applies what is in the own log and what comes. Every instance runs it.

    The locked positions decide which of several gives an event its effect; the others' work is in vain, and
    there is little of it: what members of staff do.
    """

    def __init__(self, pool: Pool, store: PostgresEventStore, handler: Handler) -> None:
        applier = Applier(pool, FOLLOWER, OWN, handler, observer=FollowerMetrics())
        self._live = LiveFollower(
            store,
            applier,
            shards=ALL_SHARDS,
            events_max=_EVENTS_MAX,
            look_interval_s=_LOOK_EVERY_S,
            wanted=OWN_WANTED,
        )

    async def run(self, ending: asyncio.Event) -> None:
        """Go on until `ending` is set; what fails is told, and begun anew after a growing pause."""
        pause_s = _FIRST_PAUSE_S
        stopping = asyncio.create_task(ending.wait())
        try:
            while not ending.is_set():
                following = asyncio.create_task(self._live.follow())
                try:
                    await asyncio.wait({stopping, following}, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    following.cancel()
                    await asyncio.wait({following})
                if ending.is_set() or following.cancelled():
                    return
                if (error := following.exception()) is None:
                    continue  # it stands still until a person has looked, and is asked again
                pause_s = _FIRST_PAUSE_S if self._live.progressed else min(2 * pause_s, _LONGEST_PAUSE_S)
                self._live.progressed = False
                _log.warning("the own log cannot be followed", why=type(error).__name__, pause_s=pause_s)
                await asyncio.wait({stopping}, timeout=pause_s)
        finally:
            stopping.cancel()
