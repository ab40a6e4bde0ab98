"""Placing and releasing holds, and tips, over gRPC with a real process."""

from __future__ import annotations

import asyncio

import grpc.aio

from servicekit.grpc import failure_of
from tests.wallet.edges.client import TIMEOUT_S, Client, fresh, new_round, refused
from upcard.wallet.v1 import wallet_pb2 as pb
from upcard_wallet.domain.ids import hold_id

HELD, REFUSED = pb.HOLD_OUTCOME_HELD, pb.HOLD_OUTCOME_REFUSED


async def test_each_command_of_a_batch_has_an_answer_of_its_own(client: Client) -> None:
    await client.funded(100)
    name = new_round()
    wrong = client.bet(name, 5)
    wrong.wagers[0].amount = -5
    placed = await client.place(
        client.bet(name, 60, 30, bet_id="first"),
        client.bet(name, 20),
        client.bet(name, 10, player="nobody"),
        wrong,
        client.bet(name, 10),
    )
    assert [(one.outcome, one.reason) for one in placed] == [
        (HELD, ""),
        (REFUSED, "funds_refused"),
        (REFUSED, "account_unknown"),
        (REFUSED, "wagers_invalid"),
        (HELD, ""),
    ]
    assert list(placed[0].holds) == [
        str(hold_id(name, client.player, "first", box, "ante")) for box in (1, 2)
    ]
    assert await client.has() == (0, 100)


async def test_the_same_batch_again_holds_nothing_more(client: Client) -> None:
    await client.funded(100)
    batch = [client.bet(new_round(), 10) for _ in range(3)]
    request_id = fresh()
    first = await client.place(*batch, request_id=request_id)
    assert await client.place(*batch, request_id=request_id) == first
    assert await client.place(*batch) == first, "with another request_id, found by the holds' own ids"
    assert await client.has() == (70, 30)


async def test_a_batch_with_a_used_request_id_is_refused(client: Client) -> None:
    await client.funded(100)
    request_id, name = fresh(), new_round()
    await client.place(client.bet(name, 10), request_id=request_id)
    other = pb.PlaceHoldsRequest(request_id=request_id, commands=[client.bet(name, 20)])
    answer = await refused(client.stub.PlaceHolds(other, timeout=TIMEOUT_S))
    assert answer == (grpc.StatusCode.INVALID_ARGUMENT, "request_id_reused")
    assert await client.has() == (90, 10)


async def test_of_two_batches_at_once_with_one_request_id_only_one_is_held(client: Client) -> None:
    await client.funded(100)
    request_id, name = fresh(), new_round()
    batches = [
        pb.PlaceHoldsRequest(request_id=request_id, commands=[client.bet(name, 10 + n)]) for n in range(8)
    ]
    answers = await asyncio.gather(
        *(client.stub.PlaceHolds(batch, timeout=TIMEOUT_S) for batch in batches), return_exceptions=True
    )
    (placed,) = [answer for answer in answers if isinstance(answer, pb.PlaceHoldsResponse)]
    assert [command.outcome for command in placed.commands] == [HELD]
    reasons = {failure_of(answer).reason for answer in answers if isinstance(answer, grpc.aio.AioRpcError)}
    assert reasons == {"request_id_reused"}
    held = (await client.has())[1]
    assert held in range(10, 18)


async def test_a_bet_id_with_other_wagers_is_refused(client: Client) -> None:
    await client.funded(100)
    name = new_round()
    await client.place(client.bet(name, 10, bet_id="b"))
    (again,) = await client.place(client.bet(name, 11, bet_id="b"))
    assert (again.outcome, again.reason) == (REFUSED, "bet_id_reused")
    assert await client.has() == (90, 10)


async def test_fifty_bets_of_ten_at_once_with_a_hundred_hold_exactly_ten(client: Client) -> None:
    await client.funded(100)
    name = new_round()
    answers = await asyncio.gather(*(client.place(client.bet(name, 10)) for _ in range(50)))
    assert sum(placed[0].outcome == HELD for placed in answers) == 10
    assert {placed[0].reason for placed in answers} == {"", "funds_refused"}
    assert await client.has() == (0, 100)


async def test_a_bet_that_was_refused_for_funds_succeeds_after_a_deposit(client: Client) -> None:
    await client.funded(5)
    name = new_round()
    (before,) = await client.place(client.bet(name, 10))
    await client.deposit(5)
    (after,) = await client.place(client.bet(name, 10))
    assert (before.reason, after.outcome) == ("funds_refused", HELD)


async def test_a_batch_has_a_bound(client: Client) -> None:
    name = new_round()
    for commands in (
        [],
        [client.bet(name, 1) for _ in range(2_001)],
        [client.bet(name, *[1] * 100) for _ in range(41)],
    ):
        request = pb.PlaceHoldsRequest(request_id=fresh(), commands=commands)
        answer = await refused(client.stub.PlaceHolds(request, timeout=TIMEOUT_S))
        assert answer == (grpc.StatusCode.INVALID_ARGUMENT, "invalid_argument")


