from __future__ import annotations

import pytest

from tests.wallet.ledger.world import (
    ORIGIN,
    ROUND_CANCELLED,
    ROUND_SETTLED,
    World,
    bet,
    settled,
    states,
)
from upcard_wallet.app.deposit import Deposit, deposit
from upcard_wallet.app.follow_rounds import RevisionMissing, UnknownAccount, free_ended
from upcard_wallet.app.free_bets import Expired, Granted, post_free_bets
from upcard_wallet.app.withdraw import Withdraw, withdraw
from upcard_wallet.domain.events import HoldReleased, WagersSettled


async def test_a_win_takes_the_stake_and_pays(world: World) -> None:
    await world.player(money=100)
    await world.place(bet((2, "ante", 10), (2, "bet", 20)))
    facts = await world.hear(
        ("t1.1", settled((2, "ante", 10, 10), (2, "bet", 20, 60))), ("t1.1", ROUND_SETTLED)
    )
    assert await world.has() == (140, 0, 0, 0)
    assert await world.books() == {"cashier": -100, "house": -40}
    assert (await world.events())[-1] == WagersSettled(
        round="t1.1",
        revision=1,
        transaction=str(await world.value("SELECT transaction FROM wallet.transactions WHERE revision = 1")),
        staked=30,
        returned=70,
        paid=70,
        cash=70,
    )
    assert (
        await world.value("SELECT cause_event FROM wallet.transactions WHERE revision = 1")
        == facts[0].event_id
    )
    await world.all_is_explained()


async def test_events_delivered_again_have_one_effect(world: World) -> None:
    await world.player(money=100)
    await world.place(bet((2, "ante", 10)))
    facts = await world.hear(("t1.1", settled((2, "ante", 10, 20))), ("t1.1", ROUND_SETTLED))
    for again in (facts, facts[:1], facts[1:], facts[::-1], facts + facts):
        await world.hear_again(again)
    assert await world.has() == (110, 0, 0, 0)
    assert await world.value("SELECT count(*) FROM wallet.settlements") == 1
    await world.all_is_explained()


async def test_many_players_are_settled_in_one_transaction(world: World) -> None:
    players = [f"p{number}" for number in range(40)]
    for player in players:
        await world.player(player, 100)
    await world.place(*(bet((1, "ante", 10), player=one) for one in players))
    await world.hear(
        *(
            ("t1.1", settled((1, "ante", 10, 20 * (place % 2)), player=one))
            for place, one in enumerate(players)
        ),
        ("t1.1", ROUND_SETTLED),
    )
    assert {await world.has(f"{one}-EUR") for one in players} == {(90, 0, 0, 0), (110, 0, 0, 0)}
    assert await world.books() == {"cashier": -4_000}  # as much won as lost
    await world.all_is_explained()


async def test_a_hold_without_a_stake_goes_back_when_the_round_is_settled(world: World) -> None:
    await world.player(money=100)
    await world.place(bet((1, "ante", 10)), bet((1, "bet", 20), bet_id="reserve"))
    await world.hear(("t1.1", settled((1, "ante", 10, 0))), ("t1.1", ROUND_SETTLED))
    assert await world.has() == (90, 0, 0, 0)
    released = (await world.events())[-1]
    assert isinstance(released, HoldReleased)
    assert released.reason == "no_stake"


async def test_of_more_holds_than_stakes_those_that_sum_to_the_stake_are_settled(world: World) -> None:
    await world.player(money=100)
    await world.place(*(bet((1, "ante", 5 * place), bet_id=f"b{place}") for place in (1, 2, 3)))
    await world.hear(("t1.1", settled((1, "ante", 20, 0))), ("t1.1", ROUND_SETTLED))
    assert await world.has() == (80, 0, 0, 0)
    assert world.seen.in_suspense == []


async def test_a_stake_without_a_hold_comes_from_suspense_and_is_an_alarm(world: World) -> None:
    await world.player(money=100)
    await world.place(bet((1, "ante", 10)))
    await world.hear(("t1.1", settled((1, "ante", 10, 20), (1, "bet", 20, 60))), ("t1.1", ROUND_SETTLED))
    assert await world.has() == (170, 0, 0, 0)
    assert await world.books() == {"cashier": -100, "suspense": -20, "house": -50}
    assert world.seen.in_suspense == [("EUR", 20, "t1.1/p1")]
    await world.all_is_explained()


async def test_a_cancelled_round_frees_every_hold_by_itself(world: World) -> None:
    await world.player("p1", 100)
    await world.player("p2", 100)
    await world.place(bet((1, "ante", 10), (2, "ante", 10)), bet((1, "ante", 30), player="p2"))
    await world.place(bet((1, "ante", 40), round_name="t2.1"))
    facts = await world.hear(("t1.1", ROUND_CANCELLED))
    assert await world.has("p1-EUR") == (60, 40, 0, 0)
    assert await world.has("p2-EUR") == (100, 0, 0, 0)
    before = len(await world.events())
    await world.hear_again(facts)
    assert len(await world.events()) == before
    await world.all_is_explained()


