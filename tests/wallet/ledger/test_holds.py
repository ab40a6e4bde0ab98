from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import asyncpg
import pytest

from eventstore.postgres import Connection
from tests.wallet.ledger.world import ROUND_CANCELLED, ROUND_SETTLED, World, bet, declined, states, withdrawn
from upcard_wallet.app.deposit import Deposit, deposit
from upcard_wallet.app.hold_records import Records
from upcard_wallet.app.purse import HoldGroup
from upcard_wallet.domain.events import HoldDeclined, HoldPlaced, HoldReleased
from upcard_wallet.domain.ids import hold_id


async def test_a_wagers_money_is_held(world: World) -> None:
    await world.player(money=100)
    (placed,) = await world.place(bet((2, "ante", 30), (2, "bonus_player", 5)))
    assert states([placed]) == ["held"]
    assert placed.holds == (
        hold_id("t1.1", "p1", "b1", 2, "ante"),
        hold_id("t1.1", "p1", "b1", 2, "bonus_player"),
    )
    assert await world.has() == (65, 35, 0, 0)
    told = (await world.events())[-1]
    assert isinstance(told, HoldPlaced)
    assert [(one.box, one.wager, one.amount) for one in told.holds] == [
        (2, "ante", 30),
        (2, "bonus_player", 5),
    ]
    await world.all_is_explained()


async def test_the_same_command_again_holds_nothing_more(world: World) -> None:
    await world.player(money=100)
    for _ in range(2):
        assert states(await world.place(bet((2, "ante", 60)))) == ["held"]
    assert states(await world.place(bet((2, "ante", 60)), bet((2, "ante", 60)))) == ["held", "held"]
    assert await world.has() == (40, 60, 0, 0)


async def test_a_bet_id_with_other_wagers_is_refused(world: World) -> None:
    await world.player(money=100)
    await world.place(bet((2, "ante", 10)))
    for other in (bet((2, "ante", 11)), bet((2, "ante", 10), (1, "ante", 1)), bet((1, "ante", 10))):
        assert states(await world.place(other)) == ["bet_id_reused"]
    assert await world.has() == (90, 10, 0, 0)


async def test_the_wagers_of_a_command_stand_or_fall_together(world: World) -> None:
    await world.player(money=100)
    placed = await world.place(bet((1, "ante", 60), (2, "ante", 60)))
    assert states(placed) == ["funds_refused"]
    assert await world.has() == (100, 0, 0, 0)
    told = (await world.events())[-1]
    assert isinstance(told, HoldDeclined)
    assert told.reason == "funds_refused"


async def test_commands_of_a_batch_never_fail_each_other(world: World) -> None:
    await world.player("p1", 100)
    await world.player("p2", 5)
    placed = await world.place(
        bet((1, "ante", 60)),
        bet((1, "ante", 60), player="p2"),
        bet((1, "ante", 60), bet_id="b2"),  # the first of this player took what it needs
        bet((1, "ante", 40), bet_id="b3"),
        bet((1, "ante", 1), player="nobody"),
        bet((1, "ante", 0), player="p2", bet_id="b2"),
        bet((1, "ante", 5), player="p2", bet_id="b3"),
    )
    assert states(placed) == [
        "held",
        "funds_refused",
        "funds_refused",
        "held",
        "account_unknown",
        "wagers_invalid",
        "held",
    ]
    assert await world.has("p1-EUR") == (0, 100, 0, 0)
    assert await world.has("p2-EUR") == (0, 5, 0, 0)
    await world.all_is_explained()


async def test_fifty_concurrent_bets_of_ten_with_a_hundred_hold_exactly_ten(world: World) -> None:
    await world.player(money=100)
    placed = await asyncio.gather(
        *(world.place(bet((1, "ante", 10), bet_id=f"b{number}")) for number in range(50))
    )
    outcomes = [state for one in placed for state in states(one)]
    assert sorted(outcomes) == ["funds_refused"] * 40 + ["held"] * 10
    assert await world.has() == (0, 100, 0, 0)
    assert await world.value("SELECT count(*) FROM wallet.holds WHERE state = 'held'") == 10
    await world.all_is_explained()


async def test_a_bet_refused_for_funds_succeeds_after_a_deposit(world: World) -> None:
    account = await world.player(money=5)
    assert states(await world.place(bet((1, "ante", 10)))) == ["funds_refused"]
    await world.do(deposit, Deposit(account, 100, "more"))
    assert states(await world.place(bet((1, "ante", 10)))) == ["funds_refused"]  # that one stays refused
    assert states(await world.place(bet((1, "ante", 10), bet_id="b2"))) == ["held"]


async def test_batches_of_the_same_players_in_other_orders_do_not_block_each_other(world: World) -> None:
    players = [f"p{number}" for number in range(30)]
    for player in players:
        await world.player(player, 1_000)

    async def batch(number: int) -> list[str]:
        order = players if number % 2 else players[::-1]
        return states(
            await world.place(*(bet((1, "ante", 10), player=one, bet_id=f"b{number}") for one in order))
        )

    assert [set(one) for one in await asyncio.gather(*map(batch, range(16)))] == [{"held"}] * 16
    for player in players:
        assert await world.has(f"{player}-EUR") == (840, 160, 0, 0)
    await world.all_is_explained()
    assert await world.value("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()") == 0


