"""Tips of players whose money lies with their operator: asked for there first, and given once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import grpc
import pytest

from eventstore import faults
from eventstore.postgres import Pool, PostgresEventStore, open_pool
from tests.wallet.edges.client import TIMEOUT_S, Client, fresh, new_round, refused
from tests.wallet.edges.serving import served
from tests.wallet.ledger.test_audit import audited
from tests.wallet.partner import Trick
from tests.wallet.seamless.world import QUICK, SeamlessWorld, seamless_world
from upcard.wallet.v1 import wallet_pb2 as pb
from upcard_wallet.adapters.postgres.old_holds import QuestionTables
from upcard_wallet.app.old_holds import OldCommand, Word
from upcard_wallet.entrypoints.old_holds import OldHolds


@pytest.fixture
async def pool(service_database: str) -> AsyncIterator[Pool]:
    async with await open_pool(service_database, application_name="wallet", max_size=12) as opened:
        yield opened


@pytest.fixture
async def world(pool: Pool) -> AsyncIterator[SeamlessWorld]:
    settings = replace(QUICK, answer_margin_s=0.5)
    async with (
        PostgresEventStore(pool) as store,
        seamless_world(pool, store, "op1", settings=settings) as world,
    ):
        await world.guest(money=100)
        world.start_work()
        yield world


@pytest.fixture
async def client(world: SeamlessWorld) -> AsyncIterator[Client]:
    async with served(world.wallet, world.pool) as client:
        yield client


def tip_of(amount: int, request_id: str | None = None) -> pb.PostTipRequest:
    return pb.PostTipRequest(
        request_id=request_id or fresh(), account="p1-EUR", amount=amount, table="t1", dealer="d1"
    )


async def give(
    client: Client, request: pb.PostTipRequest, timeout_s: float = TIMEOUT_S
) -> pb.PostTipResponse:
    return await client.stub.PostTip(request, timeout=timeout_s)


async def test_a_tip_is_taken_from_the_operators_wallet_once(client: Client, world: SeamlessWorld) -> None:
    request = tip_of(7)
    first = await give(client, request)
    assert first.moved.balance.held == 0
    assert await give(client, request) == first
    assert world.server.balances["p1", "EUR"] == 93
    assert await world.books() == {"operator": -7, "tips": 7}
    await world.agrees_with_partners()
    assert [kind for kind, _ in world.server.calls] == ["bet", "win"], "the win of 0 says that it is over"
    assert await audited(world) == []
    assert await world.hold_states_left() == {"settled"}


async def test_each_tip_is_one_of_its_own(client: Client, world: SeamlessWorld) -> None:
    assert (await give(client, tip_of(7))).HasField("moved")
    assert (await give(client, tip_of(7))).HasField("moved")
    assert await world.books() == {"operator": -14, "tips": 14}
    await world.agrees_with_partners()


async def test_a_refusal_is_an_answer(client: Client, world: SeamlessWorld) -> None:
    request = tip_of(101)
    assert (await give(client, request)).refusal.reason == "funds_refused"
    world.server.give("p1", 100)
    assert (await give(client, request)).refusal.reason == "funds_refused", "an answer stays"
    assert (await give(client, tip_of(0))).refusal.reason == "amount_invalid"
    await world.agrees_with_partners()


async def test_without_an_answer_in_time_it_is_given_back(client: Client, world: SeamlessWorld) -> None:
    world.server.script("bet", Trick.HANGS)
    request = tip_of(7)
    answer = await refused(give(client, request, 1.0))
    assert answer == (grpc.StatusCode.UNAVAILABLE, "tip_outcome_unknown")
    await world.quiet()
    assert (await give(client, request)).refusal.reason == "hold_answered_late"
    assert world.server.balances["p1", "EUR"] == 100
    await world.agrees_with_partners()


async def test_one_that_dies_with_the_tip_held_posts_it_when_asked_again(
    client: Client, world: SeamlessWorld
) -> None:
    request = tip_of(7)
    with faults.arm(_fail_at("wallet.tip.held")):
        await refused(give(client, request))
    assert (await world.has())[1] == 7
    assert (await give(client, request)).moved.balance.held == 0
    assert await world.books() == {"operator": -7, "tips": 7}
    await world.agrees_with_partners()


async def test_a_tip_that_nobody_asks_for_again_is_given_back(client: Client, world: SeamlessWorld) -> None:
    request = tip_of(7)
    with faults.arm(_fail_at("wallet.tip.held")):
        await refused(give(client, request))
    old = OldHolds(world.pool, world.wallet, QuestionTables(), Nobody(), world.store.announce, age_s=0.001)
    assert await old.turn() == 1
    await world.agrees_with_partners()
    assert world.server.balances["p1", "EUR"] == 100
    assert (await give(client, request)).refusal.reason == "hold_answered_late"
    assert await world.books() == {}


async def test_no_bet_can_pass_for_a_tip(client: Client) -> None:
    bet = client.bet(new_round(), 10, player="p1")
    bet.wagers[0].wager = "tip"
    (placed,) = await client.place(bet)
    assert placed.reason == "wagers_invalid"


class Nobody:
    """A table that must not be asked."""

    async def word_on(self, command: OldCommand, timeout_s: float) -> Word | None:
        raise AssertionError(f"asked about {command} within {timeout_s}")


def _fail_at(wanted: str) -> faults.Hook:
    def fail(point: str) -> None:
        if point == wanted:
            raise InterruptedError

    return fail
