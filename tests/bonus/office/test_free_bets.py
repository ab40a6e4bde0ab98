"""Free bets behind calls and the table's events."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import pytest

from eventstore.postgres import Connection
from rules_core.round import events as e
from rules_core.settlement.model import Line
from tests.bonus.office.world import ORIGIN, World, append, opened, placed, result, withdrawn
from upcard_bonus.app.keeping_free_bets import expire_free_bets, grant_free_bet, revoke_free_bet
from upcard_bonus.app.recording import instant_text
from upcard_bonus.domain.free_bet import FreeBet, fold
from upcard_bonus.domain.free_bet_events import (
    FreeBetExpired,
    FreeBetGranted,
    FreeBetReturned,
    FreeBetUsed,
)
from upcard_bonus.domain.refusal import Refused

ROUND = "t1.1"


def wanted(**changes: object) -> FreeBetGranted:
    expires_at = instant_text(dt.datetime.now(dt.UTC) + dt.timedelta(days=7))
    made = FreeBetGranted("f1", "p1", "EUR", 500, ("ante", "bonus_player"), expires_at)
    return replace(made, **changes)  # type: ignore[arg-type]  # any field


async def granted(world: World, **changes: object) -> FreeBet:
    found = await world.do(grant_free_bet, wanted(**changes))
    assert isinstance(found, FreeBet), found
    return found


async def now(world: World, name: str = "f1") -> FreeBet:
    """A free bet as it is now; its events say the same."""
    async with world.pool.acquire() as connection, connection.transaction():
        found = (await world.office.free_bets.lock(connection, [name]))[name]
    told = fold(await world.events(f"freebet-{name}"))  # type: ignore[arg-type]  # of a free bet
    assert told == found, "what the tables have is what the log says"
    return found


async def lapse(world: World) -> int:
    """Let what is over lapse; how many that were."""
    async with world.pool.acquire() as connection, connection.transaction():
        appends = await expire_free_bets(world.office, connection, ORIGIN, 100)
        await append(connection, appends)
    return len(appends)


def lost(wager: str, stake: int, funding: str | None = "f1") -> Line:
    return Line(wager, stake, 0, "test", None, funding)  # type: ignore[arg-type]  # any wager


def returned(wager: str, stake: int, funding: str | None = "f1") -> Line:
    return Line(wager, stake, stake, "test", None, funding)  # type: ignore[arg-type]  # any wager


async def staked(world: World, amount: int = 300) -> None:
    await world.hear((ROUND, opened(ROUND)), (ROUND, placed("p1", (1, "ante", amount, "f1"))))


async def test_granting_again_gives_it_and_another_one_is_refused(world: World) -> None:
    one = wanted()
    first = await world.do(grant_free_bet, one)
    assert isinstance(first, FreeBet)
    assert await world.do(grant_free_bet, one) == first
    assert await world.do(grant_free_bet, replace(one, amount=501)) == Refused("free_bet_exists")
    assert await world.events("freebet-f1") == [one]


@pytest.mark.parametrize("lasts", [dt.timedelta(seconds=-1), dt.timedelta(days=401)])
async def test_its_time_is_yet_to_come_and_bounded(world: World, lasts: dt.timedelta) -> None:
    expires_at = instant_text(dt.datetime.now(dt.UTC) + lasts)
    assert await world.do(grant_free_bet, wanted(expires_at=expires_at)) == Refused("expiry_invalid")


async def test_a_stake_uses_it_and_a_lost_one_spends_it(world: World) -> None:
    await granted(world)
    await staked(world)
    assert (await now(world)).left == 200
    await world.hear((ROUND, result("p1", lost("ante", 300))))
    assert ((await now(world)).used, (await now(world)).state) == (300, "granted")
    await world.hear((ROUND, placed("p1", (2, "ante", 200, "f1"), bet_id="b2")))
    assert (await now(world)).state == "spent"
    used = (await world.contents("freebet-f1"))[1]
    assert (used.actor, used.correlation_id) == ("system", "table")
    assert used.causation_id is not None


async def test_a_stake_that_is_withdrawn_gives_it_back(world: World) -> None:
    await granted(world)
    await staked(world)
    await world.hear((ROUND, withdrawn("p1", (1, "ante", 300))))
    assert (await now(world)).left == 500
    back = (await world.events("freebet-f1"))[-1]
    assert back == FreeBetReturned("f1", ROUND, "b1", 1, "ante", 300, 500, "withdrawn")
    # Staked anew and lost: the result is that of the second stake alone.
    await world.hear(
        (ROUND, placed("p1", (1, "ante", 300, "f1"), bet_id="b2")),
        (ROUND, result("p1", lost("ante", 300))),
        (ROUND, result("p1", lost("ante", 300), revision=2)),
    )
    assert ((await now(world)).used, len(await world.events("freebet-f1"))) == (300, 4)


async def test_both_in_one_batch_are_as_apart(world: World) -> None:
    await granted(world)
    await world.hear(
        (ROUND, opened(ROUND)),
        (ROUND, placed("p1", (1, "ante", 300, "f1"))),
        (ROUND, withdrawn("p1", (1, "ante", 300))),
        (ROUND, placed("p1", (1, "ante", 100, "f1"), bet_id="b2")),
    )
    assert (await now(world)).used == 100


async def test_a_wager_that_the_result_returns_gives_it_back(world: World) -> None:
    await granted(world)
    await staked(world)
    await world.hear((ROUND, result("p1", returned("ante", 300))))
    assert (await now(world)).left == 500
    # A correction: it was lost after all; and another one: it was not.
    await world.hear((ROUND, result("p1", lost("ante", 300), revision=2)))
    assert (await now(world)).used == 300
    await world.hear((ROUND, result("p1", returned("ante", 300), revision=3)))
    assert (await now(world)).left == 500
    events = await world.events("freebet-f1")
    assert isinstance(events[3], FreeBetUsed)
    assert events[3].correction


async def test_a_win_does_not_give_it_back(world: World) -> None:
    await granted(world)
    await staked(world)
    won = Line("ante", 300, 600, "test", None, "f1")
    await world.hear((ROUND, result("p1", won)))
    assert (await now(world)).used == 300


async def test_a_cancelled_round_gives_all_of_them_back(world: World) -> None:
    await granted(world)
    await granted(world, free_bet="f2", player="p2")
    await world.hear(
        (ROUND, opened(ROUND)),
        (ROUND, placed("p1", (1, "ante", 300, "f1"), (1, "bonus_player", 100, "f1"))),
        (ROUND, placed("p2", (2, "ante", 500, "f2"))),
        (ROUND, e.RoundCancelled("dealer_mistake")),
    )
    assert ((await now(world)).left, (await now(world, "f2")).left) == (500, 500)


async def test_a_cash_line_of_the_same_wager_is_not_meant(world: World) -> None:
    await granted(world)
    await world.hear(
        (ROUND, opened(ROUND)),
        (ROUND, placed("p1", (1, "ante", 300, "f1"), (2, "ante", 300))),
        (ROUND, result("p1", lost("ante", 300), box=1)),
        (ROUND, result("p1", returned("ante", 300, None), box=2)),
    )
    assert (await now(world)).used == 300


async def test_it_lapses_when_its_time_is_over(world: World) -> None:
    await granted(world, expires_at=instant_text(dt.datetime.now(dt.UTC) + dt.timedelta(milliseconds=300)))
    await granted(world, free_bet="f2")
    await staked(world)
    await world.value("SELECT pg_sleep_until(expires_at) FROM bonus.free_bets WHERE free_bet = 'f1'")
    assert await lapse(world) == 1
    assert await lapse(world) == 0
    assert (await now(world)).state == "expired"
    assert (await now(world, "f2")).left == 500
    await world.hear((ROUND, result("p1", returned("ante", 300))))
    lapses = [one for one in await world.events("freebet-f1") if isinstance(one, FreeBetExpired)]
    assert [(one.amount, one.why) for one in lapses] == [(200, "time"), (300, "returned_late")]
    assert (await now(world)).lapsed == 500


async def test_it_can_be_taken_back(world: World) -> None:
    await granted(world)
    await staked(world)
    taken = await world.do(revoke_free_bet, "f1")
    assert isinstance(taken, FreeBet)
    assert (taken.left, taken.used, taken.state) == (0, 300, "expired")
    assert await world.do(revoke_free_bet, "f1") == taken
    assert await world.do(revoke_free_bet, "f9") == Refused("free_bet_unknown")
    assert len(await world.events("freebet-f1")) == 3


async def test_one_that_nobody_granted_is_an_alarm_and_nothing_else(world: World) -> None:
    await world.hear((ROUND, opened(ROUND)), (ROUND, placed("p1", (1, "ante", 300, "f9"))))
    assert world.seen.unknown == ["f9 in t1.1"]


async def test_one_that_pays_what_it_may_not_is_an_alarm_and_counts(world: World) -> None:
    await granted(world)
    await world.hear(
        (ROUND, opened(ROUND)),
        (ROUND, placed("p1", (1, "bonus_dealer", 10, "f1"), (1, "ante", 10, "f1"))),
        (ROUND, placed("p2", (2, "ante", 10, "f1"))),
    )
    assert world.seen.misused == ["f1 for bonus_dealer in t1.1", "f1 for ante in t1.1"]
    assert (await now(world)).used == 30


async def test_lists_are_pages_by_id(world: World) -> None:
    for number in range(5):
        await granted(world, free_bet=f"f{number}")
    await world.do(revoke_free_bet, "f1")

    async def page(connection: Connection, after: str, *, usable_only: bool) -> list[str]:
        found = await world.office.free_bets.list(
            connection, "p1", after=after, limit=2, usable_only=usable_only
        )
        return [one.free_bet for one in found]

    async with world.pool.acquire() as connection:
        assert await page(connection, "", usable_only=False) == ["f0", "f1"]
        assert await page(connection, "f1", usable_only=False) == ["f2", "f3"]
        assert await page(connection, "", usable_only=True) == ["f0", "f2"]
        assert await page(connection, "f4", usable_only=True) == []
