"""Replays, what did not agree, bundles, how history stands: over gRPC."""

from __future__ import annotations

import json
from dataclasses import replace
from uuid import UUID

import pytest

from eventstore import Expect, NewEvent
from rules_core.canonical import canonical_bytes
from rules_core.log.content import content_bytes, parse_content
from rules_core.log.verify import verify_bundle
from servicekit.grpc import Actor, acting_as
from tests.history.desk.asking import all_of
from tests.history.desk.world import OPERATIONS, TIMEOUT_S, World, player
from upcard.history.v1 import history_pb2 as pb

RULESETS = ("live-shared@1", "dark-boxes@1", "classic@1", "three-box@1", "four-box@1")


async def bundle(world: World, name: str, who: Actor, of: str = "") -> bytes | str:
    """A bundle's bytes, or the reason why there is none."""
    with acting_as(who):
        request = pb.GetBundleRequest(round=name, player=of)
        pieces = await all_of(world.stub.GetBundle(request, timeout=TIMEOUT_S))
    if pieces[0].HasField("refusal"):
        assert len(pieces) == 1
        return str(pieces[0].refusal.reason)
    return b"".join(piece.data for piece in pieces)


async def replay(world: World, name: str) -> pb.ReplayRoundResponse:
    """A replay, as operations."""
    with acting_as(OPERATIONS):
        return await world.stub.ReplayRound(pb.ReplayRoundRequest(round=name), timeout=TIMEOUT_S)


async def falsified(world: World, name: str = "t9.1") -> None:
    """Keep a settled round in which a player was paid one more than the rules give."""
    made = await world.play(table=name.partition(".")[0], seed=11, events=1)
    new = []
    for data in made.contents[1:]:
        content = parse_content(data)
        if content.type == "PlayerSettled":
            payload = json.loads(canonical_bytes(content.payload))
            payload["boxes"][0]["lines"][0]["returned"] += 1
            content = replace(content, payload=payload)
        new.append(NewEvent(UUID(content.event_id), content.type, content_bytes(content)))
    await world.store.append(made.stream, new, expected=Expect.EXISTS)


@pytest.mark.parametrize("ruleset", RULESETS)
async def test_a_round_is_decided_again(world: World, ruleset: str) -> None:
    made = await world.play(ruleset, players=("p1",))
    await world.apply()
    found = (await replay(world, "t1.1")).replay
    assert found.outcome == pb.REPLAY_OUTCOME_AGREED, found
    assert found.position == len(made.events)
    assert json.loads(found.report)["outcome"] == "agreed"
    assert found.sentences[0].startswith("AGREED")
    assert not found.HasField("ran_at")


async def test_a_round_that_goes_on_agrees_so_far(world: World) -> None:
    await world.play(events=6)
    await world.apply()
    assert (await replay(world, "t1.1")).replay.outcome == pb.REPLAY_OUTCOME_NOT_ENDED
    assert (await replay(world, "t1.2")).refusal.reason == "round_unknown"


async def test_a_difference_is_found_and_listed(world: World) -> None:
    await world.play()
    await falsified(world)
    await world.apply()
    await world.replay()
    assert sorted(world.replays.outcomes) == ["agreed", "disagreed"]
    with acting_as(OPERATIONS):
        found = await world.stub.ListDifferences(pb.ListDifferencesRequest(), timeout=TIMEOUT_S)
        standing = await world.stub.GetStanding(pb.GetStandingRequest(), timeout=TIMEOUT_S)
    (wrong,) = found.replays
    assert (wrong.round, wrong.outcome) == ("t9.1", pb.REPLAY_OUTCOME_DISAGREED)
    assert json.loads(wrong.report)["difference"]["type"] == "PlayerSettled"
    assert wrong.HasField("ran_at")
    assert (standing.replays.wrong, standing.replays.waiting) == (1, 0)
    again = (await replay(world, "t9.1")).replay
    assert again.outcome == pb.REPLAY_OUTCOME_DISAGREED
    assert again.sentences[0].startswith("DISAGREED")


async def test_how_history_stands(world: World) -> None:
    await world.play()
    with acting_as(OPERATIONS):
        before = await world.stub.GetStanding(pb.GetStandingRequest(), timeout=TIMEOUT_S)
        await world.apply()
        after = await world.stub.GetStanding(pb.GetStandingRequest(), timeout=TIMEOUT_S)
    assert [view.view for view in after.views] == ["accounts_view", "rounds_view", "tables_view"]
    assert all(view.behind > 0 for view in before.views)
    assert not any(view.behind or view.parked_streams or view.stopped for view in after.views)
    assert after.replays.waiting == 1
    (source,) = after.sources
    assert (source.source, source.connected, source.behind, source.asked_ms) == ("table", True, 7, 1_500)


@pytest.mark.parametrize("ruleset", RULESETS)
async def test_a_bundle_can_be_checked_by_anybody(world: World, ruleset: str) -> None:
    players = ("p1", "p2") if ruleset in {"live-shared@1", "dark-boxes@1", "four-box@1"} else ("p1",)
    await world.play(ruleset, players=players)
    await world.apply()
    whole = await bundle(world, "t1.1", OPERATIONS)
    own = await bundle(world, "t1.1", player("p1"))
    assert isinstance(whole, bytes)
    assert isinstance(own, bytes)
    for data in (whole, own):
        report = verify_bundle(data)
        assert report.exit_code == 0, report.sentences()
    assert verify_bundle(whole).withheld == 0
    assert own == await bundle(world, "t1.1", OPERATIONS, of="p1")
    if "p2" in players:
        assert verify_bundle(own).withheld > 0


async def test_a_players_bundle_is_their_own_whatever_they_ask(world: World) -> None:
    await world.play(players=("p1", "p2"))
    await world.apply()
    own = await bundle(world, "t1.1", player("p1"), of="p2")
    assert own == await bundle(world, "t1.1", player("p1"))
    assert isinstance(own, bytes)
    assert json.loads(own)["for"] == "p1"
    assert await bundle(world, "t1.1", player("p3")) == "round_unknown"
    assert await bundle(world, "t1.1", OPERATIONS, of="p3") == "round_unknown"


async def test_nobody_is_given_the_bundle_of_an_open_round(world: World) -> None:
    await world.play(events=6)
    await world.apply()
    assert await bundle(world, "t1.1", OPERATIONS) == "round_open"
    assert await bundle(world, "t1.1", player("p1")) == "round_open"
    assert await bundle(world, "t1.2", OPERATIONS) == "round_unknown"


async def test_a_large_bundle_comes_in_pieces(world: World) -> None:
    await world.play(players=[f"p{number}" for number in range(1, 200)])
    await world.apply()
    with acting_as(OPERATIONS):
        pieces = await all_of(world.stub.GetBundle(pb.GetBundleRequest(round="t1.1"), timeout=TIMEOUT_S))
    assert len(pieces) > 1
    assert verify_bundle(b"".join(piece.data for piece in pieces)).exit_code == 0
