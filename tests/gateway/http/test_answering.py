"""A call that changes something is answered once: the same bytes to each repetition, one effect."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from pydantic import BaseModel

from eventstore import Expect, NewEvent, StreamAppend, faults
from eventstore.ids import new_event_id
from eventstore.postgres import Connection
from tests.gateway.world import EUROS, World
from upcard_gateway.domain.operators import Terms
from upcard_gateway.entrypoints.http.answering import (
    answered_once,
    bound,
    canonical,
    derived_request_id,
    kept,
)
from upcard_gateway.entrypoints.http.edge import Caller
from upcard_gateway.entrypoints.http.problems import Problem

ROUTE = "POST /v1/things"
ONE = Caller("op1", "k-1", "live", "transfer", Terms("A", EUROS))
OTHER = Caller("op2", "k-2", "live", "transfer", Terms("B", EUROS))


class Wish(BaseModel):
    """A body."""

    request_id: str
    amount: int = 1


class Effect:
    """Appends an event each time that it works, and says the how-many-eth it is."""

    def __init__(self) -> None:
        self.worked = 0

    async def __call__(self, _: Connection) -> tuple[bytes, Sequence[StreamAppend]]:
        """See `Work`."""
        self.worked += 1
        event = NewEvent(new_event_id(), "Tested", b'{"n":1}')
        return f"answer {self.worked}".encode(), [StreamAppend("session-t", Expect.ANY, [event])]


async def events_of(world: World) -> int:
    """How often it had its effect."""
    return len(await world.edge.store.read_stream("session-t"))


async def test_a_repetition_gets_the_original_answer_and_does_nothing(world: World) -> None:
    effect, body = Effect(), canonical(Wish(request_id="r1"))
    first = await answered_once(world.edge, ONE, ROUTE, "r1", body, effect)
    assert [await answered_once(world.edge, ONE, ROUTE, "r1", body, effect) for _ in range(3)] == [first] * 3
    assert (effect.worked, await events_of(world)) == (1, 1)


async def test_of_many_at_once_one_is_done(world: World) -> None:
    effect, body = Effect(), canonical(Wish(request_id="r1"))
    calls = (answered_once(world.edge, ONE, ROUTE, "r1", body, effect) for _ in range(5))
    assert len(set(await asyncio.gather(*calls))) == 1
    assert await events_of(world) == 1


async def test_an_id_belongs_to_an_operator_a_route_and_a_body(world: World) -> None:
    effect, body = Effect(), canonical(Wish(request_id="r1"))
    await answered_once(world.edge, ONE, ROUTE, "r1", body, effect)
    await answered_once(world.edge, OTHER, ROUTE, "r1", body, effect)
    await answered_once(world.edge, ONE, "POST /v1/others", "r1", body, effect)
    assert await events_of(world) == 3
    for other in (canonical(Wish(request_id="r1", amount=2)), canonical(Wish(request_id="r1"), player="p2")):
        with pytest.raises(Problem) as found:
            await answered_once(world.edge, ONE, ROUTE, "r1", other, effect)
        assert (found.value.code, found.value.request_id, found.value.money) == (
            "request_id_reused",
            "r1",
            "none_moved",
        )
    assert await events_of(world) == 3


async def test_what_was_refused_may_be_asked_for_again(world: World) -> None:
    body = canonical(Wish(request_id="r1"))

    async def refusing(_: Connection) -> tuple[bytes, Sequence[StreamAppend]]:
        raise Problem("not_found", "not yet")

    with pytest.raises(Problem):
        await answered_once(world.edge, ONE, ROUTE, "r1", body, refusing)
    assert await answered_once(world.edge, ONE, ROUTE, "r1", body, Effect()) == b"answer 1"


@pytest.mark.parametrize(
    ("point", "done"), [("gateway.call.before_commit", 0), ("gateway.call.committed", 1)]
)
async def test_whatever_dies_it_is_done_once(
    world: World, monkeypatch: pytest.MonkeyPatch, point: str, done: int
) -> None:
    effect, body = Effect(), canonical(Wish(request_id="r1"))

    def die(reached: str) -> None:
        if reached == point:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(faults, "reach", die)
        with pytest.raises(KeyboardInterrupt):
            await answered_once(world.edge, ONE, ROUTE, "r1", body, effect)
    assert await events_of(world) == done
    answer = await answered_once(world.edge, ONE, ROUTE, "r1", body, effect)
    assert (answer, await events_of(world)) == (b"answer 1" if done else b"answer 2", 1)


async def test_an_effect_elsewhere_is_bound_before_and_kept_after(world: World) -> None:
    body, other = canonical(Wish(request_id="r1")), canonical(Wish(request_id="r1", amount=2))
    assert await bound(world.edge, ONE, ROUTE, "r1", body) is None
    with pytest.raises(Problem) as found:
        await bound(world.edge, ONE, ROUTE, "r1", other)
    assert found.value.code == "request_id_reused"
    assert await bound(world.edge, ONE, ROUTE, "r1", body) is None
    assert await kept(world.edge, ONE, ROUTE, "r1", body, b"first") == b"first"
    assert await kept(world.edge, ONE, ROUTE, "r1", body, b"second") == b"first"
    assert await bound(world.edge, ONE, ROUTE, "r1", body) == b"first"
    assert await bound(world.edge, OTHER, ROUTE, "r1", other) is None


def test_a_services_id_is_the_same_for_each_repetition_and_nobody_elses() -> None:
    ids = {
        derived_request_id(caller, route, request_id, step)
        for caller in (ONE, OTHER)
        for route in (ROUTE, "POST /v1/others")
        for request_id in ("r1", "r2")
        for step in ("", "open")
    }
    assert len(ids) == 16
    assert derived_request_id(ONE, ROUTE, "r1") in ids
    assert all(len(one) <= 64 for one in ids)
