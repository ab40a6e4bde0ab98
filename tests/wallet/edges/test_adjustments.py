"""Adjustments: two people, each vouched for in a call of their own."""

from __future__ import annotations

import asyncio

import asyncpg
import grpc
import pytest

from servicekit.grpc import Actor, acting_as
from tests.wallet.edges.client import TIMEOUT_S, Client, fresh, refused
from tests.wallet.edges.processes import PLATFORM, staff
from upcard.wallet.v1 import wallet_pb2 as pb

ANNA, BERT, CARL = staff("anna", "support"), staff("bert", "operations"), staff("carl", "admin")


async def test_money_moves_when_another_person_has_approved(client: Client) -> None:
    account = await client.funded(100)
    proposed = (await _propose(client, 40)).adjustment
    assert (proposed.state, proposed.proposer) == (pb.ADJUSTMENT_STATE_PROPOSED, "staff:anna")
    assert await client.has() == (100, 0)
    approved = (await _decide(client, proposed.adjustment, BERT)).adjustment
    assert (approved.state, approved.decided_by) == (pb.ADJUSTMENT_STATE_APPROVED, "staff:bert")
    assert approved.transaction
    assert (approved.account, approved.amount) == (account, 40)
    assert await client.has() == (140, 0)


async def test_who_proposed_cannot_approve(client: Client) -> None:
    await client.funded(100)
    with acting_as(BERT):
        proposed = (await _propose_as_is(client, 40)).adjustment
    assert (await _decide(client, proposed.adjustment, BERT)).refusal.reason == "two_people_needed"
    assert await client.has() == (100, 0)
    assert (await _decide(client, proposed.adjustment, CARL)).HasField("adjustment")


async def test_the_database_itself_wants_two_people(client: Client, owners_database: str) -> None:
    await client.funded(100)
    proposed = (await _propose(client, 40)).adjustment
    connection = await asyncpg.connect(owners_database)
    try:
        transaction = await connection.fetchval("SELECT transaction FROM wallet.transactions LIMIT 1")
        with pytest.raises(asyncpg.CheckViolationError, match="two_people"):
            await connection.execute(
                "INSERT INTO wallet.adjustment_decisions"
                " (adjustment, proposer, approved, decided_by, transaction)"
                " VALUES ($1::uuid, 'staff:anna', true, 'staff:anna', $2)",
                proposed.adjustment,
                transaction,
            )
        for table in ("adjustment_proposals", "adjustment_decisions"):
            with pytest.raises(asyncpg.InsufficientPrivilegeError, match="only ever added"):
                await connection.execute(f"DELETE FROM wallet.{table}")  # noqa: S608 - a name from above
    finally:
        await connection.close()


async def test_a_decision_stands(client: Client) -> None:
    await client.funded(100)
    proposed = (await _propose(client, 40)).adjustment
    first = await _decide(client, proposed.adjustment, BERT)
    assert await _decide(client, proposed.adjustment, BERT) == first, "the same word of the same person"
    assert (await _decide(client, proposed.adjustment, CARL)).refusal.reason == "adjustment_decided"
    rejected = await _decide(client, proposed.adjustment, BERT, approve=False)
    assert rejected.refusal.reason == "adjustment_decided"
    assert await client.has() == (140, 0)


async def test_two_who_decide_at_once_are_not_both_right(client: Client) -> None:
    await client.funded(100)
    for _ in range(5):
        proposed = (await _propose(client, 1)).adjustment
        answers = await asyncio.gather(
            _decide(client, proposed.adjustment, BERT),
            _decide(client, proposed.adjustment, CARL),
            _decide(client, proposed.adjustment, CARL, approve=False),
        )
        assert sum(answer.HasField("adjustment") for answer in answers) == 1
        assert {answer.refusal.reason for answer in answers} == {"", "adjustment_decided"}
    approved = await _list(client, proposed_only=False)
    mine = [one for one in approved if one.account == client.account and one.transaction]
    assert await client.has() == (100 + len(mine), 0)


async def test_a_rejected_proposal_moves_nothing(client: Client) -> None:
    await client.funded(100)
    proposed = (await _propose(client, -40)).adjustment
    rejected = (await _decide(client, proposed.adjustment, BERT, approve=False)).adjustment
    assert (rejected.state, rejected.transaction) == (pb.ADJUSTMENT_STATE_REJECTED, "")
    assert await client.has() == (100, 0)


