"""Fencing a pool before a round is undone: nothing is paid meanwhile, and nothing is lost."""

from __future__ import annotations

import asyncio
import datetime as dt

from eventstore.postgres import Connection
from rules_core.round import events as e
from tests.bonus.office.world import DEALER, World, opened, placed_all, settled
from upcard_bonus.app.bonus import BonusOffice, Done
from upcard_bonus.app.fencing import fence_round
from upcard_bonus.app.pools import DRAINED_AT_ONCE
from upcard_bonus.app.recording import Origin
from upcard_bonus.domain.jackpot_events import (
    JackpotContributed,
    JackpotCorrected,
    JackpotFenced,
    JackpotFenceLifted,
    JackpotHit,
)
from upcard_bonus.domain.refusal import Refused


async def kinds(world: World, name: str = "j1") -> list[str]:
    return [type(one).__name__ for one in await world.events(f"jackpot-{name}")][2:]


async def test_while_a_pool_is_fenced_other_rounds_wait(world: World) -> None:
    await world.jackpot("j1", "t1", "t2")
    await world.play("t1.1", ("p1", 100))
    (fenced,) = await world.fence("t1.1")
    assert (fenced.jackpot, fenced.hit_followed) == ("j1", False)
    await world.play("t2.1", ("p2", 100, 100))
    await world.play("t2.2", ("p2", 100))
    state = await world.state()
    assert (state.pool, state.fences) == (1_010, frozenset({"t1.1"}))
    assert (await world.kept()).waiting
    await world.resettle("t1.1", settled("p1", 100, revision=2, refunded=True), refund=True)
    assert await kinds(world) == [
        "JackpotContributed",
        "JackpotFenced",
        "JackpotCorrected",
        "JackpotFenceLifted",
        "JackpotContributed",
        "JackpotHit",
        "JackpotSeeded",
        "JackpotContributed",
    ]
    corrected, lifted = (await world.events("jackpot-j1"))[4:6]
    assert isinstance(corrected, JackpotCorrected)
    assert corrected.pool == 1_000
    assert lifted == JackpotFenceLifted("j1", "t1.1", "corrected")
    hit = (await world.events("jackpot-j1"))[7]
    assert isinstance(hit, JackpotHit)
    assert hit.prize == 1_010, "of a pool without the refunded round"
    state = await world.state()
    assert (state.pool, state.fences) == (1_010, frozenset())
    assert not (await world.kept()).waiting


async def test_the_causes_of_rounds_that_waited_are_their_own(world: World) -> None:
    await world.jackpot("j1", "t1", "t2")
    await world.play("t1.1", ("p1", 100))
    await world.fence("t1.1")
    await world.hear(("t2.1", opened("t2.1")), *placed_all("t2.1", ("p2", 100)))
    await world.hear(
        ("t2.1", settled("p2", 100)), ("t2.1", e.RoundSettled(DEALER, ())), correlation="the-other"
    )
    await world.lift("t1.1")
    last = (await world.contents("jackpot-j1"))[-1]
    assert (last.type, last.correlation_id, last.actor) == ("JackpotContributed", "the-other", "system")


async def test_fencing_again_is_the_same_fence(world: World) -> None:
    await world.jackpot()
    await world.play("t1.1", ("p1", 100))
    first = await world.fence("t1.1")
    assert await world.fence("t1.1") == first
    assert await kinds(world) == ["JackpotContributed", "JackpotFenced"]
    fenced = (await world.events("jackpot-j1"))[-1]
    assert isinstance(fenced, JackpotFenced)
    assert fenced.expires_at.endswith("Z")


async def test_a_hit_that_has_followed_is_said(world: World) -> None:
    await world.jackpot("j1", "t1", "t2")
    await world.play("t1.1", ("p1", 100, 10))
    (own,) = await world.fence("t1.1")
    assert not own.hit_followed, "its own hit is none that followed"
    await world.lift("t1.1")
    await world.play("t2.1", ("p2", 100, 10))
    (fenced,) = await world.fence("t1.1")
    assert fenced.hit_followed


async def test_a_round_that_has_not_been_heard_of_is_fenced_by_its_table(world: World) -> None:
    await world.jackpot()
    (fenced,) = await world.fence("t1.1")
    assert fenced.jackpot == "j1"
    await world.play("t1.1", ("p1", 100))
    assert (await world.state()).pool == 1_000, "its own settlement waits too"
    await world.resettle("t1.1", settled("p1", 100, revision=2, refunded=True), refund=True)
    assert (await world.state()).pool == 1_000
    assert await kinds(world) == ["JackpotFenced", "JackpotFenceLifted"], "undone before it had any effect"


async def test_what_has_no_jackpot_has_nothing_to_fence(world: World) -> None:
    await world.jackpot()
    assert await world.fence("t9.1") == []
    assert list(await world.lift("t9.1")) == []
    assert await world.do(fence_round, "t9", dt.timedelta(seconds=1)) == Refused("round_invalid")


