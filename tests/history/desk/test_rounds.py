"""Rounds over gRPC: lists, details, timelines, results, each as whoever asks may see it."""

from __future__ import annotations

import json
from typing import Any

import grpc
import pytest

from rules_core.round.codec import payload_of
from servicekit.grpc import Actor, ActorKind, acting_as
from tests.history.desk.asking import all_of, refused
from tests.history.desk.world import OPERATIONS, ROUND_S, TIMEOUT_S, World, at, player, staff
from upcard.history.v1 import history_pb2 as pb


async def list_rounds(world: World, **wanted: Any) -> pb.ListRoundsResponse:
    """A page of rounds, as operations."""
    with acting_as(OPERATIONS):
        return await world.stub.ListRounds(pb.ListRoundsRequest(**wanted), timeout=TIMEOUT_S)


async def names(world: World, **wanted: Any) -> list[str]:
    """The rounds of a filter."""
    found = await list_rounds(world, filter=pb.RoundFilter(**wanted))
    return [one.round for one in found.rounds]


async def timeline(world: World, name: str, who: Actor | None, skip: int = 0) -> list[pb.TimelineEntry]:
    """The timeline of a round."""
    request = pb.GetTimelineRequest(round=name, skip=skip)
    if who is None:
        batches = await all_of(world.stub.GetTimeline(request, timeout=TIMEOUT_S))
    else:
        with acting_as(who):
            batches = await all_of(world.stub.GetTimeline(request, timeout=TIMEOUT_S))
    return [entry for batch in batches for entry in batch.entries]


async def test_pages_of_rounds_newest_first_without_gap_or_repetition(world: World) -> None:
    for number in range(1, 4):
        await world.play(number=number)
        await world.play("classic@1", table="t2", number=number)
    await world.apply()
    seen: list[str] = []
    after = ""
    while True:
        page = await list_rounds(world, after=after, limit=2)
        seen += [one.round for one in page.rounds]
        after = page.next
        if not after:
            break
    assert sorted(seen) == sorted(world.rounds)
    assert [name.split(".")[1] for name in seen] == ["3", "3", "2", "2", "1", "1"]


async def test_filters(world: World) -> None:
    await world.play(number=1)
    await world.play(number=2, events=5)
    await world.play("classic@1", table="t2", number=1)
    await world.apply()
    assert await names(world, table="t1") == ["t1.2", "t1.1"]
    assert await names(world, ruleset="classic@1") == ["t2.1"]
    assert await names(world, state=pb.ROUND_STATE_OPEN) == ["t1.2"]
    assert set(await names(world, state=pb.ROUND_STATE_SETTLED)) == {"t1.1", "t2.1"}
    assert await names(world, state=pb.ROUND_STATE_CANCELLED) == []
    assert await names(world, opened=pb.Period(since=at(ROUND_S))) == ["t1.2"]
    assert set(await names(world, opened=pb.Period(until=at(ROUND_S)))) == {"t1.1", "t2.1"}


async def test_the_sums_of_a_round_are_those_that_were_settled(world: World) -> None:
    made = await world.play()
    await world.apply()
    (found,) = (await list_rounds(world)).rounds
    settled = payload_of(made.events[-1])
    assert type(made.events[-1]).__name__ == "RoundSettled"
    assert [(one.currency, one.staked, one.returned, one.players) for one in found.totals] == [
        (one["currency"], one["staked"], one["returned"], one["players"]) for one in settled["totals"]
    ]
    assert found.dealer.final == settled["dealer"]["final"]
    assert len(found.dealer.cards) == 5


async def test_each_viewer_is_shown_a_round_of_their_own(world: World) -> None:
    await world.play(players=("p1", "p2"))
    await world.apply()
    request = pb.GetRoundRequest(round="t1.1")
    with acting_as(OPERATIONS):
        operations = (await world.stub.GetRound(request, timeout=TIMEOUT_S)).round
    with acting_as(player("p1")):
        own = (await world.stub.GetRound(request, timeout=TIMEOUT_S)).round
    public = (await world.stub.GetRound(request, timeout=TIMEOUT_S)).round
    assert (operations.viewer, own.viewer, public.viewer) == ("operations", "player:p1", "public")
    assert operations.round.totals
    assert not own.round.totals
    assert not public.round.totals
    assert "house" in json.loads(operations.view)
    assert "house" not in json.loads(own.view)
    assert {one.player for one in own.own} == {"p1"}
    assert "p2" not in own.view
    assert not public.own
    assert "own" not in json.loads(public.view)


