"""A casino that pages are tried on: services as processes, two operators, tables, players, staff."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.end_to_end.gateway import processes
from tests.end_to_end.gateway.dealing import ScriptedTable
from tests.end_to_end.gateway.processes import CURRENCY, TRANSFER, Edge, Servers, fresh
from upcard_operate.demo.casino import Casino
from upcard_platform.models.sessions import Launched
from upcard_platform.models.wallets import Deposit

BETTING_MS: Final = 5_000
"""Betting is never closed before its time, and begins again while nobody has bet."""
DECIDING_MS: Final = 60_000


class PatientTable(ScriptedTable):
    """Its windows of decisions stay open until everybody has decided: pages take their time."""

    def __init__(self, casino: Casino, name: str) -> None:
        super().__init__(casino, name)
        self._config.name = name
        self._config.durations.betting_ms = BETTING_MS
        self._config.durations.options_ms = DECIDING_MS
        self._config.durations.final_options_ms = DECIDING_MS
        self._config.durations.purchase_ms = DECIDING_MS


@dataclass
class RunningHouse:
    """The way into everything that runs."""

    edge: Edge
    tables: dict[str, PatientTable] = field(default_factory=dict)

    @property
    def url(self) -> str:
        """Where the gateway's pages are, without a path."""
        return self.edge.fleet.platform_url

    async def launched(self, player: str, operator: str = TRANSFER, *, money: int = 0) -> Launched:
        """A player of an operator with a fresh launch token, and so many minor units more to play with."""
        launched = await self.edge.launched(operator, player)
        if money:
            deposit = Deposit(request_id=fresh(), currency=CURRENCY, amount=money)
            await self.edge.platforms[operator].wallets.deposit(player, deposit)
        return launched

    async def table(self, name: str) -> PatientTable:
        """An open live-shared table of this name whose cards are known, made at the first call."""
        if name not in self.tables:
            table = PatientTable(self.edge.casino, name)
            await table.open()
            self.tables[name] = table
        return self.tables[name]


@contextlib.contextmanager
def servers(folder: Path) -> Iterator[Servers]:
    """Everything as processes."""
    with processes.started(folder) as running:
        yield running


@contextlib.asynccontextmanager
async def opened(running: Servers) -> AsyncIterator[RunningHouse]:
    """The ways into it."""
    async with processes.opened(running) as edge:
        yield RunningHouse(edge)
