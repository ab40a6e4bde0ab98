"""Jackpots behind the table's events: contributions, hits, several tables, corrections."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace

import pytest

from rules_core.round import events as e
from tests.bonus.office.world import World, opened, placed_all, settled
from upcard_bonus.app.keeping_jackpots import ChangeJackpot, OpenJackpot, change_jackpot, open_jackpot
from upcard_bonus.app.round_facts import RoundUnknown, RulesetUnknown
from upcard_bonus.domain.jackpot import Jackpot
from upcard_bonus.domain.jackpot_events import (
    JackpotContributed,
    JackpotCorrected,
    JackpotHit,
    JackpotOpened,
    JackpotSeeded,
    JackpotSettings,
)
from upcard_bonus.domain.jackpot_settings import MILLION
from upcard_bonus.domain.refusal import Refused
from upcard_bonus.domain.secret_size import proves


async def test_opening_it_again_gives_it_and_another_one_is_refused(world: World) -> None:
    state = await world.jackpot()
    same = OpenJackpot("j1", "op1", "EUR", state.settings)
    assert await world.do(open_jackpot, same) == state
    await world.play("t1.1", ("p1", 100))
    again = await world.do(open_jackpot, same)
    assert isinstance(again, Jackpot)
    assert again.pool == 1_010
    other = OpenJackpot("j1", "op2", "EUR", state.settings)
    assert await world.do(open_jackpot, other) == Refused("jackpot_exists")
    taken = OpenJackpot("j2", "op1", "EUR", JackpotSettings(0, 0, tables=("t9", "t1")))
    assert await world.do(open_jackpot, taken) == Refused("table_has_jackpot")
    assert await world.value("SELECT count(*) FROM bonus.jackpots") == 1
    assert [type(one) for one in await world.events("jackpot-j1")] == [
        JackpotOpened,
        JackpotSeeded,
        JackpotContributed,
    ]


async def test_a_round_contributes_after_it_is_settled_and_once(world: World) -> None:
    await world.jackpot()
    await world.hear(("t1.1", opened("t1.1")), *placed_all("t1.1", ("p1", 100), ("p2", 55)))
    assert (await world.state()).pool == 1_000
    await world.settle("t1.1", ("p1", 100), ("p2", 55))
    state = await world.state()
    assert (state.pool, state.remainder) == (1_015, 500_000)
    contributed = (await world.contents("jackpot-j1"))[-1]
    assert (contributed.type, contributed.actor, contributed.correlation_id) == (
        "JackpotContributed",
        "system",
        "table",
    )
    assert contributed.causation_id is not None


async def test_a_hit_names_round_and_winners(world: World) -> None:
    await world.jackpot()
    await world.play("t1.1", ("p1", 100, 10), ("p2", 100), ("p3", 100, 10))
    contributed, hit, refilled = (await world.events("jackpot-j1"))[2:]
    assert isinstance(contributed, JackpotContributed)
    assert isinstance(hit, JackpotHit)
    assert isinstance(refilled, JackpotSeeded)
    assert (contributed.amount, hit.prize, refilled.amount) == (30, 103, 72)
    assert [(one.player, one.amount) for one in hit.shares] == [("p1", 51), ("p3", 51)]
    assert (await world.state()).pool == 1_000
    assert hit.round == "t1.1"


async def test_stakes_of_another_currency_or_table_neither_add_nor_win(world: World) -> None:
    await world.jackpot()
    await world.play("t1.1", ("p1", 100, 100), currency="USD")
    await world.play("t2.1", ("p1", 100, 100))
    assert len(await world.events("jackpot-j1")) == 2


async def test_a_table_that_is_added_counts_from_its_next_round(world: World) -> None:
    state = await world.jackpot()
    await world.hear(("t2.1", opened("t2.1")), *placed_all("t2.1", ("p1", 100)))
    settings = replace(state.settings, tables=("t2",))
    changed = await world.do(change_jackpot, ChangeJackpot("j1", settings))
    assert isinstance(changed, Jackpot)
    await world.settle("t2.1", ("p1", 100))
    await world.play("t1.1", ("p1", 100))
    assert (await world.state()).pool == 1_000
    await world.play("t2.2", ("p1", 100))
    assert (await world.state()).pool == 1_010


async def test_settings_that_change_are_what_the_next_contribution_follows(world: World) -> None:
    state = await world.jackpot()
    unknown = ChangeJackpot("j9", state.settings)
    assert await world.do(change_jackpot, unknown) == Refused("jackpot_unknown")
    await world.jackpot("j2", "t2")
    taken = replace(state.settings, tables=("t1", "t2"))
    assert await world.do(change_jackpot, ChangeJackpot("j1", taken)) == Refused("table_has_jackpot")
    assert (await world.state()).settings == state.settings
    more = replace(state.settings, contribution_ppm=500_000)
    assert isinstance(await world.do(change_jackpot, ChangeJackpot("j1", more)), Jackpot)
    await world.play("t1.1", ("p1", 100))
    assert (await world.state()).pool == 1_050


async def test_a_must_hit_by_jackpot_is_paid_and_proven(world: World) -> None:
    await world.jackpot(must_hit_by=1_400, contribution_ppm=MILLION)
    for number in range(1, 9):
        await world.play(f"t1.{number}", ("p1", 50), ("p2", 50))
    events = await world.events("jackpot-j1")
    sizes = [one.secret_size for one in events if isinstance(one, JackpotSeeded)]
    hits = [one for one in events if isinstance(one, JackpotHit)]
    assert hits
    for hit, size in zip(hits, sizes, strict=False):
        assert hit.opening is not None
        assert size is not None
        assert proves(hit.opening, size)
        before = hit.pool + hit.paid
        assert before >= hit.opening.threshold > before - 100
    await world.state()


async def test_a_secret_is_nowhere_readable_before_it_is_opened(world: World) -> None:
    await world.jackpot(must_hit_by=5_000)
    async with world.pool.acquire() as connection:
        secret = await world.office.vault.get(connection, "j1", 1)
    assert len(secret) == 32
    stored = b"".join([event.content async for event in world.store.iterate_stream("jackpot-j1")])
    assert secret.hex().encode() not in stored
    assert await world.value("SELECT position($1 IN ciphertext) FROM bonus.secrets", secret) == 0


async def test_a_refund_takes_contribution_and_hit_back(world: World) -> None:
    await world.jackpot()
    await world.play("t1.1", ("p1", 100, 10), ("p2", 105))
    await world.play("t1.2", ("p1", 100))
    before = await world.state()
    await world.resettle(
        "t1.1",
        settled("p1", 100, revision=2, refunded=True),
        settled("p2", 105, box=2, revision=2, refunded=True),
        refund=True,
    )
    (corrected,) = [one for one in await world.events("jackpot-j1") if isinstance(one, JackpotCorrected)]
    assert [(one.player, one.amount) for one in corrected.changes] == [("p1", -102)]
    assert corrected.pool_change + sum(one.amount for one in corrected.changes) == corrected.house
    assert not corrected.hit_followed
    state = await world.state()
    assert state.pool == 1_010, "as if only the second round had been played"
    assert (state.remainder, before.remainder) == (0, 500_000)
    assert await world.value("SELECT count(*) FROM bonus.pool_shares") == 0


async def test_a_refund_after_another_hit_leaves_the_contribution(world: World) -> None:
    await world.jackpot("j1", "t1", "t2")
    await world.play("t1.1", ("p1", 100, 10))
    await world.play("t2.1", ("p2", 100, 100))
    before = await world.state()
    await world.resettle("t1.1", settled("p1", 100, revision=2, refunded=True), refund=True)
    state = await world.state()
    assert (state.pool, state.remainder) == (before.pool, before.remainder)
    corrected = (await world.events("jackpot-j1"))[-1]
    assert isinstance(corrected, JackpotCorrected)
    assert (corrected.hit_followed, corrected.pool_change, corrected.house) == (True, 0, -101)


async def test_a_correction_can_bring_a_hit_and_a_second_one_take_it_back(world: World) -> None:
    await world.jackpot(contribution_ppm=0)
    await world.play("t1.1", ("p1", 100), ("p2", 100))
    await world.resettle("t1.1", settled("p1", 100, 100, revision=2))
    assert (await world.state()).pool == 1_000
    await world.resettle("t1.1", settled("p1", 100, revision=3), number=2)
    first, second = [one for one in await world.events("jackpot-j1") if isinstance(one, JackpotCorrected)]
    assert (first.correction, first.house, [one.amount for one in first.changes]) == (1, 1_000, [1_000])
    assert (second.correction, second.house, [one.amount for one in second.changes]) == (2, -1_000, [-1_000])


async def test_a_correction_that_concerns_no_stake_on_b_says_nothing(world: World) -> None:
    await world.jackpot()
    await world.play("t1.1", ("p1", 100))
    number = len(await world.events("jackpot-j1"))
    await world.resettle("t1.1", settled("p1", 100, revision=2))
    assert len(await world.events("jackpot-j1")) == number


async def test_a_cancelled_round_adds_nothing(world: World) -> None:
    await world.jackpot()
    await world.hear(
        ("t1.1", opened("t1.1")),
        *placed_all("t1.1", ("p1", 100)),
        ("t1.1", e.RoundCancelled("dealer_mistake")),
    )
    assert len(await world.events("jackpot-j1")) == 2


async def test_what_cannot_be_followed_is_said(world: World) -> None:
    with pytest.raises(RoundUnknown, match=r"t1\.1"):
        await world.settle("t1.1", ("p1", 1))
    wrong = opened("t1.1")
    other = e.RoundOpened(
        wrong.table, 1, wrong.ruleset, "00" * 32, 1, (), wrong.durations, wrong.opened_at, wrong.closes_at
    )
    with pytest.raises(RulesetUnknown, match="install the same rules"):
        await world.hear(("t1.1", other))
    unheard = e.RoundOpened(
        wrong.table, 1, "unheard@1", "00" * 32, 1, (), wrong.durations, wrong.opened_at, wrong.closes_at
    )
    with pytest.raises(RulesetUnknown, match="unheard@1"):
        await world.hear(("t1.1", unheard))


async def test_several_tables_at_once_keep_one_order(world: World) -> None:
    """Rounds of four tables, settled at the same time over connections of their own, seeded."""
    tables = ("t1", "t2", "t3", "t4")
    await world.jackpot("j1", *tables, contribution_ppm=123_457)
    dice = random.Random(7)
    rounds = {
        f"{table}.{number}": [
            (f"p{seat}", dice.randrange(1, 500), dice.choice([None, None, None, None, 10, 100]))
            for seat in range(3)
        ]
        for table in tables
        for number in range(1, 6)
    }

    async def table(name: str) -> None:
        for number in range(1, 6):
            await world.play(f"{name}.{number}", *rounds[f"{name}.{number}"])

    await asyncio.gather(*map(table, tables))
    state = await world.state()
    events = await world.events("jackpot-j1")
    contributed = [one for one in events if isinstance(one, JackpotContributed)]
    assert {one.round for one in contributed} == set(rounds)
    assert len(contributed) == len(rounds)
    put = sum(one.amount for one in contributed)
    seeded = sum(one.amount for one in events if isinstance(one, JackpotSeeded))
    paid = sum(one.paid for one in events if isinstance(one, JackpotHit))
    assert state.pool == seeded + put - paid
    staked = sum(amount for stakes in rounds.values() for _, amount, _ in stakes)
    assert put * MILLION + state.remainder == staked * 123_457
    # Each event says what is in the pool after it: the stream is the order.
    pool = 0
    for one in events[1:]:
        match one:
            case JackpotSeeded() | JackpotContributed():
                pool += one.amount
            case JackpotHit():
                pool -= one.paid
            case _:
                raise AssertionError(one)
        assert one.pool == pool


async def test_random_lives_end_where_a_recount_ends(world: World) -> None:
    """Random rounds, fences and corrections; at the end the pool is what all that happened sums to."""
    await world.jackpot("j1", "t1", "t2", contribution_ppm=77_777, must_hit_by=4_000)
    dice = random.Random(11)
    stakes: dict[str, list[tuple[str, int, int | None]]] = {}
    revisions: dict[str, int] = {}
    for number in range(1, 18):
        name = f"t{dice.choice('12')}.{number}"
        stakes[name] = [
            (f"p{seat}", dice.randrange(1, 2_000), dice.choice([None, None, None, 10]))
            for seat in range(dice.randrange(1, 4))
        ]
        await world.play(name, *stakes[name])
        if dice.random() < 0.4:
            old = dice.choice(list(stakes))
            await world.fence(old)
            revision = revisions[old] = revisions.get(old, 1) + 1
            refund = dice.random() < 0.5
            share = dice.choice([None, 10])
            await world.resettle(
                old,
                *(
                    settled(
                        player, amount, None if refund else share, box=box, revision=revision, refunded=refund
                    )
                    for box, (player, amount, _) in enumerate(stakes[old], start=1)
                ),
                number=revision - 1,
                refund=refund,
            )
    state = await world.state()
    pool = 0
    won: dict[tuple[str, str], int] = {}
    for one in await world.events("jackpot-j1"):
        match one:
            case JackpotSeeded() | JackpotContributed():
                pool += one.amount
            case JackpotHit():
                pool -= one.paid
                for share_ in one.shares:
                    key = one.round, share_.player
                    won[key] = won.get(key, 0) + share_.amount
            case JackpotCorrected():
                pool += one.pool_change
                assert one.pool_change + sum(change.amount for change in one.changes) == one.house
                for change in one.changes:
                    key = one.round, change.player
                    won[key] = won.get(key, 0) + change.amount
            case _:
                continue
        assert one.pool == pool >= 0
    assert state.pool == pool
    assert not state.fences
    rows = await world.pool.fetch("SELECT round, player, amount FROM bonus.pool_shares")
    assert {(row["round"], row["player"]): row["amount"] for row in rows} == {
        key: amount for key, amount in won.items() if amount
    }
    assert await world.value("SELECT count(*) FROM bonus.waiting_rounds") == 0