async def test_the_largest_batch_and_its_answer_fit(client: Client) -> None:
    await client.funded(4_000)
    name = new_round()
    request_id = fresh()
    batch = [client.bet(name, 1, 1) for _ in range(2_000)]
    placed = await client.place(*batch, request_id=request_id)
    assert all(one.outcome == HELD for one in placed)
    assert await client.has() == (0, 4_000)
    assert await client.place(*batch, request_id=request_id) == placed
    holds = [hold for one in placed for hold in one.holds]
    outcomes = await _release(client, *holds)
    assert set(outcomes) == {pb.RELEASE_OUTCOME_RELEASED}
    assert await client.has() == (4_000, 0)


async def test_holds_are_released_once_and_whole(client: Client) -> None:
    await client.funded(100)
    (placed,) = await client.place(client.bet(new_round(), 30, 20))
    unknown = str(hold_id("t.1", "p", "b", 1, "ante"))
    first, second = placed.holds
    request_id = fresh()
    outcomes = await _release(client, first, unknown, request_id=request_id)
    assert outcomes == [pb.RELEASE_OUTCOME_RELEASED, pb.RELEASE_OUTCOME_HOLD_UNKNOWN]
    assert await client.has() == (80, 20)
    assert await _release(client, first, unknown, request_id=request_id) == outcomes
    assert await _release(client, first, second) == [pb.RELEASE_OUTCOME_RELEASED] * 2
    assert await client.has() == (100, 0)


async def test_a_release_says_why_and_of_what(client: Client) -> None:
    hold = str(hold_id("t.1", "p", "b", 1, "ante"))
    reason = pb.RELEASE_REASON_DECLINED
    for request in (
        pb.ReleaseHoldsRequest(request_id=fresh(), holds=[hold]),
        pb.ReleaseHoldsRequest(request_id=fresh(), reason=reason),
        pb.ReleaseHoldsRequest(request_id=fresh(), reason=reason, holds=["x"]),
        pb.ReleaseHoldsRequest(request_id=fresh(), reason=reason, holds=[hold] * 4_001),
    ):
        answer = await refused(client.stub.ReleaseHolds(request, timeout=TIMEOUT_S))
        assert answer == (grpc.StatusCode.INVALID_ARGUMENT, "invalid_argument")


async def test_the_holds_of_a_round_are_listed_in_pages(client: Client) -> None:
    await client.funded(100)
    name = new_round()
    placed = await client.place(*(client.bet(name, 10) for _ in range(3)), client.bet(name, 1_000))
    await _release(client, placed[0].holds[0])
    seen: list[pb.Hold] = []
    after, more = "", True
    while more:
        request = pb.ListHoldsRequest(round=name, after=after, limit=3)
        answer = await client.stub.ListHolds(request, timeout=TIMEOUT_S)
        seen += answer.holds
        more, after = answer.more, answer.holds[-1].hold
    states = {hold.hold: hold.state for hold in seen}
    assert states == {
        placed[0].holds[0]: pb.HOLD_STATE_RELEASED,
        placed[1].holds[0]: pb.HOLD_STATE_HELD,
        placed[2].holds[0]: pb.HOLD_STATE_HELD,
        placed[3].holds[0]: pb.HOLD_STATE_REFUSED,
    }
    still_open = await client.stub.ListHolds(
        pb.ListHoldsRequest(round=name, open_only=True), timeout=TIMEOUT_S
    )
    assert {hold.hold for hold in still_open.holds} == {placed[1].holds[0], placed[2].holds[0]}
    assert {hold.wager.amount for hold in still_open.holds} == {10}
    assert {hold.player for hold in still_open.holds} == {client.player}


async def test_a_tip_is_given_once(client: Client) -> None:
    account = await client.funded(100)
    request = pb.PostTipRequest(request_id=fresh(), account=account, amount=7, table="t1", dealer="d1")
    first = await client.stub.PostTip(request, timeout=TIMEOUT_S)
    assert first.moved.balance.cash == 93
    assert await client.stub.PostTip(request, timeout=TIMEOUT_S) == first
    request.amount, request.request_id = 94, fresh()
    assert (await client.stub.PostTip(request, timeout=TIMEOUT_S)).refusal.reason == "funds_refused"
    assert await client.has() == (93, 0)


async def _release(
    client: Client, *holds: str, request_id: str | None = None
) -> list[pb.ReleaseOutcome.ValueType]:
    request = pb.ReleaseHoldsRequest(
        request_id=request_id or fresh(), holds=holds, reason=pb.RELEASE_REASON_WITHDRAWN
    )
    return list((await client.stub.ReleaseHolds(request, timeout=TIMEOUT_S)).outcomes)