async def test_more_holds_than_one_transaction_frees_are_freed_by_those_that_follow(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    players = [f"p{number}" for number in range(9)]
    for player in players:
        await world.player(player, 100)
    await world.place(*(bet((1, "ante", 10), player=one) for one in players))
    monkeypatch.setattr("upcard_wallet.app.follow_rounds.MAX_FREED", 4)
    await world.hear(("t1.1", ROUND_CANCELLED))
    held = "SELECT count(*) FROM wallet.holds WHERE state = 'held'"
    left = [await world.value(held)]
    while left[-1]:
        await world.change(lambda connection: free_ended(world.wallet, connection, 3))
        left.append(await world.value(held))
    assert left == [5, 2, 0]
    await world.all_is_explained()


async def test_a_correction_upward_takes_the_earlier_result_back_and_posts_the_new_one(world: World) -> None:
    await world.player(money=100)
    await world.place(bet((1, "ante", 10)))
    await world.hear(("t1.1", settled((1, "ante", 10, 0))), ("t1.1", ROUND_SETTLED))
    facts = await world.hear(("t1.1", settled((1, "ante", 10, 20), revision=2)))
    await world.hear_again(facts)
    assert await world.has() == (110, 0, 0, 0)
    assert await world.books() == {"cashier": -100, "house": -10}
    await world.all_is_explained()


async def test_a_correction_downward_takes_what_is_there_and_the_rest_is_owed(world: World) -> None:
    account = await world.player(money=100)
    await world.place(bet((1, "ante", 100)))
    await world.hear(("t1.1", settled((1, "ante", 100, 200))), ("t1.1", ROUND_SETTLED))
    await world.do(withdraw, Withdraw(account, 150, "all"))
    await world.hear(("t1.1", settled((1, "ante", 100, 0), revision=2)))
    assert await world.has() == (0, 0, 0, 150)
    assert world.seen.owed_more == [("EUR", 150, "t1.1/p1")]
    assert await world.books() == {"cashier": 50, "house": 100}
    assert await world.do(withdraw, Withdraw(account, 1, "more")) == _refused("debt_open")
    # What a later correction gives pays the debt first.
    await world.hear(("t1.1", settled((1, "ante", 100, 120), revision=3)))
    assert await world.has() == (0, 0, 0, 30)
    await world.hear(("t1.1", settled((1, "ante", 100, 200), revision=4)))
    assert await world.has() == (50, 0, 0, 0)
    assert await world.books() == {"cashier": 50, "house": -100}
    await world.all_is_explained()


def _refused(reason: str) -> object:
    from upcard_wallet.app.wallet import Refused  # noqa: PLC0415 - for this line alone

    return Refused(reason)


async def test_a_correction_of_choices_takes_stakes_that_were_never_held(world: World) -> None:
    await world.player(money=100)
    await world.place(bet((1, "ante", 10)))
    await world.hear(("t1.1", settled((1, "ante", 10, 0))), ("t1.1", ROUND_SETTLED))
    await world.hear(("t1.1", settled((1, "ante", 10, 0), (1, "bet", 20, 0), revision=2)))
    assert await world.has() == (70, 0, 0, 0)
    assert await world.books() == {"cashier": -100, "house": 30}


async def test_several_revisions_in_one_batch(world: World) -> None:
    await world.player(money=100)
    await world.place(bet((1, "ante", 10)))
    await world.hear(
        ("t1.1", settled((1, "ante", 10, 20))),
        ("t1.1", ROUND_SETTLED),
        ("t1.1", settled((1, "ante", 10, 0), revision=2)),
        ("t1.1", settled((1, "ante", 10, 30), revision=3)),
    )
    assert await world.has() == (120, 0, 0, 0)
    await world.all_is_explained()


async def test_a_revision_out_of_order_is_not_guessed(world: World) -> None:
    await world.player(money=100)
    with pytest.raises(RevisionMissing):
        await world.hear(("t1.1", settled((1, "ante", 10, 20), revision=2)))
    with pytest.raises(UnknownAccount):
        await world.hear(("t1.1", settled((1, "ante", 10, 20), player="nobody")))
    assert await world.has() == (100, 0, 0, 0)


async def test_a_partners_player_is_settled_against_the_operator(world: World) -> None:
    account = await world.player("p1", purse="seamless")
    await world.hear(("t1.1", settled((1, "ante", 10, 20))), ("t1.1", ROUND_SETTLED))
    assert await world.books() == {"suspense": -10, "house": -10, "operator": 20}
    assert [(one.paid, one.revision) for one in world.partner.settled] == [(20, 1)]
    await world.hear(("t1.1", settled((1, "ante", 10, 0), revision=2)))
    assert await world.has(account) == (
        0,
        0,
        0,
        0,
    )  # nothing is owed to us by the player: the partner owes it
    assert await world.books() == {"suspense": -10, "house": 10}
    assert [(one.paid, one.revision) for one in world.partner.settled] == [(20, 1), (0, 2)]
    await world.all_is_explained()


async def grant(world: World, name: str, amount: int) -> None:
    fact = Granted(name, "p1", "EUR", amount, world.event_id())
    for _ in range(2):
        await world.change(lambda connection: post_free_bets(world.wallet, connection, [fact], ORIGIN))


async def test_a_free_bet_pays_the_stake_and_not_the_win(world: World) -> None:
    await world.player(money=100)
    await grant(world, "f1", 30)
    assert await world.has() == (100, 0, 30, 0)
    assert states(await world.place(bet((1, "ante", 10, "f1"), (1, "bet", 20)))) == ["held"]
    assert await world.has() == (80, 30, 20, 0)
    await world.hear(
        ("t1.1", settled((1, "ante", 10, 30, "f1"), (1, "bet", 20, 40))), ("t1.1", ROUND_SETTLED)
    )
    assert await world.has() == (140, 0, 20, 0)  # 20 of the ante, 40 of the bet
    await world.all_is_explained()


async def test_a_free_bet_that_returns_its_stake_is_given_back(world: World) -> None:
    await world.player(money=100)
    await grant(world, "f1", 10)
    await world.place(bet((1, "ante", 10, "f1")))
    await world.hear(("t1.1", settled((1, "ante", 10, 10, "f1"))), ("t1.1", ROUND_SETTLED))
    assert await world.has() == (100, 0, 10, 0)
    assert await world.books() == {"cashier": -100, "house": -10}


async def test_what_a_corrected_free_bet_lacks_the_house_bears(world: World) -> None:
    await world.player(money=100)
    await grant(world, "f1", 10)
    await world.place(bet((1, "ante", 10, "f1")))
    await world.hear(("t1.1", settled((1, "ante", 10, 10, "f1"))), ("t1.1", ROUND_SETTLED))
    await world.place(bet((1, "ante", 10, "f1"), round_name="t1.2"))
    await world.hear(("t1.1", settled((1, "ante", 10, 0, "f1"), revision=2)))
    assert await world.has() == (100, 10, 0, 0)
    told = (await world.events())[-1]
    assert isinstance(told, WagersSettled)
    assert told.forgone == 10
    await world.hear(("t1.1", settled((1, "ante", 10, 10, "f1"), revision=3)))
    assert await world.has() == (100, 10, 0, 0)  # not given a second time
    await world.all_is_explained()


async def test_a_free_bet_of_nobody_or_of_another_is_refused(world: World) -> None:
    await world.player("p1", 100)
    await world.player("p2", 100)
    await grant(world, "f1", 10)
    placed = await world.place(
        bet((1, "ante", 10, "f1"), player="p2"),
        bet((1, "ante", 10, "f2")),
        bet((1, "ante", 11, "f1"), bet_id="b2"),
        bet((1, "ante", 10, "f1"), bet_id="b3"),
    )
    assert states(placed) == ["funds_refused", "funds_refused", "funds_refused", "held"]


async def test_what_is_left_of_an_expired_free_bet_goes_back_to_the_house(world: World) -> None:
    await world.player(money=100)
    await grant(world, "f1", 30)
    await world.place(bet((1, "ante", 10, "f1")))
    facts = [Expired("f1", world.event_id()), Expired("f2", world.event_id())]
    for _ in range(2):
        await world.change(lambda connection: post_free_bets(world.wallet, connection, facts, ORIGIN))
    assert await world.has() == (100, 10, 0, 0)
    await world.hear(("t1.1", ROUND_CANCELLED))
    assert await world.has() == (100, 0, 10, 0)
    await world.all_is_explained()


async def test_a_settlement_and_bets_of_the_same_players_do_not_block_each_other(world: World) -> None:
    import asyncio  # noqa: PLC0415 - for this test alone

    players = [f"p{number}" for number in range(12)]
    for player in players:
        await world.player(player, 1_000)
    await world.place(
        *(
            bet((1, "ante", 10), player=one, round_name=f"t{table}.1")
            for one in players
            for table in (1, 2, 3)
        )
    )

    async def settle(table: int) -> None:
        order = players if table % 2 else players[::-1]
        await world.hear(
            *((f"t{table}.1", settled((1, "ante", 10, 20), player=one)) for one in order),
            (f"t{table}.1", ROUND_SETTLED),
        )

    await asyncio.gather(
        *map(settle, (1, 2, 3)),
        *(
            world.place(*(bet((1, "ante", 1), player=one, round_name=f"t{table}.2") for one in players))
            for table in (1, 2, 3, 4)
        ),
        *(world.do(deposit, Deposit(f"{one}-EUR", 5, f"x-{one}")) for one in players),
    )
    for player in players:
        assert await world.has(f"{player}-EUR") == (1_031, 4, 0, 0)
    assert await world.value("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()") == 0
    await world.all_is_explained()