async def test_a_fence_is_lifted_where_the_round_is_not_undone(world: World) -> None:
    await world.jackpot("j1", "t1", "t2")
    await world.play("t1.1", ("p1", 100))
    await world.fence("t1.1")
    await world.play("t2.1", ("p2", 100))
    assert list(await world.lift("t1.1")) == ["j1"]
    assert list(await world.lift("t1.1")) == []
    assert (await world.state()).pool == 1_020


async def test_a_pool_is_held_up_until_its_last_fence_is_lifted(world: World) -> None:
    await world.jackpot("j1", "t1", "t2", "t3")
    await world.play("t1.1", ("p1", 100))
    await world.play("t2.1", ("p2", 100))
    await world.fence("t1.1")
    await world.fence("t2.1")
    await world.play("t3.1", ("p3", 100))
    await world.lift("t1.1")
    assert (await world.state()).pool == 1_020
    await world.resettle("t2.1", settled("p2", 100, revision=2, refunded=True), refund=True)
    assert (await world.state()).pool == 1_020, "less the one, and the other that waited"


async def test_a_fence_ends_by_itself(world: World) -> None:
    await world.jackpot("j1", "t1", "t2")
    await world.play("t1.1", ("p1", 100))
    await world.fence("t1.1")
    await world.play("t2.1", ("p2", 100))
    assert not await world.end_fences(), "its time is not over"
    await world.do(_end_now)
    assert await world.end_fences()
    assert not await world.end_fences()
    assert (await world.state()).pool == 1_020
    lifted = (await world.events("jackpot-j1"))[4]
    assert lifted == JackpotFenceLifted("j1", "t1.1", "expired")
    # The correction that comes after that is one all the same.
    await world.resettle("t1.1", settled("p1", 100, revision=2, refunded=True), refund=True)
    assert (await world.state()).pool == 1_010


async def test_very_many_that_waited_follow_in_their_order(world: World) -> None:
    number = DRAINED_AT_ONCE + 10
    await world.jackpot("j1", "t1", "t2", contribution_ppm=1_000_000)
    await world.play("t1.1", ("p1", 1))
    await world.fence("t1.1")
    batch: list[tuple[str, e.RoundEvent]] = []
    for turn in range(1, number + 1):
        name = f"t2.{turn}"
        batch += [
            (name, opened(name)),
            *placed_all(name, ("p2", turn)),
            (name, settled("p2", turn)),
            (name, e.RoundSettled(DEALER, ())),
        ]
    await world.hear(*batch)
    await world.lift("t1.1")
    assert (await world.kept()).waiting, "one transaction lets a bounded number through"
    await world.play("t2.999", ("p2", 5))
    assert not (await world.kept()).waiting
    contributed = [
        one.round for one in await world.events("jackpot-j1") if isinstance(one, JackpotContributed)
    ]
    assert contributed == ["t1.1", *(f"t2.{turn}" for turn in range(1, number + 1)), "t2.999"]


async def test_what_is_left_is_let_through_by_the_upkeep(world: World) -> None:
    number = DRAINED_AT_ONCE + 5
    await world.jackpot("j1", "t1", "t2")
    await world.play("t1.1", ("p1", 1))
    await world.fence("t1.1")
    batch: list[tuple[str, e.RoundEvent]] = []
    for turn in range(1, number + 1):
        name = f"t2.{turn}"
        batch += [(name, opened(name)), (name, settled("p2", 10)), (name, e.RoundSettled(DEALER, ()))]
    await world.hear(*batch)
    await world.lift("t1.1")
    assert await world.end_fences()
    assert not await world.end_fences()
    assert (await world.state()).pool == 1_000 + number


async def test_fencing_and_settling_at_once_are_one_after_the_other(world: World) -> None:
    await world.jackpot("j1", "t1", "t2")
    await world.play("t1.1", ("p1", 100))
    for turn in range(1, 9):
        await asyncio.gather(world.fence("t1.1"), world.play(f"t2.{turn}", ("p2", 100)))
        await asyncio.gather(world.lift("t1.1"), world.play(f"t2.{100 + turn}", ("p2", 100)))
        await world.end_fences()
    state = await world.state()
    assert (state.pool, state.fences) == (1_000 + 10 + 16 * 10, frozenset())
    assert not (await world.kept()).waiting


async def _end_now(office: BonusOffice, connection: Connection, _: Origin) -> Done[None]:
    """As if the time of all fences were over; the service itself may not change a fence."""
    past = dt.datetime.now(dt.UTC) - dt.timedelta(seconds=1)
    for row in await connection.fetch("SELECT jackpot, round FROM bonus.fences"):
        await office.jackpots.drop_fences(connection, [(row["jackpot"], row["round"])])
        await office.jackpots.add_fences(connection, [row["jackpot"]], row["round"], past)
    return Done(None)
