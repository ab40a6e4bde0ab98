"""Keeping the names of dealers fresh that players see."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final

import structlog

from eventstore.coordination.outages import PASSING
from upcard_gateway.adapters import metrics
from upcard_gateway.adapters.postgres.dealer_names import names_of_dealers
from upcard_gateway.entrypoints.http.edge import Edge

__all__ = ["EVERY_S", "DealersRead"]

EVERY_S: Final = 5.0
"""So long a new name may stay unknown, and an erased one known, in seconds."""
_READ_S: Final = 10.0
"""For a connection to the database as well."""

_log = structlog.get_logger("upcard.gateway.dealers")


@dataclass(slots=True)
class DealersRead:
    """Reads them again and again; while that fails, names stay as they were."""

    edge: Edge
    every_s: float = EVERY_S
    _failing: bool = False

    async def run(self, ending: asyncio.Event) -> None:
        """Go on until `ending` is set."""
        while not ending.is_set():
            await self._patiently()
            try:
                async with asyncio.timeout(self.every_s):
                    await ending.wait()
            except TimeoutError:
                continue

    async def read(self) -> None:
        """Read them now. Raises whatever the database does, and TimeoutError."""
        async with asyncio.timeout(_READ_S):
            self.edge.dealer_names.learn(await names_of_dealers(self.edge.pool))

    async def _patiently(self) -> None:
        try:
            await self.read()
        except Exception as error:  # noqa: BLE001 - whatever is wrong with it, tables go on being shown
            metrics.upkeep_failures.labels("dealer names").inc()
            if not self._failing:
                passing = isinstance(error, (*PASSING, TimeoutError))
                _log.warning("dealers' names cannot be read", exc_info=None if passing else error)
            self._failing = True
        else:
            self._failing = False
