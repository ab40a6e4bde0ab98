"""A casino whose services are processes: tables play round after round while something falls."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import grpc.aio

from servicekit.grpc import acting_as
from stack import Stack
from tests.messaging.waiting import until
from upcard.bonus.v1 import bonus_pb2
from upcard_operate.demo.casino import Casino, entered, new_id, staff
from upcard_operate.demo.crowd import OPERATOR, Crowd, players_of
from upcard_operate.demo.evidence import RoundEvidence, evidence_of
from upcard_operate.demo.house import House, accepted
from upcard_operate.demo.report import Report, report_on
from upcard_operate.demo.tables import CURRENCY, JACKPOT, TABLES, DemoTable, config_of
from upcard_operate.local.fleet import Fleet

RECOVERY_S = 150.0
"""Longest until every table has ended a round again after a fault."""
READY_S = 60.0
PAUSE_S = 0.2
CALL_S = 10.0
EXTENSION_MS = 120_000
"""For so long a window is extended after a fail-over: longer than any fault here lasts."""
PLAYED = [table for table in TABLES if table.table in {"demo-live", "demo-dark", "demo-three"}]

_PASSING = {
    grpc.StatusCode.ABORTED,
    grpc.StatusCode.CANCELLED,
    grpc.StatusCode.DEADLINE_EXCEEDED,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.UNKNOWN,
}


class Persistent:
    """A stub whose calls come again, the same bytes, until they are answered: as a gateway's do."""

    def __init__(self, stub: Any) -> None:
        self._stub = stub
        self.repeated: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._stub, name)

        async def until_answered(request: Any, *, timeout: float) -> Any:  # noqa: ASYNC109 - grpc's own name
            loop = asyncio.get_running_loop()
            deadline = loop.time() + RECOVERY_S
            while True:
                try:
                    return await call(request, timeout=timeout)
                except grpc.aio.AioRpcError as error:
                    if error.code() not in _PASSING or loop.time() > deadline:
                        raise
                self.repeated[name] += 1
                await asyncio.sleep(PAUSE_S)

        return until_answered


@dataclass(slots=True)
class CasinoLine:
    """What plays, and what has been played."""

    fleet: Fleet
    stack: Stack
    casino: Casino
    crowds: list[Crowd]
    rounds: list[RoundEvidence] = field(default_factory=list)
    done: asyncio.Event = field(default_factory=asyncio.Event)
    playing: list[asyncio.Task[None]] = field(default_factory=list)

    def _ended(self) -> Counter[str]:
        return Counter(one.stream.removeprefix("round-").partition(".")[0] for one in self.rounds)

    async def goes_on(self) -> None:
        """Wait until every table has ended another round that it began after this moment or was in."""
        before = self._ended()

        def every_table() -> bool:
            for task in self.playing:
                if task.done():
                    task.result()  # it ended by itself: why?
            now = self._ended()
            return all(now[table.table] > before[table.table] for table in PLAYED)

        await until(every_table, what="a round ended at every table", timeout_s=RECOVERY_S)

    def restart(self, service: str) -> None:
        """Kill a service as a power cut does, and start it again."""
        process = self.fleet.processes[service]
        process.kill()
        process.start()
        process.until_ready(READY_S)

    async def report(self) -> Report:
        """Let the running rounds end; what all services say of all rounds."""
        self.done.set()
        async with asyncio.timeout(RECOVERY_S):
            await asyncio.gather(*self.playing)
        assert all(process.pid for process in self.fleet.processes.values()), "every service is running"
        rounds = sorted(self.rounds, key=lambda one: one.stream)
        return await report_on(self.casino, self.fleet, self.crowds, rounds)


async def _play(line: CasinoLine, crowd: Crowd) -> None:
    config = config_of(crowd.table)
    config.durations.extension_max_ms = EXTENSION_MS
    house = House(line.casino, crowd.table, crowd.random, config)
    await asyncio.gather(house.open(), crowd.come())
    while not line.done.is_set():
        number = await house.open_round()
        await house.deal(number, crowd.play)
        line.rounds.append(await evidence_of(line.casino, crowd.table.table, number))


async def _open_jackpot(casino: Casino) -> None:
    tables = [table.table for table in PLAYED if table.ruleset.startswith("dark-boxes")]
    settings = bonus_pb2.JackpotSettings(seed=1_000_000, contribution_ppm=100_000, reseed=True, tables=tables)
    request = bonus_pb2.OpenJackpotRequest(
        request_id=new_id(), jackpot=JACKPOT, operator=OPERATOR, currency=CURRENCY, settings=settings
    )
    with acting_as(staff("floor-1")):
        accepted("open the jackpot", await casino.bonus.OpenJackpot(request, timeout=CALL_S))


def _seats(table: DemoTable, players: int) -> int:
    return players if table.seats is None else table.seats


@contextlib.asynccontextmanager
async def a_casino_line(stack: Stack, folder: Path, *, players: int, seed: int) -> AsyncIterator[CasinoLine]:
    """A casino in play: its tables go on until the line is done."""
    fleet = Fleet(stack, folder)
    await asyncio.to_thread(fleet.__enter__)
    try:
        async with entered(fleet) as entrance:
            stubs: list[Any] = [Persistent(getattr(entrance, name)) for name in Casino.__slots__]
            casino = Casino(*stubs)
            await _open_jackpot(casino)
            crowds = []
            for table in PLAYED:
                chance = Random(f"{seed}/{table.table}")
                crowds.append(Crowd(casino, table, players_of(table, _seats(table, players), chance), chance))
            line = CasinoLine(fleet, stack, casino, crowds)
            line.playing = [asyncio.create_task(_play(line, crowd)) for crowd in crowds]
            try:
                yield line
            finally:
                for task in line.playing:
                    task.cancel()
                await asyncio.gather(*line.playing, return_exceptions=True)
    finally:
        await asyncio.to_thread(fleet.__exit__, None, None, None)
