"""Rounds in words over gRPC."""

from __future__ import annotations

from typing import Any

import grpc
import pytest

from servicekit.grpc import Actor, acting_as
from tests.history.desk.asking import refused
from tests.history.desk.test_players import BETS
from tests.history.desk.world import OPERATIONS, TIMEOUT_S, World, player, staff
from upcard.history.v1 import history_pb2 as pb

CENTS = {"EUR": 2}


async def explained(world: World, who: Actor, name: str = "t1.1", **wanted: Any) -> pb.ExplainRoundResponse:
    with acting_as(who):
        request = pb.ExplainRoundRequest(round=name, digits=CENTS, **wanted)
        return await world.stub.ExplainRound(request, timeout=TIMEOUT_S)


async def own(world: World, who: str, name: str = "t1.1") -> pb.PlayerRound:
    with acting_as(player(who)):
        answer = await world.stub.GetRound(pb.GetRoundRequest(round=name), timeout=TIMEOUT_S)
    (found,) = answer.round.own
    return found


async def test_a_player_is_told_of_their_own_boxes_alone(world: World) -> None:
    await world.play()
    await world.apply()
    (words,) = (await explained(world, player("p1"))).explained.words
    assert words.currency == "EUR"
    assert {box.player for box in words.boxes} == {"p1"}
    assert any(line.startswith("The dealer was dealt") for line in words.table)
    mine = await own(world, "p1")
    staked = f"{mine.staked / 100:.2f} EUR"
    said = "\n".join(line for box in words.boxes for line in box.sentences)
    assert said.count("In all ") == len(words.boxes)
    if len(words.boxes) == 1:
        assert f"In all {staked} staked" in said
    assert "p2" not in said


async def test_staff_are_told_of_everybody(world: World) -> None:
    await world.play()
    await world.apply()
    (words,) = (await explained(world, OPERATIONS)).explained.words
    assert {box.player for box in words.boxes} == {"p1", "p2"}


async def test_amounts_of_currencies_that_are_not_said_are_in_minor_units(world: World) -> None:
    await world.play()
    await world.apply()
    with acting_as(player("p1")):
        answer = await world.stub.ExplainRound(pb.ExplainRoundRequest(round="t1.1"), timeout=TIMEOUT_S)
    said = "\n".join(line for box in answer.explained.words[0].boxes for line in box.sentences)
    assert "EUR" not in said
    assert str((await own(world, "p1")).staked) in said or len(answer.explained.words[0].boxes) > 1


async def test_an_open_round_is_not_explained(world: World) -> None:
    await world.play(seed=4, events=BETS)
    await world.apply()
    with acting_as(OPERATIONS):
        bets = await world.stub.ListBetsInPlay(pb.ListBetsInPlayRequest(), timeout=TIMEOUT_S)
    someone = bets.bets.bets[0].player
    assert (await explained(world, player(someone))).refusal.reason == "round_open"


@pytest.mark.parametrize("name", ["t1.1", "t9.1", "nonsense", ""])
async def test_what_is_not_theirs_is_not_there(world: World, name: str) -> None:
    await world.play()
    await world.apply()
    assert (await explained(world, player("stranger"), name)).refusal.reason == "round_unknown"


async def test_staff_need_a_role_and_scales_a_measure(world: World) -> None:
    assert await refused(explained(world, staff("dealer"))) == (
        grpc.StatusCode.PERMISSION_DENIED,
        "role_missing",
    )
    with acting_as(OPERATIONS):
        call = world.stub.ExplainRound(
            pb.ExplainRoundRequest(round="t1.1", digits={"EUR": 9}), timeout=TIMEOUT_S
        )
        assert await refused(call) == (grpc.StatusCode.INVALID_ARGUMENT, "invalid_argument")
