"""One connection a player, over all instances: the newest one. And sessions that end reach their connection.

Who connects writes the row of the player in `gateway.play_connections`. Every instance compares its
connections with the rows, and their sessions with `gateway.sessions`, a few times a second and with one
question for all.
"""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Callable
from typing import Final, Protocol

import structlog

from eventstore.coordination.outages import PASSING
from upcard_gateway.adapters import play_metrics
from upcard_gateway.adapters.postgres.play_connections import Held, PlayConnections

__all__ = ["Holder", "Registry"]

_AT_ONCE: Final = 5_000
"""Most connections of one question."""
_SEEN_EVERY_S: Final = 5.0
_PRUNE_EVERY_S: Final = 600.0
_KEPT_FOR: Final = dt.timedelta(hours=1)

_log = structlog.get_logger("upcard.gateway.play")


class Holder(Protocol):
    """A player's connection."""

    held: Held
    acted: bool
    """Whether the player has done something since that was noted last."""

    def leave_for(self, reason: str) -> None:
        """End for this reason."""
        ...


class Registry:
    """The players' connections of this instance."""

    def __init__(
        self,
        rows: PlayConnections,
        now: Callable[[], dt.datetime],
        clock: Callable[[], float],
        every_s: float,
    ) -> None:
        """`clock` gives seconds and never jumps."""
        self._rows = rows
        self._now = now
        self._clock = clock
        self._every_s = every_s
        self._of_player: dict[str, Holder] = {}
        self._seen_due_s = clock() + _SEEN_EVERY_S
        self._prune_due_s = clock() + _PRUNE_EVERY_S
        self._failed = False

    async def enter(self, holder: Holder) -> None:
        """The player's connection from now on. One of theirs that was here before ends at once."""
        await self._rows.take(holder.held)
        former = self._of_player.get(holder.held.player)
        self._of_player[holder.held.player] = holder
        if former is not None:
            former.leave_for("taken_over")

    async def leave(self, holder: Holder) -> None:
        """The connection is gone. A row that could not be removed is the next connection's to replace."""
        if self._of_player.get(holder.held.player) is holder:
            del self._of_player[holder.held.player]
        try:
            async with asyncio.timeout(5.0):
                await self._rows.release(holder.held)
        except (*PASSING, TimeoutError):
            _log.info("a connection's row stays", session=holder.held.session)

    async def run(self, ending: asyncio.Event) -> None:
        """Look again and again, until `ending` is set."""
        while not ending.is_set():
            try:
                await self.check()
                self._failed = False
            except Exception as error:  # noqa: BLE001 - connections go on, and it is tried again
                play_metrics.check_failures.inc()
                if not self._failed:
                    passing = isinstance(error, (*PASSING, TimeoutError))
                    _log.warning("sessions cannot be looked up", exc_info=None if passing else error)
                self._failed = True
            try:
                async with asyncio.timeout(self._every_s):
                    await ending.wait()
            except TimeoutError:
                continue

    async def check(self) -> None:
        """End the connections that have to: taken over, their session is over. Note signs of players."""
        if self._clock() >= self._seen_due_s:
            self._seen_due_s = self._clock() + _SEEN_EVERY_S
            await self._note_signs()
        holders = tuple(self._of_player.values())
        for first in range(0, len(holders), _AT_ONCE):
            part = {one.held.connection: one for one in holders[first : first + _AT_ONCE]}
            for found in await self._rows.look([one.held for one in part.values()], self._now()):
                reason = "taken_over" if found.taken else f"session_{found.ended}"
                part[found.connection].leave_for(reason)
        if self._clock() >= self._prune_due_s:
            self._prune_due_s = self._clock() + _PRUNE_EVERY_S
            await self._rows.prune(self._now() - _KEPT_FOR)

    async def _note_signs(self) -> None:
        acting = [one for one in self._of_player.values() if one.acted]
        for first in range(0, len(acting), _AT_ONCE):
            part = acting[first : first + _AT_ONCE]
            for one in part:
                one.acted = False
            known = await self._rows.seen([one.held for one in part], self._now())
            for one in part:
                one.acted = one.acted or one.held.session not in known
