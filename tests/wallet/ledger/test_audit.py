from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import asyncpg
import pytest

from eventstore.following import OWN, Applier, Page
from tests.wallet.ledger.test_settling import grant
from tests.wallet.ledger.world import (
    ORIGIN,
    ROUND_CANCELLED,
    ROUND_SETTLED,
    World,
    bet,
    round_resettled,
    round_settled,
    settled,
)
from upcard_wallet.adapters.postgres.audit import Difference
from upcard_wallet.app.adjust import Adjust, adjust
from upcard_wallet.app.jackpots import Hit, Seed, Share, post_jackpots
from upcard_wallet.app.tip import Tip, tip
from upcard_wallet.app.withdraw import Withdraw, withdraw
from upcard_wallet.projections.audit import FOLLOWER, Audit, alarms
from upcard_wallet.projections.totals import sum_up


async def audited(world: World) -> list[Difference]:
    """Follow the whole log, as the follower does; what does not agree."""
    audit = Audit()
    async with world.pool.acquire() as connection:
        for shard, head in enumerate(await world.store.shard_heads()):
            if head:
                page = await world.store.read_shard(shard, limit=5_000)
                async with connection.transaction():
                    await audit.handle(connection, page.events)
        async with connection.transaction():
            await audit.look_again(connection)
        return await audit.differences(connection)


async def play(world: World) -> None:
    """A little of everything."""
    await world.player("p1", 200)
    await world.player("p2", 100)
    await world.player("p3", purse="seamless")
    await grant(world, "f1", 20)
    await world.place(bet((1, "ante", 10), (2, "ante", 10, "f1")), bet((1, "ante", 30), player="p2"))
    first = settled((1, "ante", 10, 20), (2, "ante", 10, 10, "f1"))
    second = [
        settled((1, "ante", 30, back), player="p2", revision=n) for n, back in ((1, 0), (2, 60), (3, 0))
    ]
    await world.hear(
        ("t1.1", first),
        ("t1.1", second[0]),
        ("t1.1", round_settled(first, second[0])),
        ("t1.1", second[1]),
        ("t1.1", round_resettled(1, first, second[1])),
    )
    await world.place(bet((1, "ante", 10), round_name="t1.2"), bet((1, "ante", 5), round_name="t1.3"))
    await world.hear(("t1.2", ROUND_CANCELLED))
    await world.do(withdraw, Withdraw("p2-EUR", 130, "w"))
    await world.hear(("t1.1", second[2]), ("t1.1", round_resettled(2, first, second[2])))
    await world.do(tip, Tip("p1-EUR", 3, "t"))
    await world.do(adjust, Adjust("p1-EUR", 5, "cash", "house", "goodwill", "staff:a", "staff:b", "a"))
    hit = Hit("j1", "op1", "EUR", (Share("p1", 50), Share("p3", 30)), "t1.1", world.event_id())
    seed = Seed("j1", "op1", "EUR", 60, world.event_id())
    await world.change(lambda connection: post_jackpots(world.wallet, connection, [seed, hit], ORIGIN))


async def test_everything_agrees(world: World) -> None:
    await play(world)
    assert await audited(world) == []
    await world.all_is_explained()
    # Once more from the beginning, when all books are audited already.
    assert await audited(world) == []


@pytest.fixture
async def owner(database: str) -> AsyncIterator[asyncpg.Connection[asyncpg.Record]]:
    """The owner of the tables, who switches rules off to break them."""
    connection = await asyncpg.connect(database)
    yield connection
    await connection.close()


