"""Rounds of a whole casino, while its services, PostgreSQL and the broker are killed one after the other.

A seed gives the order of the faults and how people play; when what falls is the machine's business.
"""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from stack import Stack
from tests.faults.casino_line import CasinoLine, a_casino_line

Fault = Callable[[CasinoLine, random.Random], None]
PLAYERS = 25


def _kill(service: str) -> Fault:
    return lambda line, _: line.restart(service)


def _kill_postgres(line: CasinoLine, _: random.Random) -> None:
    line.stack.postgres.kill()
    line.stack.postgres.start()


def _restart_postgres(line: CasinoLine, _: random.Random) -> None:
    line.stack.postgres.restart()


def _kill_broker(line: CasinoLine, chance: random.Random) -> None:
    broker = chance.choice(line.stack.brokers)
    broker.kill()
    broker.start()


def _wipe_broker(line: CasinoLine, _: random.Random) -> None:
    for broker in line.stack.brokers:
        broker.wipe()
    for broker in line.stack.brokers:
        broker.start()


FAULTS: dict[str, Fault] = {
    "kill the table service": _kill("table"),
    "kill the wallet": _kill("wallet"),
    "kill the bonus service": _kill("bonus"),
    "kill the history": _kill("history"),
    "kill PostgreSQL": _kill_postgres,
    "restart PostgreSQL": _restart_postgres,
    "kill a broker": _kill_broker,
    "the broker loses everything": _wipe_broker,
}


async def _strike(line: CasinoLine, name: str, chance: random.Random) -> None:
    print(f"{time.strftime('%H:%M:%S')} {name}", flush=True)  # noqa: T201 - pytest shows it when the test fails
    await asyncio.to_thread(FAULTS[name], line, chance)
    await line.goes_on()


async def test_each_fault_once_and_rounds_money_and_views_agree(private_stack: Stack, tmp_path: Path) -> None:
    chance = random.Random(7)
    names = list(FAULTS)
    chance.shuffle(names)
    async with a_casino_line(private_stack, tmp_path, players=PLAYERS, seed=7) as line:
        await line.goes_on()
        for name in names:
            await _strike(line, name, chance)
        report = await line.report()
    assert report.wrong == []
    assert report.outcomes["accepted"] > PLAYERS
    assert len(report.rounds) > len(FAULTS)


@pytest.mark.soak
async def test_a_casino_under_faults_for_as_long_as_one_likes(private_stack: Stack, tmp_path: Path) -> None:
    seed = int(os.environ.get("UPCARD_SOAK_SEED", "0")) or random.SystemRandom().randrange(1, 2**31)
    until_s = time.monotonic() + float(os.environ.get("UPCARD_SOAK_S", "60"))
    print(f"UPCARD_SOAK_SEED={seed}", flush=True)  # noqa: T201 - what makes it do the same again
    chance = random.Random(seed)
    struck = 0
    async with a_casino_line(private_stack, tmp_path, players=PLAYERS, seed=seed) as line:
        await line.goes_on()
        while time.monotonic() < until_s:
            await _strike(line, chance.choice(list(FAULTS)), chance)
            struck += 1
        report = await line.report()
    assert report.wrong == []
    assert struck >= 1
