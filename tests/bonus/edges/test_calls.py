"""The calls over gRPC: who may make them, answers that are given once, refusals, pages."""

from __future__ import annotations

import asyncio
from typing import Any

import grpc
import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from servicekit.grpc import acting_as
from tests.bonus.edges.client import (
    PLATFORM,
    TIMEOUT_S,
    Client,
    fresh,
    later,
    player,
    refused,
    staff,
)
from tests.bonus.office.world import World
from upcard.bonus.v1 import bonus_pb2 as pb
from upcard_bonus.entrypoints.grpc.access import ACCESS, BONUS
from upcard_table.adapters.bonus.fence import BonusFence
from upcard_table.app.calls import By

INVALID = grpc.StatusCode.INVALID_ARGUMENT


def test_every_call_says_who_may_make_it() -> None:
    assert set(ACCESS) == set(BONUS.methods_by_name)
    assert all(access.callers for access in ACCESS.values()), "no call is open to every service"


async def test_a_jackpot_is_opened_changed_and_shown(client: Client, world: World) -> None:
    made = await client.open(must_hit_by=9_000, tables=["t1", "t2"])
    jackpot = made.jackpot
    assert (jackpot.pool, jackpot.cycle, len(jackpot.commitment)) == (1_000, 1, 64)
    assert list(jackpot.settings.tables) == ["t1", "t2"]
    opened = (await world.contents("jackpot-j1"))[0]
    assert (opened.actor, opened.type) == ("staff:s1", "JackpotOpened")
    settings = pb.JackpotSettings(seed=2_000, contribution_ppm=1, must_hit_by=9_000, reseed=True)
    request = pb.ChangeJackpotRequest(request_id=fresh(), jackpot="j1", settings=settings)
    with acting_as(staff("admin")):
        changed = await client.stub.ChangeJackpot(request, timeout=TIMEOUT_S)
        assert await client.stub.ChangeJackpot(request, timeout=TIMEOUT_S) == changed
    assert changed.jackpot.settings == settings
    found = await client.stub.GetJackpot(pb.GetJackpotRequest(jackpot="j1"), timeout=TIMEOUT_S)
    assert found.jackpot == changed.jackpot
    unknown = await client.stub.GetJackpot(pb.GetJackpotRequest(jackpot="j9"), timeout=TIMEOUT_S)
    assert unknown.refusal.reason == "jackpot_unknown"
    assert len(await world.events("jackpot-j1")) == 3


async def test_the_same_request_gives_the_same_answer_and_another_body_is_refused(client: Client) -> None:
    request_id = fresh()
    first = await client.open(request_id=request_id)
    assert await client.open(request_id=request_id) == first
    assert await refused(client.open(request_id=request_id, seed=5)) == (INVALID, "request_id_reused")
    exists = await client.open(seed=5)
    assert (exists.refusal.reason, bool(exists.refusal.message)) == ("jackpot_exists", True)


async def test_the_same_request_from_many_at_once_has_one_effect(client: Client, world: World) -> None:
    request_id, expires_at = fresh(), later()
    answers = await asyncio.gather(
        *(client.grant(request_id=request_id, expires_at=expires_at) for _ in range(8))
    )
    assert all(answer == answers[0] for answer in answers)
    assert len(await world.events("freebet-f1")) == 1


async def test_who_may_not_is_told_so(client: Client) -> None:
    denied = grpc.StatusCode.PERMISSION_DENIED
    assert await refused(client.open(actor=staff("support"))) == (denied, "role_missing")
    assert await refused(client.open(actor=PLATFORM)) == (denied, "actor_not_allowed")
    assert await refused(client.grant(actor=staff("auditor"))) == (denied, "role_missing")
    assert await refused(client.grant(actor=player("p1"))) == (denied, "actor_not_allowed")
    assert (await client.grant(actor=staff("support"))).free_bet.left == 500


async def test_fencing_over_the_wire(client: Client, world: World) -> None:
    await client.open()
    await world.play("t1.1", ("p1", 100))
    request_id = fresh()
    made = await client.fence("t1.1", request_id)
    assert await client.fence("t1.1", request_id) == made
    (fenced,) = made.fences.jackpots
    assert (fenced.jackpot, fenced.hit_followed) == ("j1", False)
    await world.play("t1.2", ("p1", 100))
    (shown,) = (await client.stub.ListJackpots(pb.ListJackpotsRequest(), timeout=TIMEOUT_S)).jackpots
    assert (list(shown.fenced), shown.waiting, shown.pool) == (["t1.1"], 1, 1_010)
    lifting = pb.LiftFenceRequest(request_id=fresh(), round="t1.1")
    assert list((await client.stub.LiftFence(lifting, timeout=TIMEOUT_S)).jackpots) == ["j1"]
    (shown,) = (await client.stub.ListJackpots(pb.ListJackpotsRequest(), timeout=TIMEOUT_S)).jackpots
    assert (list(shown.fenced), shown.waiting, shown.pool) == ([], 0, 1_020)
    assert (await client.fence("t1")).refusal.reason == "round_invalid"
    assert (await world.contents("jackpot-j1"))[3].actor == "system"