async def test_what_someone_changed_by_hand_is_found(
    world: World, owner: asyncpg.Connection[asyncpg.Record]
) -> None:
    await play(world)
    await owner.execute(
        "UPDATE wallet.balances SET balance = balance + 7 WHERE book = (SELECT book FROM wallet.books"
        " WHERE owner = 'p1-EUR' AND kind = 'player_cash')"
    )
    await owner.execute("ALTER TABLE wallet.postings DISABLE TRIGGER never_changed")
    await owner.execute(
        "UPDATE wallet.postings SET amount = amount - 1 WHERE posting ="
        " (SELECT max(posting) FROM wallet.postings JOIN wallet.books USING (book)"
        "   WHERE owner = 'p2-EUR' AND kind = 'player_held')"
    )
    found = {(one.kind, one.subject): (one.expected, one.found) for one in await audited(world)}
    (transaction,) = {subject for kind, subject in found if kind == "transaction_zero_EUR"}
    assert found == {
        ("balance_player_cash", "p1-EUR"): (257, 264),
        ("balance_player_held", "p2-EUR"): (-1, 0),
        ("transaction_zero_EUR", transaction): (0, -1),
    }


async def test_a_difference_that_is_mended_is_forgotten(
    world: World, owner: asyncpg.Connection[asyncpg.Record]
) -> None:
    await play(world)
    await owner.execute("UPDATE wallet.balances SET balance = balance + 7 WHERE balance > 0")
    assert len(await audited(world)) > 3
    await owner.execute("UPDATE wallet.balances SET balance = balance - 7 WHERE balance > 0")
    assert await audited(world) == []


async def test_what_is_in_suspense_is_an_alarm_at_once(world: World) -> None:
    await world.player(money=100)
    result = settled((1, "ante", 10, 20))
    await world.hear(("t1.1", result), ("t1.1", round_settled(result)))
    assert alarms(await audited(world)) == [Difference("suspense", "op1/EUR", None, None, 0, -10)]


async def test_the_audit_is_a_follower_of_the_log(world: World) -> None:
    await play(world)
    audit = Audit()
    applier = Applier(world.pool, FOLLOWER, OWN, audit.handle)
    for shard, head in enumerate(await world.store.shard_heads()):
        if head:
            page = await world.store.read_shard(shard, limit=500)
            await applier.apply([Page.of_shard(page, after=0)])
    assert await audited(world) == []


async def test_totals_follow_and_balances_are_exact_at_every_moment(world: World) -> None:
    await play(world)
    before = await world.books()
    changes = "SELECT count(*) FROM wallet.book_changes"
    there = await world.value(changes)
    async with world.pool.acquire() as connection:
        assert await sum_up(connection, 3) == 3
        assert await world.books() == before
        assert await sum_up(connection) == there - 3
        assert await sum_up(connection) == 0
    assert await world.books() == before
    assert await world.value(changes) == 0
    await world.all_is_explained()

    async def move() -> int:
        async with world.pool.acquire() as connection:
            return await sum_up(connection, 2)

    for number in range(6):
        await world.place(bet((1, "ante", 1), round_name=f"t9.{number + 1}"))
        await world.hear(
            (f"t9.{number + 1}", settled((1, "ante", 1, 0))), (f"t9.{number + 1}", ROUND_SETTLED)
        )
    assert sum(await asyncio.gather(*(move() for _ in range(6)))) <= 12
    assert (await world.books())["house"] == before["house"] + 6
    await world.all_is_explained()


async def test_money_held_after_the_end_of_its_round_is_an_alarm(world: World) -> None:
    await world.player(money=100)
    await world.place(bet((1, "ante", 10)))
    async with world.pool.acquire() as connection:
        await connection.execute(
            "INSERT INTO wallet.rounds (round, end_kind, cause_event)"
            " VALUES ('t1.1', 'settled', gen_random_uuid())"
        )
        audit = Audit(after_end_s=0.0)
        await audit.look_again(connection)
        for _ in range(2):
            found = alarms(await audit.differences(connection))
            assert [(one.kind, one.subject, one.found) for one in found] == [("held_after_end", "t1.1", 10)]
            await audit.look_again(connection)
    await world.hear(("t1.1", ROUND_CANCELLED))
    async with world.pool.acquire() as connection:
        await audit.look_again(connection)
        assert await audit.differences(connection) == []


