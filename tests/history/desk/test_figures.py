"""Figures of operations over gRPC."""

from __future__ import annotations

from typing import Any

import grpc
import pytest

from servicekit.grpc import acting_as
from tests.history.desk.asking import refused
from tests.history.desk.world import OPERATIONS, ROUND_S, TIMEOUT_S, World, at, money, staff
from upcard.history.v1 import history_pb2 as pb
from upcard_history.entrypoints.grpc import figures as calls


async def ask(world: World, **wanted: Any) -> pb.GetFiguresResponse:
    """Figures of the first day by hour, as operations."""
    query = pb.FigureQuery(**{"period": pb.FIGURE_PERIOD_HOUR, "since": at(0), "until": at(86_400), **wanted})
    with acting_as(OPERATIONS):
        return await world.stub.GetFigures(pb.GetFiguresRequest(query=query), timeout=TIMEOUT_S)


async def listed(world: World) -> list[pb.Round]:
    """All rounds."""
    with acting_as(OPERATIONS):
        return list((await world.stub.ListRounds(pb.ListRoundsRequest(), timeout=TIMEOUT_S)).rounds)


async def test_figures_are_the_sums_of_the_rounds(world: World) -> None:
    for number in range(1, 5):
        await world.play(number=number)
    await world.apply()
    rounds = await listed(world)
    (row,) = (await ask(world)).figures.rows
    (sums,) = row.money
    assert (row.rounds, row.settled, row.corrected, row.active_hours) == (4, 4, 0, 1)
    assert row.rounds_an_hour_milli == 4_000
    assert sums.turnover == sum(total.staked for one in rounds for total in one.totals)
    assert sums.returned == sum(total.returned for one in rounds for total in one.totals)
    assert sums.ggr == sums.turnover - sums.returned
    assert sums.hold_ppm == int(sums.ggr * 1_000_000 / sums.turnover)
    assert row.windows["betting"].windows == 4
    assert row.windows["betting"].average_ms == row.windows["betting"].total_ms // 4


async def test_figures_are_told_apart(world: World) -> None:
    await world.play(number=1)
    await world.play("dark-boxes@1", table="t2", number=1)
    await world.account("p1")
    await world.apply()
    by_table = (await ask(world, by=pb.FIGURE_DIMENSION_TABLE)).figures.rows
    assert [(row.key, row.rounds) for row in by_table] == [("t1", 1), ("t2", 1)]
    by_ruleset = (await ask(world, by=pb.FIGURE_DIMENSION_RULESET)).figures.rows
    assert [row.key for row in by_ruleset] == ["dark-boxes@1", "live-shared@1"]
    (only,) = (await ask(world, table="t2")).figures.rows
    assert only.rounds == 1
    assert not (await ask(world, table="t3")).figures.rows
    day = (await ask(world, period=pb.FIGURE_PERIOD_DAY)).figures.rows
    assert [row.rounds for row in day] == [2]


async def test_figures_of_another_zone(world: World) -> None:
    for number in (1, 2):
        await world.play(number=number)
    await world.apply()
    # In Tokyo the day began nine hours earlier.
    asked = {"period": pb.FIGURE_PERIOD_DAY, "zone": "Asia/Tokyo"}
    answer = await ask(world, **asked, since=at(-9 * 3_600), until=at(15 * 3_600))
    (row,) = answer.figures.rows
    assert row.starts_at == at(-9 * 3_600)
    assert row.rounds == 2
    assert (await ask(world, zone="Moon/Sea")).refusal.reason == "zone_unknown"


async def test_tips_count_when_they_were_given(world: World) -> None:
    await world.account("p1", ("TipPosted", 7_200, {**money(50), "table": "t1", "dealer": "d1"}))
    await world.apply()
    (row,) = (await ask(world, by=pb.FIGURE_DIMENSION_TABLE)).figures.rows
    assert (row.starts_at, row.key, row.rounds) == (at(7_200), "t1", 0)
    assert [(one.currency, one.tips, one.turnover) for one in row.money] == [("EUR", 50, 0)]
    assert not row.money[0].HasField("hold_ppm")


@pytest.mark.parametrize(
    "wrong",
    [
        {"until": at(0)},
        {"until": at(-1)},
        {"until": at(86_400 * 500)},
        {"since": at(1)},
    ],
)
async def test_a_period_that_cannot_be(world: World, wrong: dict[str, object]) -> None:
    assert (await ask(world, **wrong)).refusal.reason == "period_invalid"


@pytest.mark.parametrize(
    "wrong", [{"period": 0}, {"period": 9}, {"by": 99}, {"since": None}, {"until": None}]
)
async def test_a_query_that_says_too_little(world: World, wrong: dict[str, object]) -> None:
    assert await refused(ask(world, **wrong)) == (grpc.StatusCode.INVALID_ARGUMENT, "invalid_argument")


async def test_too_many_rows_for_one_answer(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "ROWS_MAX", 1)
    await world.play()
    await world.play(number=1 + 3_600 // ROUND_S)
    await world.apply()
    assert (await ask(world)).refusal.reason == "too_many_rows"


async def test_figures_need_another_role_than_rounds(world: World) -> None:
    with acting_as(staff("support")):
        call = world.stub.GetFigures(pb.GetFiguresRequest(), timeout=TIMEOUT_S)
        assert await refused(call) == (grpc.StatusCode.PERMISSION_DENIED, "role_missing")
