"""Wins and rollbacks: posted at once, told in order until they are known, or parked for people."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from uuid import uuid4

import asyncpg
import pytest

from eventstore.postgres import Pool, PostgresEventStore
from tests.wallet.ledger.world import ORIGIN, ROUND_CANCELLED, ROUND_SETTLED, append, bet, settled, withdrawn
from tests.wallet.partner import Trick
from tests.wallet.seamless.world import QUICK, SeamlessWorld, seamless_world
from upcard_wallet.adapters.seamless.parked import (
    NotParked,
    ParkedDecision,
    decide_parked,
    parked_calls,
)
from upcard_wallet.adapters.seamless.partner import Accepted
from upcard_wallet.adapters.seamless.standing import backlogs, overdue_bets, rounds_with_partners
from upcard_wallet.app.adjust import Adjust, adjust
from upcard_wallet.app.jackpots import Hit, Share, post_jackpots
from upcard_wallet.app.parked import ParkedCall
from upcard_wallet.app.purse import AccountRef, SettledPlayer

UNCLEAR = [
    Trick.CUT,
    Trick.LOST,
    Trick.BROKEN,
    Trick.BROKEN_DONE,
    Trick.GARBAGE,
    Trick.ENDLESS,
    Trick.AWAY,
    Trick.OTHER_TOTAL,
    Trick.OTHER_CURRENCY,
    Trick.OTHER_CALL,
    Trick.POISONS,
]


async def staked(world: SeamlessWorld, player: str = "p1", operator: str = "op1") -> None:
    """A player with 100 who has staked 30 of it in round t1.1."""
    await world.guest(player, 100, operator=operator)
    await world.place(bet((1, "ante", 30), player=player))


async def parked(world: SeamlessWorld, operator: str = "op1") -> list[ParkedCall]:
    """What waits for people."""
    async with world.pool.acquire() as connection:
        return await parked_calls(connection, operator)


async def decide(world: SeamlessWorld, decided: ParkedDecision) -> None:
    """Two people decide."""
    async with world.pool.acquire() as connection, connection.transaction():
        await append(connection, await decide_parked(connection, world.records, decided))


async def test_a_settlement_is_posted_before_the_partner_knows(world: SeamlessWorld) -> None:
    await staked(world)
    await world.hear(("t1.1", settled((1, "ante", 30, 80))), ("t1.1", ROUND_SETTLED))
    assert await world.books() == {"operator": 50, "house": -50}
    assert world.server.balances["p1", "EUR"] == 70
    assert await world.calls() == [("bet", "accepted", 30), ("win", "queued", 80)]
    async with world.pool.acquire() as connection:
        (one,) = await rounds_with_partners(connection, ["t1.1"])
    assert (one.by_ledger, one.by_calls, one.told) == (50, 50, -30)
    world.start_work()
    await world.agrees_with_partners()
    assert world.server.balances["p1", "EUR"] == 150
    assert await world.calls() == [("bet", "accepted", 30), ("win", "done", 80)]


async def test_a_lost_round_is_closed_at_the_partner_with_a_win_of_nothing(world: SeamlessWorld) -> None:
    await staked(world)
    world.start_work()
    await world.hear(("t1.1", settled((1, "ante", 30, 0))), ("t1.1", ROUND_SETTLED))
    await world.agrees_with_partners()
    kind, asked = world.server.calls[-1]
    assert (kind, asked["total"], asked["closes_round"]) == ("win", 0, True)


@pytest.mark.parametrize("trick", [*UNCLEAR, Trick.TWICE, Trick.HANGS])
async def test_a_win_is_paid_once_whatever_the_partner_does(world: SeamlessWorld, trick: Trick) -> None:
    await staked(world)
    world.server.script("win", *([trick] if trick is Trick.HANGS else [trick, trick]))
    world.start_work()
    await world.hear(("t1.1", settled((1, "ante", 30, 80))), ("t1.1", ROUND_SETTLED))
    await world.agrees_with_partners()
    assert world.server.balances["p1", "EUR"] == 150


@pytest.mark.parametrize("trick", [*UNCLEAR, Trick.TWICE])
async def test_a_bet_is_rolled_back_once_whatever_the_partner_does(
    world: SeamlessWorld, trick: Trick
) -> None:
    await staked(world)
    world.server.script("rollback", trick, trick)
    world.start_work()
    await world.hear(("t1.1", ROUND_CANCELLED))
    await world.agrees_with_partners()
    assert world.server.balances["p1", "EUR"] == 100


async def test_a_partner_that_is_gone_is_told_when_it_is_back(world: SeamlessWorld) -> None:
    names = [f"p{number}" for number in range(30)]
    for name in names:
        await staked(world, name)
    await world.server.crash()
    world.start_work()
    await world.hear(
        *(("t1.1", settled((1, "ante", 30, 40), player=name)) for name in names), ("t1.1", ROUND_SETTLED)
    )
    await world.until("SELECT sum(failures) > 8 FROM wallet.partner_lanes")
    assert (await world.books())["operator"] == 300, "what the partner owes is known all the time"
    async with world.pool.acquire() as connection:
        (backlog,) = await backlogs(connection)
        assert (backlog.operator, backlog.waiting, backlog.parked) == ("op1", 30, 0)
        assert backlog.failing_for_s > 0
        assert await overdue_bets(connection) == 0
    await world.server.start()
    await world.agrees_with_partners()
    assert {world.server.balances[name, "EUR"] for name in names} == {110}
    assert world.told.pauses > 0


async def test_when_a_partner_is_back_nobody_waits_for_the_end_of_their_pauses(
    pool: Pool, store: PostgresEventStore
) -> None:
    patient = replace(QUICK, first_pause_s=600.0, longest_pause_s=600.0, failures_before_pause=2)
    async with seamless_world(pool, store, "op1") as placing:
        for number in range(6):
            await staked(placing, f"p{number}")
        await placing.hear(
            *(("t1.1", settled((1, "ante", 30, 60), player=f"p{number}")) for number in range(6))
        )
        async with SeamlessWorld(pool, store, placing.servers, patient) as world:
            world.server.always("win", Trick.BROKEN)
            world.start_work()
            await world.until("SELECT count(*) = 6 FROM wallet.partner_lanes WHERE failures = 1")
            await world.place(bet((1, "ante", 30), player="p0", round_name="t1.2"))
            world.server.always("win", Trick.HONEST)
            await world.hear(("t1.2", settled((1, "ante", 30, 30), player="p0")))
            await world.agrees_with_partners()


async def test_a_jackpot_and_an_adjustment_reach_the_partner(world: SeamlessWorld) -> None:
    await staked(world)
    world.start_work()
    await world.hear(("t1.1", settled((1, "ante", 30, 0))), ("t1.1", ROUND_SETTLED))
    hit = Hit("j1", "op1", "EUR", (Share("p1", 500),), "t1.1", world.event_id())
    for _ in range(2):
        await world.change(lambda connection: post_jackpots(world.wallet, connection, [hit], ORIGIN))
        given = Adjust("p1-EUR", 7, "cash", "house", "sorry", "staff:a", "staff:b", "sorry-1")
        await world.do(adjust, given)
    await world.agrees_with_partners()
    assert world.server.balances["p1", "EUR"] == 577


async def test_what_is_kept_of_answers_is_never_changed(world: SeamlessWorld) -> None:
    await staked(world)
    world.server.script("win", Trick.OTHER_TOTAL)
    world.start_work()
    await world.hear(("t1.1", settled((1, "ante", 30, 0))), ("t1.1", ROUND_SETTLED))
    await world.quiet()
    rows = await world.pool.fetch("SELECT verdict, detail FROM wallet.partner_answers ORDER BY answer")
    assert [tuple(row) for row in rows] == [
        ("accepted", ""),
        ("contradicts", "accepted with another total: 1"),
        ("accepted", ""),
    ]
    for statement in ("UPDATE wallet.partner_answers SET detail = ''", "DELETE FROM wallet.partner_calls"):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await world.pool.execute(statement)


async def test_a_player_and_round_are_told_in_order(world: SeamlessWorld) -> None:
    await world.guest(money=100)
    await world.place(bet((1, "ante", 30), (1, "bonus_player", 5)))
    await world.hear(("t1.1", withdrawn((1, "bonus_player", 5))))
    await world.hear(("t1.1", settled((1, "ante", 30, 50))), ("t1.1", ROUND_SETTLED))
    for revision, returned in ((2, 70), (3, 10), (4, 60)):
        await world.hear(("t1.1", settled((1, "ante", 30, returned), revision=revision)))
    for kind in ("win", "rollback"):
        world.server.script(kind, Trick.CUT, Trick.LOST, Trick.BROKEN_DONE)
    world.start_work()
    await world.agrees_with_partners()
    assert await world.calls() == [
        ("bet", "accepted", 35),
        ("rollback", "done", 5),
        ("win", "done", 50),
        ("win", "done", 20),
        ("rollback", "done", 20),
        ("rollback", "done", 50),
        ("win", "done", 10),
        ("win", "done", 50),
    ]
    assert world.server.balances["p1", "EUR"] == 130
    told = [verdict for _, kind, verdict in world.told.verdicts if kind != "bet"]
    assert told.count(Accepted()) == 7


async def test_a_revision_that_is_noted_again_or_late_is_noted_once(world: SeamlessWorld) -> None:
    await staked(world)
    account = AccountRef("p1-EUR", "p1", "op1", "EUR", "seamless")
    for revision, paid in ((1, 50), (2, 20), (1, 50), (2, 20), (2, 99)):
        noted = SettledPlayer(account, "t1.1", revision, paid, uuid4())
        async with world.pool.acquire() as connection, connection.transaction():
            await world.seamless.settle(connection, [noted, noted])
    assert await world.calls() == [
        ("bet", "accepted", 30),
        ("win", "queued", 50),
        ("rollback", "queued", 50),
        ("win", "queued", 20),
    ]


async def test_a_rise_never_takes_from_a_player(world: SeamlessWorld) -> None:
    await staked(world)
    world.start_work()
    await world.hear(("t1.1", settled((1, "ante", 30, 50))), ("t1.1", ROUND_SETTLED))
    await world.quiet()
    world.server.give("p1", -120)
    await world.hear(("t1.1", settled((1, "ante", 30, 90), revision=2)))
    await world.agrees_with_partners()
    assert world.server.balances["p1", "EUR"] == 40


async def test_what_the_partner_cannot_get_back_waits_for_people(world: SeamlessWorld) -> None:
    await staked(world)
    world.start_work()
    await world.hear(("t1.1", settled((1, "ante", 30, 80))), ("t1.1", ROUND_SETTLED))
    await world.quiet()
    world.server.give("p1", -150)  # the player has taken it home
    await world.hear(("t1.1", settled((1, "ante", 30, 30), revision=2)))
    await world.quiet()
    assert (await world.books()) == {}, "our ledger says what is right: stake back, nothing won"
    (one,) = await parked(world)
    assert (one.kind, one.undoes, one.total, one.reason, one.behind) == (
        "rollback",
        "win",
        80,
        "refused_funds",
        1,
    )
    assert [reason for _, _, reason in world.told.parked_calls] == ["refused_funds"]
    world.server.give("p1", 100)
    decided = ParkedDecision(uuid4(), one.call, "again", "staff:a", "staff:a", "the player has paid in")
    await decide(world, decided)
    await world.agrees_with_partners()
    assert await parked(world) == []
    assert world.server.balances["p1", "EUR"] == 50
    with pytest.raises(NotParked):
        await decide(world, replace(decided, decision=uuid4()))


async def test_what_is_done_by_hand_takes_two_people(world: SeamlessWorld) -> None:
    await staked(world)
    world.server.script("win", Trick.REFUSES)
    world.start_work()
    await world.hear(("t1.1", settled((1, "ante", 30, 80))), ("t1.1", ROUND_SETTLED))
    await world.quiet()
    (one,) = await parked(world)
    assert (one.kind, one.reason) == ("win", "refused_player")
    decided = ParkedDecision(uuid4(), one.call, "done_by_hand", "staff:a", "staff:a", "paid by bank")
    with pytest.raises(ValueError, match="two people"):
        await decide(world, decided)
    await decide(world, replace(decided, approver="staff:b"))
    assert await parked(world) == []
    assert await world.calls() == [("bet", "accepted", 30), ("win", "done", 80)]


async def test_a_parked_player_delays_no_other(world: SeamlessWorld) -> None:
    await staked(world, "p1")
    await staked(world, "p2")
    world.server.script("win", Trick.REFUSES)
    await world.hear(("t1.1", settled((1, "ante", 30, 80), player="p1")))
    world.start_work()
    await world.quiet()
    await world.hear(("t1.1", settled((1, "ante", 30, 80), player="p2")), ("t1.1", ROUND_SETTLED))
    await world.quiet()
    assert (world.server.balances["p1", "EUR"], world.server.balances["p2", "EUR"]) == (70, 150)


async def test_answers_that_contradict_again_and_again_are_for_people(world: SeamlessWorld) -> None:
    await staked(world)
    world.server.always("win", Trick.OTHER_TOTAL)
    world.start_work()
    await world.hear(("t1.1", settled((1, "ante", 30, 80))), ("t1.1", ROUND_SETTLED))
    await world.quiet()
    (one,) = await parked(world)
    assert one.reason == "contradicted"
    assert len(world.server.calls) == 1 + QUICK.contradictions_max
    world.server.always("win", Trick.HONEST)
    await decide(world, ParkedDecision(uuid4(), one.call, "again", "staff:a", "staff:b", "they mended it"))
    await world.agrees_with_partners()


async def test_no_answer_for_too_long_is_for_people(pool: Pool, store: PostgresEventStore) -> None:
    impatient = replace(QUICK, park_after_s=0.3)
    async with seamless_world(pool, store, "op1", settings=impatient) as world:
        await staked(world)
        world.server.always("win", Trick.BROKEN)
        world.start_work()
        await world.hear(("t1.1", settled((1, "ante", 30, 80))), ("t1.1", ROUND_SETTLED))
        await world.quiet()
        (one,) = await parked(world)
        assert one.reason == "no_answer"
        assert one.call in {call for _, call, _ in world.told.parked_calls}


async def test_a_partner_that_hangs_delays_no_other(world: SeamlessWorld) -> None:
    for number in range(40):
        await staked(world, f"h{number}")
    await staked(world, "p2", "op2")
    world.server.always("win", Trick.HANGS)
    world.start_work()
    await world.hear(*(("t1.1", settled((1, "ante", 30, 60), player=f"h{number}")) for number in range(40)))
    await world.server.called("win", world.settings.queue_at_once)
    await world.hear(("t1.1", settled((1, "ante", 30, 60), player="p2")))
    await world.servers["op2"].called("win")
    await world.until(
        "SELECT EXISTS (SELECT FROM wallet.partner_lanes WHERE operator = 'op2' AND state = 'idle')"
    )
    world.server.always("win", Trick.HONEST)
    world.server.release_late()
    await world.agrees_with_partners()


async def test_two_instances_share_the_queue(pool: Pool, store: PostgresEventStore) -> None:
    patient = replace(QUICK, queue_timeout_s=30.0)
    async with seamless_world(pool, store, "op1", settings=patient) as world:
        for number in range(40):
            await staked(world, f"p{number}")
        await world.hear(
            *(("t1.1", settled((1, "ante", 30, 60), player=f"p{number}")) for number in range(40))
        )
        async with SeamlessWorld(pool, store, world.servers, patient) as other:
            world.start_work()
            other.start_work()
            await world.agrees_with_partners()
            assert world.told.failures == other.told.failures == []
        wins = [asked["call"] for kind, asked in world.server.calls if kind == "win"]
        assert len(wins) == len(set(wins)) == 40, "nobody told the same twice"


async def test_a_claim_that_is_not_ended_runs_out(world: SeamlessWorld) -> None:
    await staked(world)
    await world.hear(("t1.1", settled((1, "ante", 30, 80))))
    await world.pool.execute(
        "UPDATE wallet.partner_lanes SET claim = gen_random_uuid(), due_at = now() + interval '0.5 seconds'"
    )
    world.start_work()
    await world.agrees_with_partners()
    assert world.server.balances["p1", "EUR"] == 150


async def test_work_goes_on_after_the_database_was_away(world: SeamlessWorld, service_database: str) -> None:
    await staked(world)
    world.server.script("win", Trick.HANGS)
    world.start_work()
    await world.hear(("t1.1", settled((1, "ante", 30, 80))))
    await world.server.called("win")
    apart = await asyncpg.connect(service_database)
    killed = await apart.fetch(
        "SELECT pid, pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database()"
        " AND usename = current_user AND pid <> pg_backend_pid()"
    )
    await apart.close()
    assert killed
    world.server.release_late()
    async with asyncio.timeout(30):
        while True:
            try:
                await world.agrees_with_partners()
                break
            except (asyncpg.PostgresConnectionError, asyncpg.InterfaceError, OSError):
                await asyncio.sleep(0)  # our own connections were cut too
    assert world.server.balances["p1", "EUR"] == 150
