"""Corrections: proposed with the effect before one's eyes, decided by another person."""

from __future__ import annotations

import pytest

from rules_core.command_line.dice import Dice
from rules_core.command_line.random_round import RandomTable
from rules_core.log.content import parse_content
from rules_core.rulesets.shipped import shipped
from tests.gateway.floor.behind import SaidTable
from tests.gateway.pages.signed_in import SignedIn, signed_in
from tests.gateway.world import World
from tests.history.desk.world import World as Mirror
from upcard_gateway.adapters.postgres import floor_corrections as kept

PATH = "/staff/floor/rounds/t1.1/correct"
REFUND = {"slug": "wrong_result", "refund": "yes"}


async def settled(mirror: Mirror, tables: SaidTable) -> None:
    """A settled round of table t1, with stakes."""
    tables.show("t1")
    for seed in range(200):
        tried = RandomTable(shipped("live-shared@1"), Dice(seed), ("p1", "p2"), 1)
        tried.play()
        types = [parse_content(one).type for one in tried.contents]
        if types[-1] == "RoundSettled" and "PlayerSettled" in types:
            await mirror.play(table="t1", number=1, seed=seed)
            break
    await mirror.apply()


async def rows(world: World) -> list[kept.Correction]:
    """What was asked for."""
    async with world.pool.acquire() as connection:
        return await kept.listed(connection, None, 10)


async def proposed(world: World, staff: SignedIn) -> kept.Correction:
    """A refund of the round, proposed."""
    form = REFUND | {"step": "confirm", "reason": "the wrong hand was paid"}
    answer = await staff.post(PATH, form, request_id="correction-1")
    assert answer.status_code == 303, answer.text
    (row,) = await rows(world)
    return row


def decide_path(row: kept.Correction) -> str:
    """Where a word on it goes."""
    return f"/staff/floor/corrections/{row.request_id}/decide"


def word_on(row: kept.Correction) -> dict[str, str]:
    """An approval of it, as the page has it."""
    return {"approve": "yes", "reason": "it is right", "resettlement": row.resettlement}


async def test_the_effect_is_shown_before_anything_is_proposed(
    world: World, tables: SaidTable, mirror: Mirror
) -> None:
    await settled(mirror, tables)
    async with signed_in(world, "shift_manager") as staff:
        shown = await staff.client.get(PATH)
        assert shown.status_code == 200, shown.text
        looked = await staff.post(PATH, REFUND | {"step": "look"})
        assert looked.status_code == 200, looked.text
        assert "What it changes" in looked.text
        assert "Propose this correction" in looked.text
        nothing = await staff.post(PATH, {"slug": "", "step": "look"})
        unclear = await staff.post(PATH, {"slug": "dealer_mistake", "step": "look"})
        no_reason = await staff.post(PATH, REFUND | {"step": "confirm"})
    assert (nothing.status_code, unclear.status_code, no_reason.status_code) == (422, 422, 422)
    assert "Say either that every wager goes back" in unclear.text
    assert tables.calls() == []
    assert await rows(world) == []


async def test_another_person_decides(world: World, tables: SaidTable, mirror: Mirror) -> None:
    await settled(mirror, tables)
    async with signed_in(world, "operations", name="Ana One") as first:
        row = await proposed(world, first)
        again = await first.post(
            PATH,
            REFUND | {"step": "confirm", "reason": "the wrong hand was paid"},
            request_id="correction-1",
        )
        assert again.status_code == 303
        assert len(await rows(world)) == 1
        decide, word = decide_path(row), word_on(row)
        own = await first.post(decide, word)
        assert own.status_code == 409
        listed = await first.client.get("/staff/floor/corrections")
        assert "another person has to approve it" in listed.text
    async with signed_in(world, "shift_manager") as floor:
        assert (await floor.post(decide, word)).status_code == 403
    async with signed_in(world, "admin", name="Bea Two") as second:
        alarm = await second.client.get("/staff/floor")
        assert "A correction waits for another person" in alarm.text
        offered = await second.client.get("/staff/floor/corrections")
        assert f'name="resettlement" value="{row.resettlement}"' in offered.text
        done = await second.post(decide, word)
        assert done.headers["location"] == "/staff/floor/corrections?done=approved"
        shown = await second.client.get("/staff/floor/corrections")
        assert "Ana One" in shown.text
        assert "Bea Two" in shown.text
    (row,) = await rows(world)
    assert (row.state, row.decided_by) == ("approved", f"staff:{second.member.staff}")
    name, request, actor = tables.asked[-1]
    assert (name, request.approve, request.resettlement) == ("DecideResettlement", True, row.resettlement)
    assert actor == f"staff:{second.member.staff}"


async def test_what_was_interrupted_can_be_asked_again(
    world: World, tables: SaidTable, mirror: Mirror
) -> None:
    await settled(mirror, tables)
    async with signed_in(world, "shift_manager") as staff:
        row = await proposed(world, staff)
        await world.pool.execute("UPDATE gateway.floor_corrections SET state = 'asked', resettlement = NULL")
        asked = await staff.client.get("/staff/floor/corrections")
        assert "Ask again" in asked.text
        done = await staff.post(f"/staff/floor/corrections/{row.request_id}/again")
        assert done.status_code == 303, done.text
    (again,) = await rows(world)
    assert (again.state, again.resettlement) == ("proposed", row.resettlement)
    async with signed_in(world, "operations") as other:
        stranger = await other.post(f"/staff/floor/corrections/{row.request_id}/again")
    assert stranger.status_code == 404


