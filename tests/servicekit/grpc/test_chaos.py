"""Many callers that do everything a caller can do, at once: each is answered, and nothing is left over."""

from __future__ import annotations

import asyncio
import random
from collections import Counter

import grpc
import grpc.aio
import pytest

from servicekit.grpc import CallError, ClientSettings, ServerSettings, failure_of
from servicekit.metrics import registry
from tests.servicekit.grpc.conftest import WAIT_S, Served, serve_echo
from tests.servicekit.grpc.echo import NAME, Echo, Text

CALLS = 600
WAYS = ("ok", "refuse", "fail", "cancel", "late", "watch", "leave", "write")


class Unruly(Echo):
    """Does what the text says."""

    def __init__(self) -> None:
        super().__init__(self.behave)

    async def behave(self, text: str) -> str:
        match text.split(maxsplit=1)[0]:
            case "refuse":
                raise CallError(grpc.StatusCode.NOT_FOUND, "gone", "it is gone")
            case "fail":
                raise ZeroDivisionError
            case "cancel" | "late":
                await asyncio.Event().wait()
            case _:
                await asyncio.sleep(0)
        return text


async def call(served: Served, way: str, number: int, chance: random.Random) -> str:
    """Call in one way; what came of it."""
    stub, text = served.stub, Text(value=f"{way} {number}")
    match way:
        case "cancel":
            task = asyncio.ensure_future(stub.Once(text, timeout=WAIT_S))
            for _ in range(chance.randrange(20)):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            return "cancelled"
        case "late":
            answer = stub.Once(text, timeout=chance.choice([0.001, 0.01, 0.05]))
        case "watch":
            seen = [one.value async for one in stub.Watch(Text(value="3"), timeout=WAIT_S)]
            assert seen == ["first", "0", "1", "2"]
            return "watched"
        case "leave":
            stream = stub.Watch(Text(value="0"), timeout=WAIT_S)
            await stream.read()
            stream.cancel()
            return "left"
        case "write":
            answer = stub.Write(text, timeout=WAIT_S)
        case _:
            answer = stub.Once(text, timeout=WAIT_S)
    got = await answer
    assert got.value == text.value
    return "answered"


async def outcome(served: Served, way: str, number: int, chance: random.Random) -> str:
    try:
        return await call(served, way, number, chance)
    except grpc.aio.AioRpcError as error:
        return failure_of(error).reason


EXPECTED = {
    "ok": {"answered"},
    "write": {"answered"},
    "refuse": {"gone"},
    "fail": {"internal"},
    "cancel": {"cancelled"},
    "late": {"deadline_exceeded"},
    "watch": {"watched"},
    "leave": {"left"},
}


@pytest.mark.parametrize("seed", [1, 2])
async def test_every_call_ends_as_it_should(seed: int) -> None:
    chance = random.Random(seed)
    before = _ended()
    settings = ServerSettings(max_calls=CALLS, grace_s=WAIT_S)
    async with serve_echo(Unruly(), settings=settings, client=ClientSettings(attempts=1)) as served:
        ways = [chance.choice(WAYS) for _ in range(CALLS)]
        outcomes = await asyncio.wait_for(
            asyncio.gather(*(outcome(served, way, number, chance) for number, way in enumerate(ways))), 60
        )
        wrong = Counter(
            (way, came) for way, came in zip(ways, outcomes, strict=True) if came not in EXPECTED[way]
        )
        assert wrong == Counter()
        assert await served.read("ok") == "ok"
    # The stop has waited for the last of them.
    for kind in ("call", "stream"):
        assert registry().get_sample_value("upcard_grpc_server_calls_in_flight", {"kind": kind}) == 0
    ended = _ended()
    # Calls that were cancelled before they reached a handler were never begun.
    begun = CALLS + 1 - ways.count("cancel") - ways.count("late")
    assert begun <= ended - before <= CALLS + 1


async def test_a_stop_in_the_middle_leaves_nobody_waiting() -> None:
    chance = random.Random(3)
    settings = ServerSettings(max_calls=CALLS, grace_s=0.05)
    async with serve_echo(Unruly(), settings=settings, client=ClientSettings(attempts=1)) as served:
        calls = [
            asyncio.ensure_future(outcome(served, chance.choice(WAYS), number, chance))
            for number in range(CALLS)
        ]
        for _ in range(50):
            await asyncio.sleep(0)
        await asyncio.wait_for(served.server.stop(), WAIT_S)
        outcomes = Counter(await asyncio.wait_for(asyncio.gather(*calls), WAIT_S))
    assert outcomes.total() == CALLS
    assert set(outcomes) <= set().union(*EXPECTED.values()) | {
        "unavailable",
        "cancelled",
        "server_stopping",
        "deadline_exceeded",
    }


def _ended() -> float:
    """How many calls of the service a server has noted the end of."""
    return sum(
        sample.value
        for metric in registry().collect()
        for sample in metric.samples
        if sample.name == "upcard_grpc_server_calls_total" and sample.labels["service"] == NAME
    )
