"""Appenders, relays and consumers under load, while processes and servers are killed, one after the other.

A seed gives the order of the faults and what is appended; when what falls is the machine's business.
"""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections.abc import Callable

import pytest

from stack import Stack
from tests.faults.line import Line, a_line

Fault = Callable[[Line, random.Random], None]
ARRIVED_BETWEEN = 150
"""Events that have to arrive after each fault, before the next one comes."""
CALLERS = 6


def _kill_relay(line: Line, chance: random.Random) -> None:
    line.relays.kill(chance)


def _kill_consumer(line: Line, chance: random.Random) -> None:
    line.consumers.kill(chance)


def _kill_postgres(line: Line, _: random.Random) -> None:
    line.stack.postgres.kill()
    line.stack.postgres.start()


def _restart_postgres(line: Line, _: random.Random) -> None:
    line.stack.postgres.restart()


def _kill_broker(line: Line, chance: random.Random) -> None:
    broker = chance.choice(line.stack.brokers)
    broker.kill()
    broker.start()


def _wipe_broker(line: Line, _: random.Random) -> None:
    for broker in line.stack.brokers:
        broker.wipe()
    for broker in line.stack.brokers:
        broker.start()


def _stop_broker_for_a_while(line: Line, chance: random.Random) -> None:
    broker = chance.choice(line.stack.brokers)
    broker.pause()
    time.sleep(1.5)  # the fault itself: for so long nobody answers
    broker.resume()


FAULTS: dict[str, Fault] = {
    "kill a relay": _kill_relay,
    "kill a consumer": _kill_consumer,
    "kill PostgreSQL": _kill_postgres,
    "restart PostgreSQL": _restart_postgres,
    "kill a broker": _kill_broker,
    "a broker answers nobody": _stop_broker_for_a_while,
    "the broker loses everything": _wipe_broker,
}


async def _strike(line: Line, name: str, chance: random.Random) -> None:
    print(f"{time.strftime('%H:%M:%S')} {name}", flush=True)  # noqa: T201 - pytest shows it when the test fails
    await asyncio.to_thread(FAULTS[name], line, chance)
    await line.goes_on(ARRIVED_BETWEEN)


async def test_each_fault_once_and_every_event_has_its_effect_once(private_stack: Stack) -> None:
    chance = random.Random(1)
    names = list(FAULTS)
    chance.shuffle(names)
    async with a_line(private_stack, callers=CALLERS, seed=1) as line:
        await line.goes_on(ARRIVED_BETWEEN)
        for name in names:
            await _strike(line, name, chance)
        line.appending.done.set()
        await line.all_arrived()
        await line.check()


@pytest.mark.soak
async def test_faults_for_as_long_as_one_likes(private_stack: Stack) -> None:
    seed = int(os.environ.get("UPCARD_SOAK_SEED", "0")) or random.SystemRandom().randrange(1, 2**31)
    until_s = time.monotonic() + float(os.environ.get("UPCARD_SOAK_S", "60"))
    print(f"UPCARD_SOAK_SEED={seed}", flush=True)  # noqa: T201 - what makes it do the same again
    chance = random.Random(seed)
    struck = 0
    async with a_line(private_stack, callers=CALLERS, seed=seed) as line:
        await line.goes_on(ARRIVED_BETWEEN)
        while time.monotonic() < until_s:
            await _strike(line, chance.choice(list(FAULTS)), chance)
            struck += 1
        line.appending.done.set()
        await line.all_arrived()
        await line.check()
    assert struck >= 1
