"""Placing and freeing holds: the same for money of ours and money of a partner's."""

from __future__ import annotations

import asyncio

from tests.wallet.ledger.world import ROUND_CANCELLED, ROUND_SETTLED, bet, declined, states, withdrawn
from tests.wallet.purse_contract.conftest import Purses


async def test_held_money_cannot_be_spent(purse: Purses) -> None:
    await purse.player(money=100)
    assert states(await purse.world.place(bet((1, "ante", 60)))) == ["held"]
    assert (await purse.money(), await purse.held()) == (40, 60)
    assert states(await purse.world.place(bet((1, "ante", 60), bet_id="b2"))) == ["funds_refused"]
    assert (await purse.money(), await purse.held()) == (40, 60)


async def test_a_bet_refused_for_funds_succeeds_after_a_deposit(purse: Purses) -> None:
    await purse.player(money=5)
    assert states(await purse.world.place(bet((1, "ante", 10)))) == ["funds_refused"]
    await purse.pay_in("p1", 5)
    assert states(await purse.world.place(bet((1, "ante", 10), bet_id="b2"))) == ["held"]
    assert states(await purse.world.place(bet((1, "ante", 10)))) == ["funds_refused"], "an answer stays"
    assert (await purse.money(), await purse.held()) == (0, 10)


async def test_the_same_command_again_is_one_command(purse: Purses) -> None:
    await purse.player(money=100)
    twice = bet((1, "ante", 10), (1, "bonus_player", 1))
    assert states(await purse.world.place(twice, twice)) == ["held", "held"]
    both = await asyncio.gather(purse.world.place(twice), purse.world.place(twice))
    assert [states(one) for one in both] == [["held"], ["held"]]
    assert (await purse.money(), await purse.held()) == (89, 11)


async def test_the_same_new_command_from_two_callers_at_once_is_one_command(purse: Purses) -> None:
    await purse.player(money=100)
    answers = await asyncio.gather(*(purse.world.place(bet((1, "ante", 10))) for _ in range(6)))
    assert [states(one) for one in answers] == [["held"]] * 6
    assert (await purse.money(), await purse.held()) == (90, 10)


async def test_with_100_fifty_concurrent_bets_of_10_hold_exactly_ten(purse: Purses) -> None:
    await purse.player(money=100)
    answers = await asyncio.gather(
        *(purse.world.place(bet((1, "ante", 10), bet_id=f"b{number}")) for number in range(50))
    )
    outcomes = [outcome for one in answers for outcome in states(one)]
    assert (outcomes.count("held"), outcomes.count("funds_refused")) == (10, 40)
    assert (await purse.money(), await purse.held()) == (0, 100)


async def test_the_wagers_of_a_command_stand_or_fall_together(purse: Purses) -> None:
    await purse.player(money=100)
    assert states(await purse.world.place(bet((1, "ante", 60), (2, "ante", 60)))) == ["funds_refused"]
    assert (await purse.money(), await purse.held()) == (100, 0)


async def test_commands_of_a_batch_never_fail_each_other(purse: Purses) -> None:
    for number in range(20):
        await purse.player(f"p{number}", 10 if number % 2 else 0)
    placed = await purse.world.place(
        *(bet((1, "ante", 10), player=f"p{number}") for number in range(20)),
        bet((1, "ante", 1), player="nobody"),
    )
    assert states(placed) == ["funds_refused", "held"] * 10 + ["account_unknown"]


async def test_a_withdrawal_releases_a_whole_hold_and_no_other(purse: Purses) -> None:
    await purse.player(money=100)
    await purse.world.place(bet((1, "ante", 30), (1, "bonus_player", 7), (2, "ante", 30)))
    facts = await purse.world.hear(("t1.1", withdrawn((1, "bonus_player", 7))))
    assert (await purse.money(), await purse.held()) == (40, 60)
    await purse.world.hear_again(facts)
    await purse.world.hear(("t1.1", withdrawn((1, "ante", 30), (2, "ante", 30))))
    assert (await purse.money(), await purse.held()) == (100, 0)


async def test_a_declined_bet_is_given_back(purse: Purses) -> None:
    await purse.player(money=100)
    await purse.world.place(bet((1, "ante", 30)))
    await purse.world.hear(("t1.1", declined((1, "ante", 30))))
    assert (await purse.money(), await purse.held()) == (100, 0)
    assert states(await purse.world.place(bet((1, "ante", 30)))) == ["hold_answered_late"]


async def test_a_cancelled_round_gives_everything_back(purse: Purses) -> None:
    for name in ("p1", "p2"):
        await purse.player(name, 100)
        await purse.world.place(
            bet((1, "ante", 30), player=name), bet((2, "ante", 20), player=name, bet_id="b2")
        )
        await purse.world.place(bet((1, "ante", 5), player=name, round_name="t1.2", bet_id="other"))
    facts = await purse.world.hear(("t1.1", ROUND_CANCELLED))
    await purse.world.hear_again(facts)
    for name in ("p1", "p2"):
        assert (await purse.money(name), await purse.held(name)) == (95, 5), "of the other round"


async def test_a_hold_asked_for_after_the_end_is_refused_and_stays_so(purse: Purses) -> None:
    await purse.player(money=100)
    for name, end in (("t1.1", ROUND_CANCELLED), ("t1.2", ROUND_SETTLED)):
        await purse.world.hear((name, end))
        for _ in range(2):
            asked = bet((1, "ante", 30), round_name=name, bet_id=f"of-{name[-1]}")
            assert states(await purse.world.place(asked)) == ["round_ended"]
    assert (await purse.money(), await purse.held()) == (100, 0)


async def test_bets_that_race_the_end_of_their_round_are_in_it_or_refused(purse: Purses) -> None:
    await purse.player(money=1_000)
    asking = [
        asyncio.create_task(purse.world.place(bet((1, "ante", 10), bet_id=f"b{number}")))
        for number in range(30)
    ]
    await purse.world.hear(("t1.1", ROUND_CANCELLED))
    outcomes = {outcome for one in await asyncio.gather(*asking) for outcome in states(one)}
    assert outcomes <= {"held", "round_ended", "unknown"}
    assert (await purse.money(), await purse.held()) == (1_000, 0), (
        "nothing stays behind in a cancelled round"
    )


async def test_each_currency_is_its_own(purse: Purses) -> None:
    await purse.player(money=100)
    await purse.player(money=5_000, currency="JPY")
    placed = await purse.world.place(
        bet((1, "ante", 100)), bet((1, "ante", 3_000), currency="JPY", bet_id="b2")
    )
    assert states(placed) == ["held", "held"]
    assert (await purse.money(), await purse.money(currency="JPY")) == (0, 2_000)
    assert (await purse.held(), await purse.held(currency="JPY")) == (100, 3_000)
