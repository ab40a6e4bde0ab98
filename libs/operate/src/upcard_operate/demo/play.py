"""Playing: all tables at once, each round after round, with a bar; then the report."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from servicekit.grpc import acting_as
from upcard.bonus.v1 import bonus_pb2
from upcard_operate.demo.arriving import Invitation, Visitors, invited, seated, visitors_of
from upcard_operate.demo.books import compare_books
from upcard_operate.demo.casino import Casino, entered, new_id, staff
from upcard_operate.demo.console import Console
from upcard_operate.demo.evidence import RoundEvidence, evidence_of
from upcard_operate.demo.house import accepted, open_table
from upcard_operate.demo.installation import Installation
from upcard_operate.demo.operators import HOUSE, OPERATORS, open_for_business
from upcard_operate.demo.pages import Staff
from upcard_operate.demo.report import Report, report_on
from upcard_operate.demo.staffing import SignIn, hired
from upcard_operate.demo.tables import CURRENCY, JACKPOT, TABLES, DemoTable, config_of
from upcard_operate.demo.visitors import LookerOn
from upcard_platform.client import Platform

SEED_OF_THE_POOL: Final = 1_000_000
_CALL_S: Final = 30.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """How much is to be played: `rounds` in all, shared out among the tables; players at the shared table."""

    rounds: int
    players: int
    seed: int


@dataclass(frozen=True, slots=True)
class Played:
    """What happened, who may sign in at the pages, and where a player may sit down."""

    report: Report
    sign_ins: Sequence[SignIn]
    links: Sequence[Invitation]


async def play(installation: Installation, wanted: Wanted, progress: Callable[[int], None]) -> Played:
    """Play at all tables at once; what happened. `progress` hears how many rounds have ended."""
    began = dt.datetime.now(dt.UTC)
    fleet = installation.fleet
    async with entered(fleet) as casino, open_for_business(fleet) as platforms, hired(fleet) as people:
        await _open_jackpot(casino)
        done: list[RoundEvidence] = []

        def ended(evidence: RoundEvidence) -> None:
            done.append(evidence)
            progress(len(done))

        crowds = _crowds(wanted)
        async with asyncio.TaskGroup() as group:
            for place, (visitors, dealer) in enumerate(zip(crowds, people.dealers, strict=True)):
                rounds = wanted.rounds // len(TABLES) + (place < wanted.rounds % len(TABLES))
                table = _Table(installation, casino, platforms, visitors, wanted.seed)
                group.create_task(table.play(dealer, rounds, ended))
        rounds_ended = sorted(done, key=lambda one: one.stream)
        report = await report_on(casino, fleet, crowds, rounds_ended, installation.partner)
        await compare_books(report, platforms, installation.partner, began)
        links = [await invited(platforms, operator, installation.partner) for operator in OPERATORS]
        return Played(report, people.others, links)


def _crowds(wanted: Wanted) -> list[Visitors]:
    crowds = []
    for place, table in enumerate(TABLES):
        random = Random(f"{wanted.seed}/{table.table}")
        seats = wanted.players if table.seats is None else table.seats
        crowds.append(visitors_of(table, seats, random, first=place))
    return crowds


async def _open_jackpot(casino: Casino) -> None:
    tables = [table.table for table in TABLES if table.ruleset.startswith("dark-boxes")]
    request = bonus_pb2.OpenJackpotRequest(
        request_id=new_id(),
        jackpot=JACKPOT,
        operator=HOUSE.operator,
        currency=CURRENCY,
        settings=bonus_pb2.JackpotSettings(
            seed=SEED_OF_THE_POOL, contribution_ppm=100_000, reseed=True, tables=tables
        ),
    )
    with acting_as(staff("floor-1")):
        accepted("open the jackpot", await casino.bonus.OpenJackpot(request, timeout=_CALL_S))


@dataclass(frozen=True, slots=True)
class _Table:
    """One table: opened by the floor, dealt at the console, played by who comes."""

    installation: Installation
    casino: Casino
    platforms: Mapping[str, Platform]
    visitors: Visitors
    seed: int

    @property
    def table(self) -> DemoTable:
        return self.visitors.table

    async def play(self, dealer: Staff, rounds: int, ended: Callable[[RoundEvidence], None]) -> None:
        name = self.table.table
        await open_table(self.casino, name, config_of(self.table))
        async with self._players() as looker:
            console = Console(dealer, name)
            await console.take_over()
            for _ in range(rounds):
                number = await console.deal()
                ended(await evidence_of(self.casino, name, number))
                await looker.sees(number)
            await console.leave()

    def _players(self) -> contextlib.AbstractAsyncContextManager[LookerOn]:
        installation = self.installation
        return seated(
            self.visitors, self.platforms, installation.partner, installation.fleet.platform_url, self.seed
        )


def elapsed_s(since: float) -> float:
    """Seconds since a time of the monotonic clock."""
    return time.monotonic() - since