@pytest.mark.parametrize(
    ("told", "state", "by"),
    [
        ({"state": "rejected", "decided_by": "staff:s7"}, "rejected", "staff:s7"),
        ({"state": "approved", "decided_by": "staff:s7"}, "approved", "staff:s7"),
        ({"state": "approving", "decided_by": "staff:s7"}, "proposed", ""),
        ({}, "proposed", ""),
    ],
)
async def test_what_was_decided_elsewhere_is_learned_from_the_table(
    world: World, tables: SaidTable, mirror: Mirror, told: dict[str, str], state: str, by: str
) -> None:
    await settled(mirror, tables)
    async with signed_in(world, "shift_manager") as staff:
        row = await proposed(world, staff)
    tables.refusals["DecideResettlement"], tables.refusal_data = "resettlement_decided", told
    async with signed_in(world, "operations") as other:
        refused = await other.post(decide_path(row), word_on(row))
        assert refused.headers["location"].endswith("refused=resettlement_decided")
        shown = await other.client.get(refused.headers["location"])
        assert "It was decided already." in shown.text
    (row,) = await rows(world)
    assert (row.state, row.decided_by) == (state, by)


async def test_whose_word_it_was_the_table_says(world: World, tables: SaidTable, mirror: Mirror) -> None:
    """The gateway died behind the first person's approval; the second one's goes on with it."""
    await settled(mirror, tables)
    async with signed_in(world, "shift_manager") as staff:
        row = await proposed(world, staff)
    tables.decided_by = "staff:s7"
    async with signed_in(world, "operations") as other:
        done = await other.post(decide_path(row), word_on(row))
        assert done.headers["location"].endswith("done=approved")
    (row,) = await rows(world)
    assert (row.state, row.decided_by) == ("approved", "staff:s7")


async def test_nobody_puts_a_wish_of_their_own_under_anothers_request(
    world: World, tables: SaidTable, mirror: Mirror
) -> None:
    await settled(mirror, tables)
    async with signed_in(world, "shift_manager") as first:
        row = await proposed(world, first)
        calls = tables.calls()
    async with signed_in(world, "support") as second:
        form = {"slug": "technical_failure", "refund": "yes", "step": "confirm", "reason": "something else"}
        for wish in (form, REFUND | {"step": "confirm", "reason": "the wrong hand was paid"}):
            swapped = await second.post(PATH, wish, request_id=row.request_id)
            assert swapped.status_code == 409
            assert "with something else in it" in swapped.text
    assert tables.calls() == calls
    assert await rows(world) == [row]
    async with world.pool.acquire() as connection:
        other = "0190a0f3-6f4e-7c2b-8d1a-00000000000f"
        await kept.note(connection, row.request_id, "proposed", resettlement=other)
        await kept.note(connection, row.request_id, "rejected", resettlement=other, decided_by="staff:s7")
    assert await rows(world) == [row]


async def test_a_word_counts_for_the_proposal_that_was_shown(
    world: World, tables: SaidTable, mirror: Mirror
) -> None:
    await settled(mirror, tables)
    async with signed_in(world, "shift_manager") as staff:
        row = await proposed(world, staff)
    async with signed_in(world, "operations") as other:
        for shown in ("", "0190a0f3-6f4e-7c2b-8d1a-00000000000f"):
            refused = await other.post(decide_path(row), word_on(row) | {"resettlement": shown})
            assert refused.status_code == 409
            assert "not the proposal that your page showed" in refused.text
    assert "DecideResettlement" not in tables.calls()


async def test_who_enrolled_after_the_proposal_cannot_be_the_second_person(
    world: World, tables: SaidTable, mirror: Mirror
) -> None:
    """An admin who proposes, and adds or resets an account to approve with, is one person."""
    await settled(mirror, tables)
    async with signed_in(world, "shift_manager") as staff, signed_in(world, "admin") as known:
        row = await proposed(world, staff)
        world.clock.move(1)
        await world.pool.execute(
            "UPDATE gateway.staff SET enrolled_at = $2 WHERE staff = $1", known.member.staff, world.clock()
        )
        async with signed_in(world, "operations") as new:
            for late in (new, known):
                refused = await late.post(decide_path(row), word_on(row))
                assert refused.status_code == 409
                assert "You enrolled after this was proposed." in refused.text
            assert "DecideResettlement" not in tables.calls()
            rejected = await new.post(decide_path(row), word_on(row) | {"approve": "no"})
            assert rejected.headers["location"].endswith("done=rejected")


async def test_a_round_that_cannot_be_corrected_says_so(
    world: World, tables: SaidTable, mirror: Mirror
) -> None:
    tables.show("t1")
    await mirror.play(table="t1", number=1, events=2)
    await mirror.apply()
    async with signed_in(world, "shift_manager") as staff:
        running = await staff.client.get(PATH)
        unknown = await staff.client.get("/staff/floor/rounds/t1.77/correct")
        nonsense = await staff.client.get("/staff/floor/rounds/nonsense/correct")
    assert (running.status_code, unknown.status_code, nonsense.status_code) == (409, 409, 404)
