"""Holds whose answers are told one after the other: no partner delays another's. All in this process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import grpc
import pytest

from eventstore.postgres import Pool, PostgresEventStore, open_pool
from tests.wallet.edges.client import TIMEOUT_S, Client, fresh, new_round, refused
from tests.wallet.edges.serving import served
from tests.wallet.partner import Trick
from tests.wallet.seamless.world import QUICK, SeamlessWorld, seamless_world
from upcard.wallet.v1 import wallet_pb2 as pb

HELD, REFUSED, UNKNOWN = pb.HOLD_OUTCOME_HELD, pb.HOLD_OUTCOME_REFUSED, pb.HOLD_OUTCOME_UNKNOWN
Stream = AsyncIterator[pb.AskHoldsResponse]


@pytest.fixture
async def pool(service_database: str) -> AsyncIterator[Pool]:
    async with await open_pool(service_database, application_name="wallet", max_size=12) as opened:
        yield opened


@pytest.fixture
async def world(pool: Pool) -> AsyncIterator[SeamlessWorld]:
    settings = replace(QUICK, answer_margin_s=0.5)
    async with (
        PostgresEventStore(pool) as store,
        seamless_world(pool, store, "op1", "op2", settings=settings) as world,
    ):
        yield world


@pytest.fixture
async def client(world: SeamlessWorld) -> AsyncIterator[Client]:
    async with served(world.wallet, world.pool) as client:
        yield client


def ask(
    client: Client, *commands: pb.HoldCommand, request_id: str | None = None, timeout_s: float = TIMEOUT_S
) -> Stream:
    request = pb.AskHoldsRequest(request_id=request_id or fresh(), commands=commands)
    return aiter(client.stub.AskHolds(request, timeout=timeout_s))


async def rest_of(stream: Stream) -> dict[int, pb.PlacedHolds]:
    """What is told up to the end; each command once."""
    told = [one async for answer in stream for one in answer.answers]
    found = {one.index: one.placed for one in told}
    assert len(found) == len(told)
    return found


async def test_each_command_is_answered_once_as_the_whole_batch_would_be(
    client: Client, world: SeamlessWorld
) -> None:
    await client.funded(100)
    await world.guest("g1", 50)
    name = new_round()
    commands = [
        client.bet(name, 60),
        client.bet(name, 50),
        client.bet(name, 10, player="nobody"),
        client.bet(name, 30, player="g1"),
        client.bet(name, 30, player="g1"),
    ]
    request_id = fresh()
    found = await rest_of(ask(client, *commands, request_id=request_id))
    outcomes = [(found[place].outcome, found[place].reason) for place in range(3)]
    assert outcomes == [(HELD, ""), (REFUSED, "funds_refused"), (REFUSED, "account_unknown")]
    assert {found[3].outcome, found[4].outcome} == {HELD, REFUSED}
    assert await rest_of(ask(client, *commands, request_id=request_id)) == found, "as it is kept"
    placed = await client.place(*commands)
    assert dict(enumerate(placed)) == found, "the other call finds the same holds"


async def test_a_slow_partner_delays_its_own_answers_alone(client: Client, world: SeamlessWorld) -> None:
    await client.funded(100)
    await world.guest("slow", 50)
    await world.guest("quick", 50, operator="op2")
    world.server.script("bet", Trick.HANGS)
    name = new_round()
    slow, quick = client.bet(name, 30, player="slow"), client.bet(name, 30, player="quick")
    stream = ask(client, slow, quick, client.bet(name, 10))
    heard: dict[int, pb.PlacedHolds] = {}
    while len(heard) < 2:
        heard |= {one.index: one.placed for one in (await anext(stream)).answers}
    assert {place: placed.outcome for place, placed in heard.items()} == {1: HELD, 2: HELD}
    assert await world.hold_states(slow.bet_id) == ["requested"]
    world.server.release_late()
    assert {place: placed.outcome for place, placed in (await rest_of(stream)).items()} == {0: HELD}


async def test_a_command_that_stands_in_a_batch_twice_is_answered_twice(
    client: Client, world: SeamlessWorld
) -> None:
    await client.funded(10)
    await world.guest("g1", 10)
    name = new_round()
    inner, outer = client.bet(name, 10), client.bet(name, 10, player="g1")
    found = await rest_of(ask(client, inner, outer, inner, outer))
    assert [found[place].outcome for place in range(4)] == [HELD] * 4
    assert found[0] == found[2]
    assert found[1] == found[3]


async def test_what_a_partner_does_not_answer_is_unknown_and_nothing_is_kept(
    client: Client, world: SeamlessWorld
) -> None:
    await client.funded(10)
    await world.guest("g1", 10)
    world.server.script("bet", Trick.HANGS)
    name, request_id = new_round(), fresh()
    commands = [client.bet(name, 10, player="g1"), client.bet(name, 10)]
    found = await rest_of(ask(client, *commands, request_id=request_id, timeout_s=1.0))
    assert [found[place].outcome for place in range(2)] == [UNKNOWN, HELD]
    world.start_work()
    await world.quiet()
    found = await rest_of(ask(client, *commands, request_id=request_id))
    assert [(found[place].outcome, found[place].reason) for place in range(2)] == [
        (REFUSED, "hold_answered_late"),
        (HELD, ""),
    ]


async def test_a_caller_that_goes_away_leaves_nothing_held_for_ever(
    client: Client, world: SeamlessWorld
) -> None:
    await world.guest("g1", 10)
    world.server.script("bet", Trick.HANGS)
    name = new_round()
    bet = client.bet(name, 10, player="g1")
    request = pb.AskHoldsRequest(request_id=fresh(), commands=[bet])
    call = client.stub.AskHolds(request, timeout=1.0)
    await world.server.called("bet")
    call.cancel()
    world.start_work()
    await world.quiet()
    assert await world.hold_states(bet.bet_id) == ["released"]
    assert world.server.balances["g1", "EUR"] == 10


async def test_a_used_request_id_is_refused(client: Client) -> None:
    await client.funded(100)
    request_id, name = fresh(), new_round()
    await rest_of(ask(client, client.bet(name, 10), request_id=request_id))
    answer = await refused(rest_of(ask(client, client.bet(name, 20), request_id=request_id)))
    assert answer == (grpc.StatusCode.INVALID_ARGUMENT, "request_id_reused")
    assert await client.has() == (90, 10)


async def test_a_batch_has_a_bound(client: Client) -> None:
    name = new_round()
    for commands in ([], [client.bet(name, 1) for _ in range(2_001)]):
        answer = await refused(rest_of(ask(client, *commands)))
        assert answer == (grpc.StatusCode.INVALID_ARGUMENT, "invalid_argument")


async def test_the_largest_batch_is_told_in_parts_and_kept_whole(client: Client) -> None:
    await client.funded(4_000)
    name, request_id = new_round(), fresh()
    batch = [client.bet(name, 1, 1) for _ in range(2_000)]
    parts = [len(answer.answers) async for answer in ask(client, *batch, request_id=request_id)]
    assert sum(parts) == 2_000
    assert len(parts) > 1
    (kept,) = [answer async for answer in ask(client, *batch, request_id=request_id)]
    assert sorted(one.index for one in kept.answers) == list(range(2_000))


async def test_calls_at_once_with_the_same_request_id_say_the_same(client: Client) -> None:
    await client.funded(100)
    bet, request_id = client.bet(new_round(), 10), fresh()
    answers = await asyncio.gather(*(rest_of(ask(client, bet, request_id=request_id)) for _ in range(10)))
    assert {one[0].outcome for one in answers} == {HELD}
    assert await client.has() == (90, 10)