async def test_what_is_not_there_cannot_be_taken_and_stays_proposed(client: Client) -> None:
    await client.funded(10)
    proposed = (await _propose(client, -40)).adjustment
    assert (await _decide(client, proposed.adjustment, BERT)).refusal.reason == "funds_refused"
    await client.deposit(30)
    assert (await _decide(client, proposed.adjustment, BERT)).HasField("adjustment")
    assert await client.has() == (0, 0)


@pytest.mark.parametrize(
    ("amount", "reason", "refusal"),
    [(0, "goodwill", "amount_invalid"), (5, "Good Will", "reason_invalid"), (5, "", "reason_invalid")],
)
async def test_a_proposal_that_cannot_be(client: Client, amount: int, reason: str, refusal: str) -> None:
    await client.funded(10)
    assert (await _propose(client, amount, reason=reason)).refusal.reason == refusal


async def test_unknown_ones(client: Client) -> None:
    assert (await _propose(client, 5)).refusal.reason == "account_unknown"
    unknown = "01890a5d-ac96-774b-bcce-b302099a8057"
    assert (await _decide(client, unknown, BERT)).refusal.reason == "adjustment_unknown"


async def test_roles(client: Client) -> None:
    await client.funded(10)
    proposed = (await _propose(client, 5)).adjustment
    for actor, reason in ((PLATFORM, "actor_not_allowed"), (staff("eve", "dealer"), "role_missing")):
        with acting_as(actor):
            request = pb.DecideAdjustmentRequest(
                request_id=fresh(), adjustment=proposed.adjustment, approve=True
            )
            answer = await refused(client.stub.DecideAdjustment(request, timeout=TIMEOUT_S))
            assert answer == (grpc.StatusCode.PERMISSION_DENIED, reason)
            answer = await refused(
                client.stub.ListAdjustments(pb.ListAdjustmentsRequest(), timeout=TIMEOUT_S)
            )
            assert answer == (grpc.StatusCode.PERMISSION_DENIED, reason)
    with acting_as(ANNA):
        request = pb.DecideAdjustmentRequest(request_id=fresh(), adjustment=proposed.adjustment, approve=True)
        answer = await refused(client.stub.DecideAdjustment(request, timeout=TIMEOUT_S))
        assert answer == (grpc.StatusCode.PERMISSION_DENIED, "role_missing")
    assert await client.has() == (10, 0)


async def test_what_waits_is_listed_in_pages(client: Client) -> None:
    await client.funded(10)
    ids = [(await _propose(client, amount)).adjustment.adjustment for amount in (1, 2, 3)]
    await _decide(client, ids[1], BERT)
    waiting = [one.adjustment for one in await _list(client) if one.account == client.account]
    assert waiting == [ids[0], ids[2]]


async def _propose(client: Client, amount: int, *, reason: str = "goodwill") -> pb.ProposeAdjustmentResponse:
    with acting_as(ANNA):
        return await _propose_as_is(client, amount, reason=reason)


async def _propose_as_is(
    client: Client, amount: int, *, reason: str = "goodwill"
) -> pb.ProposeAdjustmentResponse:
    request = pb.ProposeAdjustmentRequest(
        request_id=fresh(),
        account=client.account,
        amount=amount,
        book=pb.ADJUSTED_BOOK_CASH,
        against=pb.ADJUSTED_AGAINST_HOUSE,
        reason=reason,
    )
    return await client.stub.ProposeAdjustment(request, timeout=TIMEOUT_S)


async def _decide(
    client: Client, adjustment: str, actor: Actor, *, approve: bool = True
) -> pb.DecideAdjustmentResponse:
    request = pb.DecideAdjustmentRequest(request_id=fresh(), adjustment=adjustment, approve=approve)
    with acting_as(actor):
        return await client.stub.DecideAdjustment(request, timeout=TIMEOUT_S)


async def _list(client: Client, *, proposed_only: bool = True) -> list[pb.Adjustment]:
    found: list[pb.Adjustment] = []
    after, more = "", True
    with acting_as(staff("audrey", "auditor")):
        while more:
            request = pb.ListAdjustmentsRequest(proposed_only=proposed_only, after=after, limit=2)
            answer = await client.stub.ListAdjustments(request, timeout=TIMEOUT_S)
            found += answer.adjustments
            more, after = answer.more, found[-1].adjustment if found else ""
    return found