async def test_the_table_gets_what_it_asks_for(client: Client, world: World) -> None:
    """Its own adapter, before it corrects a round."""
    await client.open()
    await world.play("t1.1", ("p1", 100))
    fence = BonusFence(client.stub)
    deadline_s = asyncio.get_running_loop().time() + TIMEOUT_S
    assert await fence.before_correction("t1.1", By("staff:m1", "c-1"), deadline_s) is None
    assert (await world.state()).fences == frozenset({"t1.1"})
    assert (await world.contents("jackpot-j1"))[-1].correlation_id == "c-1"
    assert await fence.before_correction("t9.1", By("staff:m1", "c-1"), deadline_s) is None


async def test_jackpots_are_listed_by_page_operator_and_table(client: Client) -> None:
    for number in range(4):
        await client.open(f"j{number}", tables=[f"t{number}"])
    list_jackpots = client.stub.ListJackpots
    page = await list_jackpots(pb.ListJackpotsRequest(limit=3), timeout=TIMEOUT_S)
    assert ([one.jackpot for one in page.jackpots], page.more) == (["j0", "j1", "j2"], True)
    page = await list_jackpots(pb.ListJackpotsRequest(limit=3, after="j2"), timeout=TIMEOUT_S)
    assert ([one.jackpot for one in page.jackpots], page.more) == (["j3"], False)
    page = await list_jackpots(pb.ListJackpotsRequest(table="t2"), timeout=TIMEOUT_S)
    assert [one.jackpot for one in page.jackpots] == ["j2"]
    page = await list_jackpots(pb.ListJackpotsRequest(operator="op9"), timeout=TIMEOUT_S)
    assert not page.jackpots
    wrong = list_jackpots(pb.ListJackpotsRequest(limit=501), timeout=TIMEOUT_S)
    assert await refused(wrong) == (INVALID, "invalid_argument")


async def test_free_bets_are_granted_listed_and_taken_back(client: Client) -> None:
    made = await client.grant(wagers=[pb.FREE_BET_WAGER_BONUS_DEALER, pb.FREE_BET_WAGER_ANTE])
    free_bet = made.free_bet
    assert (free_bet.left, free_bet.used, free_bet.state) == (500, 0, pb.FREE_BET_STATE_GRANTED)
    assert list(free_bet.wagers) == [pb.FREE_BET_WAGER_ANTE, pb.FREE_BET_WAGER_BONUS_DEALER]
    mine = pb.ListFreeBetsRequest(player="p1", usable_only=True)
    assert list((await client.stub.ListFreeBets(mine, timeout=TIMEOUT_S)).free_bets) == [free_bet]
    with acting_as(player("p1")):
        assert len((await client.stub.ListFreeBets(mine, timeout=TIMEOUT_S)).free_bets) == 1
    with acting_as(player("p2")):
        assert not (await client.stub.ListFreeBets(mine, timeout=TIMEOUT_S)).free_bets
    with acting_as(PLATFORM):
        request = pb.RevokeFreeBetRequest(request_id=fresh(), free_bet="f1")
        taken = await client.stub.RevokeFreeBet(request, timeout=TIMEOUT_S)
        other = pb.RevokeFreeBetRequest(request_id=fresh(), free_bet="f9")
        unknown = await client.stub.RevokeFreeBet(other, timeout=TIMEOUT_S)
    assert (taken.free_bet.left, taken.free_bet.state) == (0, pb.FREE_BET_STATE_EXPIRED)
    assert unknown.refusal.reason == "free_bet_unknown"


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"amount": 0}, "amount_invalid"),
        ({"currency": "euro"}, "currency_invalid"),
        ({"player": "p/1"}, "id_invalid"),
        ({"wagers": []}, "wagers_invalid"),
        ({"expires_at": later(days=-1)}, "expiry_invalid"),
    ],
)
async def test_an_impossible_free_bet_is_refused(client: Client, more: dict[str, Any], reason: str) -> None:
    assert (await client.grant(**more)).refusal.reason == reason


@pytest.mark.parametrize(
    "more",
    [
        {"wagers": [pb.FREE_BET_WAGER_UNSPECIFIED]},
        {"wagers": [99]},
        {"expires_at": None},
        {"expires_at": Timestamp(seconds=10**15)},
        {"request_id": "x" * 500},
    ],
)
async def test_what_no_right_program_sends_is_no_refusal(client: Client, more: dict[str, Any]) -> None:
    assert await refused(client.grant(**more)) == (INVALID, "invalid_argument")


async def test_very_large_numbers_are_refused_and_break_nothing(client: Client) -> None:
    every: tuple[dict[str, Any], ...] = (
        {"seed": 2**62},
        {"contribution_ppm": 2**62},
        {"must_hit_by": 2**62},
        {"seed": -(2**62)},
    )
    for wrong in every:
        assert (await client.open(**wrong)).WhichOneof("result") == "refusal", wrong
    assert (await client.grant(amount=2**62)).refusal.reason == "amount_invalid"
