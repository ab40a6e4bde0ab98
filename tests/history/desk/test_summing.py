"""Tables in play and a player's totals over gRPC."""

from __future__ import annotations

from typing import Any

import grpc
import pytest

from servicekit.grpc import Actor, acting_as
from tests.history.desk.asking import refused
from tests.history.desk.test_players import BETS
from tests.history.desk.world import OPERATIONS, ROUND_S, TIMEOUT_S, World, at, player, staff
from upcard.history.v1 import history_pb2 as pb


async def in_play(world: World, who: Actor = OPERATIONS, **wanted: Any) -> pb.ListTablesInPlayResponse:
    """A page of rounds that have not ended."""
    with acting_as(who):
        request = pb.ListTablesInPlayRequest(**wanted)
        return await world.stub.ListTablesInPlay(request, timeout=TIMEOUT_S)


async def totals(world: World, who: Actor, **wanted: Any) -> pb.GetPlayerTotalsResponse:
    """A player's totals of the first day."""
    request = pb.GetPlayerTotalsRequest(**{"since": at(0), "until": at(86_400), **wanted})
    with acting_as(who):
        return await world.stub.GetPlayerTotals(request, timeout=TIMEOUT_S)


async def test_tables_in_play_show_what_is_at_stake(world: World) -> None:
    await world.play(table="t1")
    await world.play(table="t2", seed=4, events=BETS)
    await world.play(table="t3", events=1)
    await world.apply()
    two, three = (await in_play(world)).rounds
    assert (two.round, three.round) == ("t2.1", "t3.1")
    assert two.window == three.window == "betting"
    assert three.window_opened_at == three.opened_at
    assert not three.at_stake
    with acting_as(OPERATIONS):
        bets = await world.stub.ListBetsInPlay(pb.ListBetsInPlayRequest(table="t2"), timeout=TIMEOUT_S)
    (stake,) = two.at_stake
    assert stake.amount == sum(bet.amount for bet in bets.bets.bets) > 0
    assert stake.players == len({bet.player for bet in bets.bets.bets})


async def test_tables_in_play_come_in_pages(world: World) -> None:
    for number in range(1, 6):
        await world.play(table=f"t{number}", events=1)
    await world.apply()
    seen: list[str] = []
    after = ""
    while True:
        page = await in_play(world, after=after, limit=2)
        seen += [one.round for one in page.rounds]
        after = page.next
        if not after:
            break
    assert seen == [f"t{number}.1" for number in range(1, 6)]
    assert await refused(in_play(world, after="?")) == (
        grpc.StatusCode.INVALID_ARGUMENT,
        "invalid_argument",
    )


async def test_totals_are_the_sums_of_the_rounds(world: World) -> None:
    for number in range(1, 5):
        await world.play(number=number)
    await world.play(table="t2", seed=4, events=BETS)
    await world.apply()
    with acting_as(player("p1")):
        page = (await world.stub.ListPlayerRounds(pb.ListPlayerRoundsRequest(), timeout=TIMEOUT_S)).page
    settled = [one for one in page.rounds if one.state == pb.ROUND_STATE_SETTLED]
    (found,) = (await totals(world, player("p1"))).totals.totals
    assert (found.currency, found.rounds, found.cancelled) == ("EUR", 4, 0)
    assert found.open == len(page.rounds) - len(settled)
    assert found.staked == sum(one.staked for one in settled)
    assert found.returned == sum(one.returned for one in settled)
    assert found.net == found.returned - found.staked
    assert found.won == sum(one.net > 0 for one in settled)
    part = await totals(world, player("p1"), since=at(ROUND_S), until=at(3 * ROUND_S))
    assert part.totals.totals[0].rounds == 2
    assert (await totals(world, OPERATIONS, player="p1")).totals.totals[0] == found
    assert not (await totals(world, OPERATIONS, player="nobody")).totals.totals


async def test_totals_are_a_players_own(world: World) -> None:
    assert (await totals(world, player("p2"), player="p1")).refusal.reason == "player_unknown"
    for who in (staff("cleaner"),):
        answer = await refused(totals(world, who, player="p1"))
        assert answer == (grpc.StatusCode.PERMISSION_DENIED, "role_missing")
        answer = await refused(in_play(world, who))
        assert answer == (grpc.StatusCode.PERMISSION_DENIED, "role_missing")
    answer = await refused(in_play(world, player("p1")))
    assert answer == (grpc.StatusCode.PERMISSION_DENIED, "actor_not_allowed")


@pytest.mark.parametrize("until", [0, -1, 86_400 * 401])
async def test_a_period_that_cannot_be(world: World, until: int) -> None:
    assert (await totals(world, player("p1"), until=at(until))).refusal.reason == "period_invalid"
