"""Bets of seamless players: asked once, recorded in any case, rolled back where it is not clear."""

from __future__ import annotations

import asyncio

import pytest

from tests.wallet.ledger.world import ROUND_CANCELLED, bet, declined, states
from tests.wallet.partner import Trick
from tests.wallet.seamless.world import SeamlessWorld
from upcard_wallet.domain.events import HoldDeclined, HoldPlaced, HoldReleased, HoldRequested

SHORT_S = 4.0
"""Time for a bet to arrive at the partner even on a busy machine; then its deadline is over."""


async def test_the_hold_is_requested_asked_for_posted_and_told(world: SeamlessWorld) -> None:
    await world.guest(money=100)
    assert states(await world.place(bet((1, "ante", 30), (1, "bonus_player", 5)))) == ["held"]
    assert world.server.balances["p1", "EUR"] == 65
    assert await world.has() == (0, 35, 0, 0)
    assert await world.books() == {"operator": -35}
    assert [type(event) for event in (await world.events())[1:]] == [HoldRequested, HoldPlaced]
    assert await world.calls() == [("bet", "accepted", 35)]
    await world.agrees_with_partners()


async def test_a_refusal_of_the_partner_is_ours(world: SeamlessWorld) -> None:
    await world.guest(money=20)
    assert states(await world.place(bet((1, "ante", 30)))) == ["funds_refused"]
    world.server.script("bet", Trick.REFUSES)
    assert states(await world.place(bet((1, "ante", 10), bet_id="b2"))) == ["player_refused"]
    assert await world.has() == (0, 0, 0, 0)
    assert [type(event) for event in (await world.events())[1:]] == 2 * [HoldRequested, HoldDeclined]
    assert states(await world.place(bet((1, "ante", 30)))) == ["funds_refused"]
    assert len(world.server.calls) == 2, "a refusal stays"


@pytest.mark.parametrize(
    "trick",
    [
        Trick.CUT,
        Trick.LOST,
        Trick.BROKEN,
        Trick.BROKEN_DONE,
        Trick.GARBAGE,
        Trick.ENDLESS,
        Trick.OTHER_TOTAL,
        Trick.OTHER_CURRENCY,
        Trick.OTHER_CALL,
        Trick.AWAY,
        Trick.POISONS,
        Trick.HANGS,
    ],
)
async def test_whatever_is_not_clear_is_rolled_back_and_never_asked_again(
    world: SeamlessWorld, trick: Trick
) -> None:
    await world.guest(money=100)
    world.server.script("bet", trick)
    within_s = SHORT_S if trick is Trick.HANGS else 30
    assert states(await world.place(bet((1, "ante", 30)), within_s=within_s)) == ["unknown"]
    assert await world.hold_states() == ["unknown"]
    assert states(await world.place(bet((1, "ante", 30)))) == ["unknown"]
    world.start_work()
    await world.agrees_with_partners()
    assert await world.hold_states() == ["released"]
    assert world.server.balances["p1", "EUR"] == 100
    assert [kind for kind, _ in world.server.calls].count("bet") == 1
    assert states(await world.place(bet((1, "ante", 30)))) == ["hold_answered_late"]
    assert type((await world.events())[-1]) is HoldReleased
    assert await world.has() == (0, 0, 0, 0)


async def test_a_bet_that_comes_after_its_rollback_is_not_taken(world: SeamlessWorld) -> None:
    await world.guest(money=100)
    world.server.script("bet", Trick.LATE)
    assert states(await world.place(bet((1, "ante", 30)), within_s=SHORT_S)) == ["unknown"]
    world.start_work()
    await world.server.called("rollback", 1)
    world.server.release_late()
    await world.agrees_with_partners()
    assert world.server.balances["p1", "EUR"] == 100
    assert await world.hold_states() == ["released"]


async def test_a_partner_that_forgets_rollbacks_is_told_once_more(world: SeamlessWorld) -> None:
    await world.guest(money=100)
    world.server.keeps_never = False
    world.server.script("bet", Trick.LATE)
    await world.place(bet((1, "ante", 30)), within_s=SHORT_S)
    world.start_work()
    await world.server.called("rollback", 1)
    world.server.release_late()
    assert world.server.balances["p1", "EUR"] == 70, "the late bet was taken after its rollback"
    await world.agrees_with_partners()
    assert world.server.balances["p1", "EUR"] == 100


async def test_a_partner_that_is_gone_is_a_refusal_and_needs_no_rollback(world: SeamlessWorld) -> None:
    await world.guest(money=100)
    await world.server.crash()
    assert states(await world.place(bet((1, "ante", 30)))) == ["wallet_unavailable"]
    assert await world.calls() == [("bet", "refused", 30)]
    await world.server.start()
    assert states(await world.place(bet((1, "ante", 30), bet_id="b2"))) == ["held"]


async def test_a_refusal_that_took_the_money_is_rolled_back_where_the_partner_is_distrusted(
    world: SeamlessWorld,
) -> None:
    await world.guest(money=100)
    world.distrust("op1")
    world.server.script("bet", Trick.DENIES)
    assert states(await world.place(bet((1, "ante", 30)))) == ["funds_refused"]
    assert world.server.balances["p1", "EUR"] == 70
    world.start_work()
    await world.agrees_with_partners()
    assert world.server.balances["p1", "EUR"] == 100
    assert await world.hold_states() == ["refused"]


async def test_a_hung_partner_delays_nobody_elses_holds(world: SeamlessWorld) -> None:
    await world.guest("p1", 100)
    await world.guest("p2", 100, operator="op2")
    world.server.always("bet", Trick.HANGS)
    hung = asyncio.create_task(
        world.place(*(bet((1, "ante", 1), bet_id=f"h{number}") for number in range(80)), within_s=30)
    )
    await world.server.called("bet", world.settings.bets_at_once)
    assert states(await world.place(bet((1, "ante", 30), player="p2"))) == ["held"]
    assert not hung.done()
    world.server.always("bet", Trick.HONEST)
    world.server.release_late()
    assert states(await hung) == ["held"] * 80