async def test_the_same_command_from_many_callers_at_once_holds_once(world: World) -> None:
    await world.player(money=100)
    placed = await asyncio.gather(*(world.place(bet((1, "ante", 10), (2, "ante", 5))) for _ in range(12)))
    assert [states(one) for one in placed] == [["held"]] * 12
    assert await world.has() == (85, 15, 0, 0)
    assert len(await world.events()) == 3


async def test_a_hold_after_the_end_of_its_round_is_refused_and_stays_so(world: World) -> None:
    await world.player(money=100)
    await world.hear(("t1.1", ROUND_SETTLED), ("t1.2", ROUND_CANCELLED))
    for name in ("t1.1", "t1.2"):
        for _ in range(2):
            assert states(await world.place(bet((1, "ante", 10), round_name=name))) == ["round_ended"]
    assert states(await world.place(bet((1, "ante", 10), round_name="t1.3"))) == ["held"]


async def test_a_hold_and_the_end_of_its_round_exclude_each_other(world: World) -> None:
    players = [f"p{number}" for number in range(20)]
    for player in players:
        await world.player(player, 100)

    async def end(name: str) -> None:
        await world.hear((name, ROUND_CANCELLED))

    for number in range(5):
        name = f"t1.{number + 1}"
        bets = [world.place(bet((1, "ante", 10), player=one, round_name=name)) for one in players]
        await asyncio.gather(*bets[:10], end(name), *bets[10:])
    assert await world.value("SELECT count(*) FROM wallet.holds WHERE state = 'held'") == 0
    for player in players:
        assert await world.has(f"{player}-EUR") == (100, 0, 0, 0)
    await world.all_is_explained()


async def test_stakes_taken_back_or_declined_release_their_holds_whole(world: World) -> None:
    await world.player(money=100)
    await world.place(bet((1, "ante", 10), (2, "ante", 20)), bet((1, "ante", 5), bet_id="b2"))
    facts = await world.hear(
        ("t1.1", withdrawn((1, "ante", 10))), ("t1.1", declined((1, "ante", 5), bet_id="b2"))
    )
    assert await world.has() == (80, 20, 0, 0)
    released = [one for one in await world.events() if isinstance(one, HoldReleased)]
    assert [(one.reason, [held.amount for held in one.holds]) for one in released] == [
        ("withdrawn", [10]),
        ("declined", [5]),
    ]
    await world.hear_again(facts)
    assert await world.has() == (80, 20, 0, 0)
    await world.all_is_explained()


async def test_what_is_reserved_with_an_ante_goes_back_with_it(world: World) -> None:
    await world.player(money=100)
    await world.place(
        bet((1, "ante", 10), (1, "bet", 20), (2, "ante", 5), (2, "bet", 10)),
        bet((3, "ante", 1), (3, "bet", 2), bet_id="b2"),
    )
    await world.hear(
        ("t1.1", withdrawn((1, "ante", 10), (1, "bet", 20))), ("t1.1", declined((3, "ante", 1), bet_id="b2"))
    )
    assert await world.has() == (85, 15, 0, 0), "a blind box's own bet is named twice and goes back once"
    await world.hear(("t1.1", withdrawn((2, "ante", 5))))
    assert await world.has() == (100, 0, 0, 0)
    await world.all_is_explained()


async def test_a_command_of_a_wrong_form_is_refused_alone(world: World) -> None:
    await world.player(money=1_000)
    right = bet((1, "ante", 10))
    wrong = [
        replace(right, round="t1"),
        replace(right, bet_id="b/1"),
        replace(right, actor="somebody"),
        replace(right, actor="player:p1\n"),
        replace(right, correlation_id=""),
        replace(right, currency="eur"),
        replace(right, wagers=()),
        bet((1, "ante", 10), (1, "ante", 20)),
        bet((0, "ante", 10)),
        bet((1, "Ante", 10)),
        bet((1, "ante", 2**53)),
        bet((1, "ante", 10, "a free bet")),
    ]
    assert states(await world.place(*wrong, right)) == ["wagers_invalid"] * len(wrong) + ["held"]
    assert await world.has() == (990, 10, 0, 0)


async def test_a_command_that_the_database_refuses_fails_alone(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.player(money=1_000)
    place_at_once = Records.place_at_once

    async def poisoned(records: Records, connection: Connection, groups: Sequence[HoldGroup]) -> Any:
        if any(group.bet_id == "b5" for group in groups):
            await connection.execute("SELECT 1 / 0")
        return await place_at_once(records, connection, groups)

    monkeypatch.setattr(Records, "place_at_once", poisoned)
    placed = await world.place(*(bet((1, "ante", 10), bet_id=f"b{number}") for number in range(9)))
    assert states(placed) == ["held"] * 5 + ["unknown"] + ["held"] * 3
    assert await world.has() == (920, 80, 0, 0)


async def test_what_is_not_placed_in_time_is_unknown_and_asking_again_tells(
    world: World, database: str
) -> None:
    account = await world.player(money=100)
    owner = await asyncpg.connect(database)
    async with owner.transaction():
        await owner.execute("SELECT * FROM wallet.balances FOR UPDATE")
        assert states(await world.place(bet((1, "ante", 10)), within_s=0.3)) == ["unknown"]
    await owner.close()
    assert states(await world.place(bet((1, "ante", 10)))) == ["held"]
    assert await world.has(account) == (90, 10, 0, 0)
