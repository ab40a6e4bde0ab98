"""What the pages about operations share: one look at everything serves all who look at the same moment."""

from __future__ import annotations

import asyncio
import time
from typing import Final

from starlette.requests import Request

from servicekit.grpc import acting_as
from upcard_gateway.adapters.metrics_scrape import Scrape
from upcard_gateway.adapters.money_figures import MoneyFigures
from upcard_gateway.adapters.operations import SERVICES, ServiceHealth, operations_of
from upcard_gateway.adapters.parked_calls import ParkedCalls
from upcard_gateway.app.health import Overview, overview_of
from upcard_gateway.entrypoints.http.edge import Edge
from upcard_gateway.entrypoints.pages.member import Member

__all__ = ["OperationsDesk", "desk_of"]

FRESH_S: Final = 1.5
"""For so long everybody sees the same look."""


class OperationsDesk:
    """Made once for an app, in `app.state.operations`."""

    def __init__(self, edge: Edge) -> None:
        self.operations = operations_of(edge.services, edge.pool)
        self.scrape = Scrape(
            edge.settings.metrics_addresses,
            edge.now,
            timeout_s=edge.settings.metrics_timeout_s,
            own_name=edge.settings.instance or "",
        )
        self.figures = MoneyFigures(edge.services)
        self.parked_calls = ParkedCalls(edge.services)
        self._health = ServiceHealth(edge.services, self.operations)
        self._looking = asyncio.Lock()
        self._seen: Overview | None = None
        self._seen_s = 0.0

    async def overview(self, member: Member) -> Overview:
        """How everything stands, at most a moment old; asked in the name of who looks first."""
        async with self._looking:
            if self._seen is None or time.monotonic() - self._seen_s >= FRESH_S:
                with acting_as(member.actor()):
                    seen, metrics = await asyncio.gather(self._health.ask(), self.scrape.read())
                self._seen = overview_of(SERVICES, seen, metrics)
                self._seen_s = time.monotonic()
            return self._seen

    def forget(self) -> None:
        """Look anew the next time: something was done."""
        self._seen = None


def desk_of(request: Request) -> OperationsDesk:
    """What this app's pages about operations stand on."""
    found: OperationsDesk = request.app.state.operations
    return found