async def test_postings_that_are_not_what_their_event_says_are_found(
    world: World, owner: asyncpg.Connection[asyncpg.Record]
) -> None:
    """They sum to zero, and the balances follow: only the event knows better."""
    await play(world)
    await owner.execute("ALTER TABLE wallet.postings DISABLE TRIGGER never_changed")
    # The tip of 3 becomes one of 2.
    await owner.execute(
        "UPDATE wallet.postings SET amount = amount - sign(amount)"
        " WHERE transaction = (SELECT transaction FROM wallet.transactions WHERE kind = 'tip')"
    )
    await owner.execute(
        "UPDATE wallet.balances SET balance = balance + 1 WHERE book = (SELECT book FROM wallet.books"
        " WHERE owner = 'p1-EUR' AND kind = 'player_cash')"
    )
    found = {(one.kind, one.expected, one.found) for one in await audited(world)}
    assert found == {("transaction_cash", -3, -2), ("transaction_tips", 3, 2)}


async def test_a_result_that_the_house_has_not_is_found(
    world: World, owner: asyncpg.Connection[asyncpg.Record]
) -> None:
    await play(world)
    await owner.execute("ALTER TABLE wallet.settlements DISABLE TRIGGER never_changed")
    await owner.execute(
        "UPDATE wallet.settlements SET result = jsonb_set(result, '{paid}', '21') WHERE player = 'p1'"
    )
    assert [(one.kind, one.subject, one.found - one.expected) for one in await audited(world)] == [
        ("settled", "t1.1/p1", 1)
    ]


async def sums_that_differ(world: World) -> list[tuple[str, str, int, int]]:
    return [(one.kind, one.subject, one.expected, one.found) for one in await audited(world)]


async def test_a_round_that_comes_to_something_else_than_the_table_says_is_found(world: World) -> None:
    """A result that never arrived: whatever the wallet settled is whole, and yet it is not all."""
    await world.player("p1", 100)
    await world.player("p2", 100)
    await world.place(bet((1, "ante", 10)), bet((1, "ante", 30), player="p2"))
    first, second = settled((1, "ante", 10, 20)), settled((1, "ante", 30, 0), player="p2")
    await world.hear(("t1.1", first), ("t1.1", round_settled(first, second)))
    wrong = [
        ("round_players", "t1.1/EUR", 2, 1),
        ("round_returned", "t1.1/EUR", 20, 20),
        ("round_staked", "t1.1/EUR", 40, 10),
    ]
    assert sorted(await sums_that_differ(world)) == [one for one in wrong if one[2] != one[3]]
    assert sorted(await sums_that_differ(world)) == [one for one in wrong if one[2] != one[3]], "it stays"
    await world.hear(("t1.1", second))
    assert [one for one in await sums_that_differ(world) if one[0].startswith("round_")] == []
    assert await world.value("SELECT count(*) FROM wallet.differences") == 0


async def test_a_currency_that_the_table_does_not_name_is_found(world: World) -> None:
    await world.player("p1", 100)
    await world.player("p2", 100, currency="SEK")
    await world.place(bet((1, "ante", 10)))
    first = settled((1, "ante", 10, 20))
    strange = settled((1, "ante", 30, 0), player="p2", currency="SEK")
    await world.hear(("t1.1", first), ("t1.1", strange), ("t1.1", round_settled(first)))
    found = {one for one in await sums_that_differ(world) if one[0].startswith("round_")}
    assert found == {("round_players", "t1.1/SEK", 0, 1), ("round_staked", "t1.1/SEK", 0, 30)}


async def test_the_latest_word_on_a_round_counts_whatever_comes_again(world: World) -> None:
    await world.player("p1", 100)
    await world.place(bet((1, "ante", 10)))
    first, second = settled((1, "ante", 10, 20)), settled((1, "ante", 10, 0), revision=2)
    before = await world.hear(("t1.1", first), ("t1.1", round_settled(first)))
    await world.hear(("t1.1", second), ("t1.1", round_resettled(1, second)))
    await world.hear_again(before)
    assert await audited(world) == []
    assert await world.value("SELECT number FROM wallet.round_totals WHERE checked") == 1
