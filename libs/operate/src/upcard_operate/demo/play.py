"""Playing: all tables at once, each round after round, with a bar; then the report."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Final

from servicekit.grpc import acting_as
from upcard.bonus.v1 import bonus_pb2
from upcard_operate.demo.casino import Casino, entered, new_id, staff
from upcard_operate.demo.crowd import OPERATOR, Crowd, players_of
from upcard_operate.demo.evidence import RoundEvidence, evidence_of
from upcard_operate.demo.house import House, View, accepted
from upcard_operate.demo.report import Report, report_on
from upcard_operate.demo.tables import CURRENCY, JACKPOT, TABLES, DemoTable
from upcard_operate.local.fleet import Fleet

SEED_OF_THE_POOL: Final = 1_000_000
_CALL_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """How much is to be played: `rounds` in all, shared out among the tables; players at the shared table."""

    rounds: int
    players: int
    seed: int


async def play(fleet: Fleet, wanted: Wanted, progress: Callable[[int], None]) -> Report:
    """Play at all tables at once; what happened. `progress` hears how many rounds have ended."""
    async with entered(fleet) as casino:
        await _open_jackpot(casino)
        crowds, tasks = [], []
        done: list[RoundEvidence] = []

        def ended(evidence: RoundEvidence) -> None:
            done.append(evidence)
            progress(len(done))

        async with asyncio.TaskGroup() as group:
            for place, table in enumerate(TABLES):
                random = Random(f"{wanted.seed}/{table.table}")
                rounds = wanted.rounds // len(TABLES) + (place < wanted.rounds % len(TABLES))
                crowd = Crowd(casino, table, players_of(table, _seats(table, wanted), random), random)
                crowds.append(crowd)
                tasks.append(group.create_task(_play_at(casino, crowd, rounds, ended)))
        return await report_on(casino, fleet, crowds, sorted(done, key=lambda one: one.stream))


def _seats(table: DemoTable, wanted: Wanted) -> int:
    return wanted.players if table.seats is None else table.seats


async def _open_jackpot(casino: Casino) -> None:
    tables = [table.table for table in TABLES if table.ruleset.startswith("dark-boxes")]
    request = bonus_pb2.OpenJackpotRequest(
        request_id=new_id(),
        jackpot=JACKPOT,
        operator=OPERATOR,
        currency=CURRENCY,
        settings=bonus_pb2.JackpotSettings(
            seed=SEED_OF_THE_POOL, contribution_ppm=100_000, reseed=True, tables=tables
        ),
    )
    with acting_as(staff("floor-1")):
        accepted("open the jackpot", await casino.bonus.OpenJackpot(request, timeout=_CALL_S))


async def _play_at(casino: Casino, crowd: Crowd, rounds: int, ended: Callable[[RoundEvidence], None]) -> None:
    if not rounds:
        return
    house = House(casino, crowd.table, crowd.random)
    await asyncio.gather(house.open(), crowd.come())
    for _ in range(rounds):
        number = await house.open_round()
        late = asyncio.Event()

        async def play_window(view: View, number: int = number, late: asyncio.Event = late) -> None:
            if view["window"]["kind"] == "options" and not late.is_set():
                late.set()
                await crowd.come_late(number)
            await crowd.play(view)

        await house.deal(number, play_window)
        ended(await evidence_of(casino, crowd.table.table, number))


def elapsed_s(since: float) -> float:
    """Seconds since a time of the monotonic clock."""
    return time.monotonic() - since
