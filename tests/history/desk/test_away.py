"""A database that is away for a moment, and one that stays away."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import asyncpg
import grpc
import pytest

from rules_core.rulesets.shipped import shipped_ids
from servicekit.grpc import acting_as
from tests.history.desk.asking import all_of, refused
from tests.history.desk.world import OPERATIONS, TIMEOUT_S, World, player
from tests.messaging.waiting import until
from upcard.history.v1 import history_pb2 as pb
from upcard_history.adapters.postgres.history import PostgresHistory
from upcard_history.app import round_states, viewing
from upcard_history.entrypoints.grpc import exporting

AWAY = (grpc.StatusCode.UNAVAILABLE, "database_unavailable")
SHORT_S = 2.0


def failing(monkeypatch: pytest.MonkeyPatch, name: str, *, after: int = 0, times: int = 10**6) -> list[int]:
    """Let a way of reading fail so many times after so many answers; each call is counted."""
    real: Callable[..., Awaitable[Any]] = getattr(PostgresHistory, name)
    calls: list[int] = []

    async def read(self: PostgresHistory, *arguments: Any, **named: Any) -> Any:
        calls.append(1)
        if after < len(calls) <= after + times:
            raise asyncpg.CannotConnectNowError("the database system is starting up")
        return await real(self, *arguments, **named)

    monkeypatch.setattr(PostgresHistory, name, read)
    return calls


async def test_a_moment_is_waited_for(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    await world.play()
    await world.apply()
    calls = failing(monkeypatch, "rounds", times=3)
    with acting_as(OPERATIONS):
        found = await world.stub.ListRounds(pb.ListRoundsRequest(), timeout=TIMEOUT_S)
    assert [one.round for one in found.rounds] == ["t1.1"]
    assert len(calls) == 4


async def test_one_that_stays_away_is_told(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    failing(monkeypatch, "rounds")
    failing(monkeypatch, "statement")
    failing(monkeypatch, "player_rounds")
    with acting_as(OPERATIONS):
        answer = await refused(world.stub.ListRounds(pb.ListRoundsRequest(), timeout=SHORT_S))
    assert answer in {AWAY, (grpc.StatusCode.DEADLINE_EXCEEDED, "deadline_exceeded")}
    with acting_as(player("p1")):
        stream = world.stub.ExportPlayerRounds(pb.ExportPlayerRoundsRequest(), timeout=SHORT_S)
        answer = await refused(all_of(stream))
    assert answer in {AWAY, (grpc.StatusCode.DEADLINE_EXCEEDED, "deadline_exceeded")}
    await until(lambda: not world.turns.taken_now)


async def test_an_export_goes_on_when_it_is_back(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exporting, "PAGE", 1)
    for number in range(1, 4):
        await world.play(number=number)
    await world.apply()
    calls = failing(monkeypatch, "rounds", after=1, times=2)
    with acting_as(OPERATIONS):
        pieces = await all_of(world.stub.ExportRounds(pb.ExportRoundsRequest(), timeout=TIMEOUT_S))
    assert pieces[-1].piece.last
    assert pieces[-1].piece.rows == 3
    assert len(calls) == 5


async def test_a_mistake_is_none_of_it(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    async def wrong(self: PostgresHistory, *arguments: Any, **named: Any) -> Any:  # noqa: ARG001 - as it is called
        raise asyncpg.UndefinedTableError("no such table")

    monkeypatch.setattr(PostgresHistory, "rounds", wrong)
    with acting_as(OPERATIONS):
        answer = await refused(world.stub.ListRounds(pb.ListRoundsRequest(), timeout=TIMEOUT_S))
    assert answer == (grpc.StatusCode.INTERNAL, "internal")


async def test_a_ruleset_that_is_not_here(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    await world.play("four-box@1")
    await world.apply()
    others = [name for name in shipped_ids() if name != "four-box@1"]
    for module in (viewing, round_states):
        monkeypatch.setattr(module, "shipped_ids", lambda: others)
    unknown = (grpc.StatusCode.FAILED_PRECONDITION, "ruleset_unknown")
    with acting_as(OPERATIONS):
        assert (
            await refused(world.stub.GetRound(pb.GetRoundRequest(round="t1.1"), timeout=TIMEOUT_S)) == unknown
        )
        stream = world.stub.GetTimeline(pb.GetTimelineRequest(round="t1.1"), timeout=TIMEOUT_S)
        assert await refused(all_of(stream)) == unknown
