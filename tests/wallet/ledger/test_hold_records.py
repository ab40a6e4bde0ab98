"""Holds of a purse that has to ask somebody: requested, answered, resolved."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Sequence

import pytest

from eventstore.postgres import append_in_transaction
from tests.wallet.ledger.test_settling import grant
from tests.wallet.ledger.world import (
    ORIGIN,
    ROUND_CANCELLED,
    ROUND_SETTLED,
    World,
    bet,
    declined,
    settled,
    states,
)
from upcard_wallet.app.place_holds import WantedHolds, _group
from upcard_wallet.app.ports import HoldExists
from upcard_wallet.app.purse import (
    HELD,
    UNKNOWN,
    AccountRef,
    Admission,
    Answer,
    HoldGroup,
    Outcome,
    Refusal,
    refused,
)
from upcard_wallet.app.release_holds import release_holds
from upcard_wallet.app.statement import Statement, statement
from upcard_wallet.domain.events import HoldDeclined, HoldPlaced, HoldReleased, HoldRequested


async def group_of(world: World, command: WantedHolds, account: str = "p1-EUR") -> HoldGroup:
    async with world.pool.acquire() as connection:
        refs = await world.wallet.ledger.accounts(connection, [account])
    ref: AccountRef = refs[account]
    return _group(command, ref)


async def request(world: World, *groups: HoldGroup) -> Sequence[Admission]:
    async with world.pool.acquire() as connection, connection.transaction():
        admissions, appends = await world.records.request(connection, groups)
        if appends:
            await append_in_transaction(connection, appends)
    return admissions


async def answer(world: World, *answers: tuple[HoldGroup, Outcome]) -> Sequence[Outcome]:
    async with world.pool.acquire() as connection, connection.transaction():
        outcomes, appends = await world.records.answer(connection, [Answer(*one) for one in answers])
        if appends:
            await append_in_transaction(connection, appends)
    return outcomes


async def recorded(world: World, group: HoldGroup) -> Outcome | None:
    async with world.pool.acquire() as connection:
        (outcome,) = (await world.records.outcomes(connection, [group])).values()
    return outcome


async def test_a_request_is_recorded_before_anybody_is_asked(world: World) -> None:
    await world.player(purse="seamless")
    group = await group_of(world, bet((1, "ante", 10)))
    assert await request(world, group, group) == [Admission("new"), Admission("known")]
    assert await request(world, group) == [Admission("known")]
    assert await recorded(world, group) is None
    assert await world.has() == (0, 0, 0, 0)
    assert [type(one) for one in (await world.events())[1:]] == [HoldRequested]
    other = await group_of(world, bet((1, "ante", 11)))
    assert await request(world, other) == [Admission("refused", refused("bet_id_reused"))]


async def test_what_the_partner_holds_is_posted_against_the_operator(world: World) -> None:
    await world.player(purse="seamless")
    one, two, three = [
        await group_of(world, bet((1, "ante", 10 * number), bet_id=f"b{number}")) for number in (1, 2, 3)
    ]
    await request(world, one, two, three)
    no = refused(Refusal.REFUSED)
    answers = ((one, HELD), (two, no), (three, UNKNOWN))
    assert await answer(world, *answers) == [HELD, no, UNKNOWN]
    assert await world.has() == (0, 10, 0, 0)
    assert await world.books() == {"operator": -10}
    assert [type(event) for event in (await world.events())[4:]] == [HoldPlaced, HoldDeclined]
    # Answers that come again, or late, change nothing.
    assert await answer(world, (one, no), (two, HELD), (three, HELD)) == [HELD, no, UNKNOWN]
    assert [await recorded(world, group) for group in (one, two, three)] == [HELD, no, UNKNOWN]
    await world.all_is_explained()


async def test_an_unknown_hold_is_resolved_without_postings(world: World) -> None:
    await world.player(purse="seamless")
    group = await group_of(world, bet((1, "ante", 10), (2, "ante", 5)))
    await request(world, group)
    await answer(world, (group, UNKNOWN))
    for _ in range(2):
        await world.change(lambda connection: world.records.resolve(connection, group.holds))
    assert await recorded(world, group) == refused(Refusal.ROLLED_BACK)
    released = [one for one in await world.events() if isinstance(one, HoldReleased)]
    assert [(one.transaction, one.reason, len(one.holds)) for one in released] == [(None, "rolled_back", 2)]
    assert await world.value("SELECT count(*) FROM wallet.postings") == 0


async def test_a_free_bet_of_a_partners_player_is_held_by_us(world: World) -> None:
    await world.player(purse="seamless")
    await grant(world, "f1", 15)
    one = await group_of(world, bet((1, "ante", 10, "f1"), (1, "bet", 20)))
    two = await group_of(world, bet((1, "ante", 10, "f1"), bet_id="b2"))
    await request(world, one, two)
    assert await answer(world, (one, HELD), (two, HELD)) == [HELD, refused(Refusal.FUNDS)]
    assert await world.has() == (0, 30, 5, 0)
    assert await world.books() == {"operator": -20, "house": -15}
    await world.all_is_explained()


async def test_the_end_of_a_round_gives_open_requests_to_the_purse(world: World) -> None:
    await world.player(purse="seamless")
    one = await group_of(world, bet((1, "ante", 10)))
    two = await group_of(world, bet((1, "ante", 20), bet_id="b2"))
    three = await group_of(world, bet((1, "ante", 40), bet_id="b3"))
    await request(world, one, two, three)
    await answer(world, (one, HELD))
    await world.hear(("t1.1", declined((1, "ante", 40), bet_id="b3")))
    assert [(freed.amount, freed.was) for freed in world.partner.freed] == [(40, "requested")]
    await world.hear(("t1.1", ROUND_CANCELLED))
    assert sorted((freed.amount, freed.was) for freed in world.partner.freed[1:]) == [
        (10, "held"),
        (20, "requested"),
    ]
    # The answer comes after the end: it is not held any more.
    assert await answer(world, (two, HELD)) == [UNKNOWN]
    assert await world.has() == (0, 0, 0, 0)
    assert await world.books() == {}
    four = await group_of(world, bet((1, "ante", 1), bet_id="b4"))
    assert await request(world, four) == [Admission("refused", refused(Refusal.ROUND_ENDED))]
    await world.all_is_explained()


async def test_requests_of_the_same_command_at_once_are_one(world: World) -> None:
    await world.player(purse="seamless")
    group = await group_of(world, bet((1, "ante", 10), (2, "ante", 5)))

    async def patiently() -> str:
        for _ in range(10):
            try:
                return (await request(world, group))[0].state
            except HoldExists:
                continue
        raise AssertionError

    assert sorted(await asyncio.gather(*(patiently() for _ in range(8)))) == ["known"] * 7 + ["new"]


async def test_releases_by_name_answer_each(world: World) -> None:
    await world.player("p1", 100)
    await world.player("p2", purse="seamless")
    (placed,) = await world.place(bet((1, "ante", 10), (2, "ante", 20)))
    group = await group_of(world, bet((1, "ante", 7), player="p2"), "p2-EUR")
    await request(world, group)
    await world.place(bet((1, "ante", 30), round_name="t1.2"))
    await world.hear(("t1.2", settled((1, "ante", 30, 0))), ("t1.2", ROUND_SETTLED))
    settled_hold = await world.value("SELECT hold FROM wallet.holds WHERE state = 'settled'")
    nobody = world.event_id()

    async with world.pool.acquire() as connection, connection.transaction():
        holds = [placed.holds[0], *group.holds, settled_hold, nobody]
        done = await release_holds(world.wallet, connection, holds, "command", ORIGIN)
        await append_in_transaction(connection, done.appends)
    assert list(done.answer.values()) == ["released", "releasing", "settled", "hold_unknown"]
    assert await world.has() == (50, 20, 0, 0)
    assert [(freed.amount, freed.was) for freed in world.partner.freed] == [(7, "requested")]
    assert states(await world.place(bet((1, "ante", 10), (2, "ante", 20)))) == ["held"]  # the other is
    await world.all_is_explained()


async def test_a_command_that_is_being_asked_for_is_given_up_as_a_whole(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.player(purse="seamless")
    commands = [
        bet((1, "ante", 10), (2, "ante", 20), (3, "ante", 30), bet_id=f"b{number}") for number in (1, 2, 3)
    ]
    groups = [await group_of(world, command) for command in commands]
    await request(world, *groups)

    await world.hear(("t1.1", declined((2, "ante", 20), bet_id="b1")))
    assert sorted(freed.amount for freed in world.partner.freed) == [10, 20, 30]

    async with world.pool.acquire() as connection, connection.transaction():
        done = await release_holds(world.wallet, connection, groups[1].holds[:1], "command", ORIGIN)
    assert done.answer == {groups[1].holds[0]: "releasing"}
    assert len(world.partner.freed) == 6

    monkeypatch.setattr("upcard_wallet.app.follow_rounds.MAX_FREED", 1)
    await world.hear(("t1.1", ROUND_CANCELLED))
    assert len(world.partner.freed) == 9
    assert await world.value("SELECT count(*) FROM wallet.holds WHERE state = 'unknown'") == 9


async def test_a_partners_player_has_a_statement(world: World) -> None:
    account = await world.player(purse="seamless")
    group = await group_of(world, bet((1, "ante", 10)))
    await request(world, group)
    await answer(world, (group, HELD))
    await world.hear(("t1.1", settled((1, "ante", 10, 25))), ("t1.1", ROUND_SETTLED))
    since, until = dt.datetime(2020, 1, 1, tzinfo=dt.UTC), dt.datetime(2100, 1, 1, tzinfo=dt.UTC)
    async with world.pool.acquire() as connection:
        found = await statement(world.wallet, connection, account, since, until)
    assert isinstance(found, Statement)
    assert [(line.kind, line.cash, line.held) for line in found.lines] == [
        ("hold", -10, 10),
        ("settlement", 25, -10),
    ]
    assert (found.opening.cash, found.closing.cash, found.closing.held) == (0, 15, 0)