async def test_in_one_batch_the_quick_partners_holds_are_durable_while_the_slow_one_thinks(
    world: SeamlessWorld,
) -> None:
    await world.guest("p1", 100)
    await world.guest("p2", 100, operator="op2")
    world.server.script("bet", Trick.HANGS)
    both = asyncio.create_task(
        world.place(bet((1, "ante", 10)), bet((1, "ante", 10), player="p2", bet_id="b2"))
    )
    await world.until("SELECT EXISTS (SELECT FROM wallet.holds WHERE bet_id = 'b2' AND state = 'held')")
    assert await world.hold_states("b1") == ["requested"]
    world.server.release_late()
    assert states(await both) == ["held", "held"]


async def test_more_bets_than_may_be_under_way_are_refused_unsent_at_their_deadline(
    world: SeamlessWorld,
) -> None:
    await world.guest("p1", 1_000)
    world.server.always("bet", Trick.HANGS)
    bets = [bet((1, "ante", 1), bet_id=f"b{number}") for number in range(world.settings.bets_at_once + 5)]
    outcomes = states(await world.place(*bets, within_s=2 * SHORT_S))
    assert sorted(set(outcomes)) == ["unknown", "wallet_unavailable"]
    assert outcomes.count("wallet_unavailable") == 5
    world.server.always("bet", Trick.HONEST)
    world.server.release_late()
    world.start_work()
    await world.agrees_with_partners()
    assert world.server.balances["p1", "EUR"] == 1_000


async def test_an_operator_without_a_partner_is_refused(world: SeamlessWorld) -> None:
    world.servers["op3"] = world.servers["op2"]
    await world.guest("p3", 100, operator="op3")
    del world.servers["op3"]
    assert states(await world.place(bet((1, "ante", 30), player="p3"))) == ["wallet_unavailable"]


async def test_two_who_ask_for_the_same_at_once_get_the_same(world: SeamlessWorld) -> None:
    await world.guest(money=100)
    world.server.script("bet", Trick.HANGS)
    first = asyncio.create_task(world.place(bet((1, "ante", 30))))
    await world.server.called("bet")
    second = asyncio.create_task(world.place(bet((1, "ante", 30))))
    third = await world.place(bet((1, "ante", 30)), within_s=SHORT_S)
    assert states(third) == ["unknown"], "it is still open, and who waits no longer gives up"
    world.server.release_late()
    assert states(await first) == states(await second) == ["held"]
    assert len(world.server.calls) == 1


async def test_a_hold_given_up_while_it_is_asked_for_is_rolled_back(world: SeamlessWorld) -> None:
    await world.guest(money=100)
    world.server.script("bet", Trick.HANGS)
    asking = asyncio.create_task(world.place(bet((1, "ante", 30))))
    await world.server.called("bet")
    await world.hear(("t1.1", declined((1, "ante", 30))))
    assert await world.hold_states() == ["unknown"]
    assert await world.calls() == [("bet", "unknown", 30), ("rollback", "queued", 30)]
    waits = "SELECT not_before > now() FROM wallet.partner_calls WHERE kind = 'rollback'"
    assert await world.value(waits), "the bet may still be on its way"
    world.server.release_late()
    assert states(await asking) == ["unknown"], "the partner said yes, too late"
    assert await world.value(waits) is None, "it is here, so nothing has to be waited for"
    world.start_work()
    await world.agrees_with_partners()
    assert await world.hold_states() == ["released"]
    assert world.server.balances["p1", "EUR"] == 100


async def test_a_round_that_is_cancelled_while_a_hold_is_asked_for_frees_it(world: SeamlessWorld) -> None:
    await world.guest(money=100)
    await world.place(bet((1, "ante", 20), bet_id="b0"))
    world.server.script("bet", Trick.HANGS)
    asking = asyncio.create_task(world.place(bet((1, "ante", 30))))
    await world.server.called("bet", 2)
    await world.hear(("t1.1", ROUND_CANCELLED))
    world.server.release_late()
    assert states(await asking) == ["unknown"]
    world.start_work()
    await world.agrees_with_partners()
    assert world.server.balances["p1", "EUR"] == 100
    assert states(await world.place(bet((1, "ante", 5), bet_id="b9"))) == ["round_ended"]


async def test_a_free_bet_that_is_gone_gives_the_partners_part_back(world: SeamlessWorld) -> None:
    await world.guest(money=100)
    both = bet((1, "ante", 30), (1, "bonus_player", 10, "no-such-free-bet"))
    assert states(await world.place(both)) == ["funds_refused"]
    assert world.server.balances["p1", "EUR"] == 70, "the partner was asked for its part, and gave it"
    world.start_work()
    await world.agrees_with_partners()
    assert world.server.balances["p1", "EUR"] == 100
    assert await world.hold_states() == ["refused", "refused"]


async def test_a_bet_nobody_ended_is_given_up(world: SeamlessWorld) -> None:
    await world.guest(money=100)
    world.server.script("bet", Trick.HANGS)
    asking = asyncio.create_task(world.place(bet((1, "ante", 30)), within_s=SHORT_S))
    await world.server.called("bet")
    asking.cancel()  # as if its process had died: nobody records the answer
    await asyncio.wait([asking])
    assert await world.hold_states() == ["requested"]
    world.start_work()
    await world.agrees_with_partners()
    assert world.told.abandoned_bets == 1
    assert await world.hold_states() == ["released"]
    assert world.server.balances["p1", "EUR"] == 100
