"""Calls to an operator's wallet that wait for people: tried again by one person, ended by two."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import asyncpg
import grpc
import pytest

from eventstore.postgres import Pool, PostgresEventStore, open_pool
from servicekit.grpc import Actor, acting_as
from tests.wallet.edges.client import TIMEOUT_S, Client, fresh, refused
from tests.wallet.edges.processes import PLATFORM, staff
from tests.wallet.edges.serving import served
from tests.wallet.ledger.test_audit import audited
from tests.wallet.ledger.world import bet, round_resettled, round_settled, settled
from tests.wallet.partner import Trick
from tests.wallet.seamless.world import SeamlessWorld, seamless_world
from upcard.wallet.v1 import wallet_pb2 as pb

ANNA, BERT, CARL = staff("anna", "support"), staff("bert", "operations"), staff("carl", "admin")
BY_HAND, OWED = pb.PARKED_ENDING_DONE_BY_HAND, pb.PARKED_ENDING_OWED_BY_PLAYER
APPROVED, REJECTED = pb.PARKED_PROPOSAL_STATE_APPROVED, pb.PARKED_PROPOSAL_STATE_REJECTED


@pytest.fixture
async def pool(service_database: str) -> AsyncIterator[Pool]:
    async with await open_pool(service_database, application_name="wallet", max_size=12) as opened:
        yield opened


@pytest.fixture
async def world(pool: Pool) -> AsyncIterator[SeamlessWorld]:
    async with PostgresEventStore(pool) as store, seamless_world(pool, store, "op1") as world:
        world.start_work()
        yield world


@pytest.fixture
async def client(world: SeamlessWorld) -> AsyncIterator[Client]:
    async with served(world.wallet, world.pool) as client:
        yield client


async def listed(client: Client, actor: Actor = ANNA) -> list[pb.ParkedCall]:
    with acting_as(actor):
        answer = await client.stub.ListParkedCalls(
            pb.ListParkedCallsRequest(operator="op1"), timeout=TIMEOUT_S
        )
    return list(answer.calls)


async def retry(client: Client, call: str, actor: Actor = BERT) -> pb.RetryParkedCallResponse:
    request = pb.RetryParkedCallRequest(request_id=fresh(), call=call, reason="they mended it")
    with acting_as(actor):
        return await client.stub.RetryParkedCall(request, timeout=TIMEOUT_S)


async def propose(
    client: Client, call: str, ending: pb.ParkedEnding.ValueType, actor: Actor = ANNA
) -> pb.ProposeParkedEndingResponse:
    request = pb.ProposeParkedEndingRequest(
        request_id=fresh(), call=call, ending=ending, reason="a letter of the operator"
    )
    with acting_as(actor):
        return await client.stub.ProposeParkedEnding(request, timeout=TIMEOUT_S)


async def decide(
    client: Client, proposal: str, actor: Actor = BERT, *, approve: bool = True
) -> pb.DecideParkedEndingResponse:
    request = pb.DecideParkedEndingRequest(request_id=fresh(), proposal=proposal, approve=approve)
    with acting_as(actor):
        return await client.stub.DecideParkedEnding(request, timeout=TIMEOUT_S)


async def win_that_is_refused(world: SeamlessWorld) -> None:
    """A settled round whose win the partner does not take."""
    await world.guest(money=100)
    await world.place(bet((1, "ante", 30)))
    world.server.script("win", Trick.REFUSES)
    result = settled((1, "ante", 30, 80))
    await world.hear(("t1.1", result), ("t1.1", round_settled(result)))
    await world.quiet()


async def win_that_is_gone(world: SeamlessWorld) -> None:
    """A correction that takes 50 from a player who has taken everything home."""
    await world.guest(money=100)
    await world.place(bet((1, "ante", 30)))
    first, second = settled((1, "ante", 30, 80)), settled((1, "ante", 30, 30), revision=2)
    await world.hear(("t1.1", first), ("t1.1", round_settled(first)))
    await world.quiet()
    world.server.give("p1", -150)
    await world.hear(("t1.1", second), ("t1.1", round_resettled(1, second)))
    await world.quiet()


async def test_what_waits_is_listed_with_what_it_holds_up(client: Client, world: SeamlessWorld) -> None:
    await win_that_is_gone(world)
    (call,) = await listed(client)
    assert (call.kind, call.amount, call.currency) == (pb.PARKED_KIND_ROLLBACK_OF_WIN, 80, "EUR")
    assert (call.round, call.account, call.reason, call.behind) == ("t1.1", "p1-EUR", "refused_funds", 1)
    assert call.recorded_at.ToMicroseconds() <= call.parked_at.ToMicroseconds()
    with acting_as(ANNA):
        rest = await client.stub.ListParkedCalls(
            pb.ListParkedCallsRequest(operator="op1", after=call.cursor, limit=1), timeout=TIMEOUT_S
        )
    assert (list(rest.calls), rest.more) == ([], False)


async def test_one_person_has_a_call_tried_again(client: Client, world: SeamlessWorld) -> None:
    await win_that_is_refused(world)
    (call,) = await listed(client)
    assert not (await retry(client, call.call)).HasField("refusal")
    await world.agrees_with_partners()
    assert world.server.balances["p1", "EUR"] == 150
    assert (await retry(client, call.call)).refusal.reason == "call_not_parked"


async def test_what_a_player_cannot_give_back_is_owed(client: Client, world: SeamlessWorld) -> None:
    await win_that_is_gone(world)
    (call,) = await listed(client)
    proposal = (await propose(client, call.call, OWED)).proposal
    assert (proposal.state, proposal.proposer) == (pb.PARKED_PROPOSAL_STATE_PROPOSED, "staff:anna")
    assert [one.proposal for one in (await listed(client))[0].proposals] == [proposal.proposal]
    assert await world.has() == (0, 0, 0, 0)
    decided = (await decide(client, proposal.proposal)).proposal
    assert (decided.state, decided.decided_by) == (APPROVED, "staff:bert")
    assert decided.transaction
    assert await world.has() == (0, 0, 0, 80)
    await world.agrees_with_partners()
    assert world.server.balances["p1", "EUR"] == 30, "what stood behind it was told"
    assert await audited(world) == []
    assert await listed(client) == []


async def test_what_is_done_by_hand_moves_nothing_here(client: Client, world: SeamlessWorld) -> None:
    await win_that_is_refused(world)
    (call,) = await listed(client)
    proposal = (await propose(client, call.call, BY_HAND)).proposal
    books = await world.books()
    assert (await decide(client, proposal.proposal)).proposal.state == APPROVED
    assert await world.books() == books
    assert await world.calls() == [("bet", "accepted", 30), ("win", "done", 80)]


async def test_who_proposed_cannot_approve(client: Client, world: SeamlessWorld, database: str) -> None:
    await win_that_is_gone(world)
    (call,) = await listed(client)
    proposal = (await propose(client, call.call, OWED, BERT)).proposal
    assert (await decide(client, proposal.proposal)).refusal.reason == "two_people_needed"
    owner = await asyncpg.connect(database)
    try:
        with pytest.raises(asyncpg.CheckViolationError, match="two_people"):
            await owner.execute(
                "INSERT INTO wallet.parked_verdicts (proposal, proposer, approved, decided_by)"
                " VALUES ($1::uuid, 'staff:bert', true, 'staff:bert')",
                proposal.proposal,
            )
        for table in ("parked_proposals", "parked_verdicts"):
            with pytest.raises(asyncpg.InsufficientPrivilegeError, match="never changed"):
                await owner.execute(f"DELETE FROM wallet.{table}")  # noqa: S608 - a name from above
    finally:
        await owner.close()
    assert (await decide(client, proposal.proposal, CARL)).proposal.state == APPROVED


async def test_a_decision_stands(client: Client, world: SeamlessWorld) -> None:
    await win_that_is_gone(world)
    (call,) = await listed(client)
    first = (await propose(client, call.call, OWED)).proposal.proposal
    assert (await decide(client, first, approve=False)).proposal.state == REJECTED
    assert (await decide(client, first, approve=False)).proposal.state == REJECTED, "the same word again"
    assert (await decide(client, first)).refusal.reason == "proposal_decided"
    assert (await decide(client, first, CARL, approve=False)).refusal.reason == "proposal_decided"
    second = (await propose(client, call.call, OWED)).proposal.proposal
    third = (await propose(client, call.call, BY_HAND)).proposal.proposal
    assert (await decide(client, second)).proposal.state == APPROVED
    assert (await decide(client, third)).refusal.reason == "call_not_parked"
    assert await world.has() == (0, 0, 0, 80)


async def test_two_who_decide_at_once_end_it_once(client: Client, world: SeamlessWorld) -> None:
    await win_that_is_gone(world)
    (call,) = await listed(client)
    proposals = [(await propose(client, call.call, ending)).proposal.proposal for ending in (OWED, BY_HAND)]
    answers = await asyncio.gather(
        *(decide(client, one, actor) for one in proposals for actor in (BERT, CARL))
    )
    approved = {one.proposal.proposal for one in answers if one.HasField("proposal")}
    assert len(approved) == 1
    assert (await world.has())[3] == (80 if approved == {proposals[0]} else 0)
    await world.quiet()
    await world.all_is_explained()


async def test_only_a_win_that_was_to_be_taken_back_can_be_owed(client: Client, world: SeamlessWorld) -> None:
    await win_that_is_refused(world)
    (call,) = await listed(client)
    assert (await propose(client, call.call, OWED)).refusal.reason == "ending_invalid"
    assert (await propose(client, fresh_uuid(), BY_HAND)).refusal.reason == "call_not_parked"


def fresh_uuid() -> str:
    return "00000000-0000-0000-0000-0000000000aa"


async def test_people_need_their_roles(client: Client) -> None:
    call = fresh_uuid()
    denied = (grpc.StatusCode.PERMISSION_DENIED, "role_missing")
    auditor = staff("eva", "auditor")
    assert await refused(propose(client, call, BY_HAND, auditor)) == denied
    assert await refused(decide(client, call, ANNA)) == denied
    assert await refused(retry(client, call, ANNA)) == denied
    assert await refused(listed(client, staff("tom", "dealer"))) == denied
    assert await listed(client, auditor) == []
    assert await refused(retry(client, call, PLATFORM)) == (
        grpc.StatusCode.PERMISSION_DENIED,
        "actor_not_allowed",
    )


async def test_an_ending_has_to_be_said(client: Client) -> None:
    answer = await refused(propose(client, fresh_uuid(), pb.PARKED_ENDING_UNSPECIFIED))
    assert answer == (grpc.StatusCode.INVALID_ARGUMENT, "invalid_argument")
