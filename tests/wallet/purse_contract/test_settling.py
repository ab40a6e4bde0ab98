"""Settling and correcting: the same for money of ours and money of a partner's."""

from __future__ import annotations

from tests.wallet.ledger.world import ROUND_SETTLED, bet, settled
from tests.wallet.purse_contract.conftest import Purses


async def test_a_win_is_paid(purse: Purses) -> None:
    await purse.player(money=100)
    await purse.world.place(bet((1, "ante", 10), (1, "bet", 20)))
    await purse.world.hear(
        ("t1.1", settled((1, "ante", 10, 10), (1, "bet", 20, 80))), ("t1.1", ROUND_SETTLED)
    )
    assert (await purse.money(), await purse.held()) == (160, 0)


async def test_a_loss_is_gone(purse: Purses) -> None:
    await purse.player(money=100)
    await purse.world.place(bet((1, "ante", 10)))
    await purse.world.hear(("t1.1", settled((1, "ante", 10, 0))), ("t1.1", ROUND_SETTLED))
    assert (await purse.money(), await purse.held()) == (90, 0)
    assert (await purse.world.books())["house"] == 10


async def test_a_result_has_its_effect_once(purse: Purses) -> None:
    await purse.player(money=100)
    await purse.world.place(bet((1, "ante", 10)))
    facts = await purse.world.hear(("t1.1", settled((1, "ante", 10, 25))), ("t1.1", ROUND_SETTLED))
    for _ in range(3):
        await purse.world.hear_again(facts)
    await purse.world.hear(("t1.1", settled((1, "ante", 10, 25))))
    assert (await purse.money(), await purse.held()) == (115, 0)


async def test_a_hold_without_a_stake_goes_back_when_the_round_settles(purse: Purses) -> None:
    await purse.player(money=100)
    await purse.world.place(bet((1, "ante", 10)), bet((2, "ante", 30), bet_id="b2"))
    await purse.world.hear(("t1.1", settled((1, "ante", 10, 0))), ("t1.1", ROUND_SETTLED))
    assert (await purse.money(), await purse.held()) == (90, 0)


async def test_a_correction_pays_the_difference(purse: Purses) -> None:
    await purse.player(money=100)
    await purse.world.place(bet((1, "ante", 10)))
    await purse.world.hear(("t1.1", settled((1, "ante", 10, 0))), ("t1.1", ROUND_SETTLED))
    for revision, returned in ((2, 30), (3, 20), (4, 20), (5, 50), (6, 0), (7, 10)):
        facts = await purse.world.hear(("t1.1", settled((1, "ante", 10, returned), revision=revision)))
        await purse.world.hear_again(facts)
        assert await purse.money() == 90 + returned, f"revision {revision}"
    assert await purse.held() == 0
    assert "house" not in await purse.world.books(), "the last revision gave the stake back"


async def test_revisions_that_come_together_are_as_good_as_one_by_one(purse: Purses) -> None:
    await purse.player(money=100)
    await purse.world.place(bet((1, "ante", 10)))
    await purse.world.hear(
        ("t1.1", settled((1, "ante", 10, 40))),
        ("t1.1", ROUND_SETTLED),
        ("t1.1", settled((1, "ante", 10, 15), revision=2)),
        ("t1.1", settled((1, "ante", 10, 35), revision=3)),
    )
    assert await purse.money() == 125


async def test_an_upward_correction_reaches_a_player_who_has_taken_everything_home(purse: Purses) -> None:
    await purse.player(money=100)
    await purse.world.place(bet((1, "ante", 10)))
    await purse.world.hear(("t1.1", settled((1, "ante", 10, 20))), ("t1.1", ROUND_SETTLED))
    await purse.take_out("p1", await purse.money())
    await purse.world.hear(("t1.1", settled((1, "ante", 10, 50), revision=2)))
    assert await purse.money() == 30


async def test_many_players_settle_in_one_transaction(purse: Purses) -> None:
    names = [f"p{number}" for number in range(40)]
    for name in names:
        await purse.player(name, 100)
    await purse.world.place(*(bet((1, "ante", 10), player=name) for name in names))
    await purse.world.hear(
        *(("t1.1", settled((1, "ante", 10, number), player=name)) for number, name in enumerate(names)),
        ("t1.1", ROUND_SETTLED),
    )
    assert [await purse.money(name) for name in names] == [90 + number for number in range(40)]


async def test_a_free_bet_pays_its_stake_and_its_win_is_cash(purse: Purses) -> None:
    await purse.player(money=100)
    await purse.grant("p1", "f1", 10)
    await purse.world.place(bet((1, "ante", 10, "f1"), (1, "bonus_player", 5)))
    assert await purse.money() == 95, "cash pays what the free bet does not"
    await purse.world.hear(
        ("t1.1", settled((1, "ante", 10, 25, "f1"), (1, "bonus_player", 5, 0))), ("t1.1", ROUND_SETTLED)
    )
    assert await purse.money() == 110
    assert (await purse.world.balance("p1-EUR")).promo == 0


async def test_a_free_bet_alone_asks_for_no_cash_and_comes_back_when_the_stake_does(purse: Purses) -> None:
    await purse.player()
    await purse.grant("p1", "f1", 10)
    await purse.world.place(bet((1, "ante", 10, "f1")))
    assert (await purse.money(), await purse.held()) == (0, 10)
    await purse.world.hear(("t1.1", settled((1, "ante", 10, 10, "f1"))), ("t1.1", ROUND_SETTLED))
    assert (await purse.world.balance("p1-EUR")).promo == 10
    assert await purse.money() == 0