async def test_a_player_sees_no_round_without_a_bet_of_theirs(world: World) -> None:
    await world.play(players=("p1", "p2"))
    await world.apply()
    with acting_as(player("p3")):
        answer = await world.stub.GetRound(pb.GetRoundRequest(round="t1.1"), timeout=TIMEOUT_S)
    assert answer.refusal.reason == "round_unknown"
    assert not answer.HasField("round")
    assert await timeline(world, "t1.1", player("p3")) == []


@pytest.mark.parametrize("name", ["t1.99", "nothing", "", "t1.0", "a'; DROP TABLE x; --.1", "t1.1\n"])
async def test_a_round_that_is_not_there(world: World, name: str) -> None:
    for who in (OPERATIONS, player("p1")):
        with acting_as(who):
            answer = await world.stub.GetRound(pb.GetRoundRequest(round=name), timeout=TIMEOUT_S)
        assert answer.refusal.reason == "round_unknown"
        assert await timeline(world, name, who) == []


async def test_a_timeline_says_what_its_viewer_may_see(world: World) -> None:
    made = await world.play(players=("p1", "p2"))
    await world.apply()
    operations = await timeline(world, "t1.1", OPERATIONS)
    assert sorted(one.position for one in operations) == list(range(1, len(made.events) + 1))
    assert all(one.actor for one in operations)
    public = await timeline(world, "t1.1", None)
    assert "PlayerSettled" not in {one.type for one in public}
    assert not any(one.actor for one in public)
    own = await timeline(world, "t1.1", player("p1"))
    settled = [json.loads(one.payload) for one in own if one.type == "PlayerSettled"]
    assert [one["player"] for one in settled] == ["p1"]


async def test_a_timeline_goes_on_where_a_stream_broke_off(world: World) -> None:
    await world.play(players=[f"p{number}" for number in range(1, 60)])
    await world.apply()
    whole = await timeline(world, "t1.1", OPERATIONS)
    assert len(whole) > 100
    assert await timeline(world, "t1.1", OPERATIONS, skip=57) == whole[57:]
    assert await timeline(world, "t1.1", OPERATIONS, skip=len(whole)) == []


async def test_no_face_down_card_of_an_open_round_is_shown(world: World) -> None:
    made = await world.play("dark-boxes@1", players=("p1", "p2"))
    opened_at = next(
        number for number, event in enumerate(made.events) if type(event).__name__ == "DealerRevealed"
    )
    await world.play("dark-boxes@1", table="t2", players=("p1", "p2"), seed=5, events=None)
    half = await world.play("dark-boxes@1", table="t3", players=("p1", "p2"), seed=7, events=opened_at)
    await world.apply()
    for who in (OPERATIONS, player("p1"), None):
        entries = await timeline(world, "t3.1", who)
        assert not any(one.cards for one in entries)
    assert half.sealed


async def test_results_of_a_table_are_for_everybody(world: World) -> None:
    for number in range(1, 4):
        await world.play(number=number)
    await world.play(number=4, events=4)
    await world.apply()
    request = pb.ListResultsRequest(table="t1", limit=2)
    answers = [await world.stub.ListResults(request, timeout=TIMEOUT_S)]
    for who in (player("p9"), OPERATIONS, Actor(ActorKind.DEALER, "d1")):
        with acting_as(who):
            answers.append(await world.stub.ListResults(request, timeout=TIMEOUT_S))
    for answer in answers:
        assert [one.number for one in answer.results] == [3, 2]
        assert all(one.dealer.final for one in answer.results)


@pytest.mark.parametrize("limit", [-1, 1_001])
async def test_a_page_has_bounds(world: World, limit: int) -> None:
    answer = await refused(list_rounds(world, limit=limit))
    assert answer == (grpc.StatusCode.INVALID_ARGUMENT, "invalid_argument")


@pytest.mark.parametrize("after", ["x", "12/", "1/t1", "99999999999999999999/t1.1", "-1/t1.1", "1/t1.1\n"])
async def test_a_token_that_nobody_gave(world: World, after: str) -> None:
    answer = await refused(list_rounds(world, after=after))
    assert answer == (grpc.StatusCode.INVALID_ARGUMENT, "invalid_argument")


async def test_staff_need_a_role(world: World) -> None:
    with acting_as(staff("cleaner")):
        for call in (
            world.stub.ListRounds(pb.ListRoundsRequest(), timeout=TIMEOUT_S),
            world.stub.GetRound(pb.GetRoundRequest(round="t1.1"), timeout=TIMEOUT_S),
            all_of(world.stub.GetTimeline(pb.GetTimelineRequest(round="t1.1"), timeout=TIMEOUT_S)),
        ):
            assert await refused(call) == (grpc.StatusCode.PERMISSION_DENIED, "role_missing")
