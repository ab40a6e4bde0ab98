"""The history as a process: over Kafka in, over gRPC out, and its views are what its log makes of them."""

from __future__ import annotations

import json

import pytest

from rules_core.log.verify import verify_bundle
from servicekit.grpc import acting_as
from tests.end_to_end.history.processes import House
from tests.history.desk.asking import all_of, csv_of
from tests.history.desk.test_exports import rows_of
from tests.history.desk.world import OPERATIONS, TIMEOUT_S, at, player
from upcard.history.v1 import history_pb2 as pb
from upcard_history.entrypoints.grpc.access import ACCESS

pytestmark = pytest.mark.asyncio(loop_scope="module")

RULESETS = ("live-shared@1", "dark-boxes@1", "classic@1", "three-box@1", "four-box@1")


async def test_rounds_of_all_rulesets_come_over_kafka(house: House) -> None:
    for number, ruleset in enumerate(RULESETS):
        await house.play(ruleset, table=f"k{number}")
    await house.account("p1", 100, 250)
    await house.settled()
    with acting_as(OPERATIONS):
        rounds = (await house.stub.ListRounds(pb.ListRoundsRequest(), timeout=TIMEOUT_S)).rounds
        assert {one.ruleset for one in rounds} >= set(RULESETS)
        assert all(one.state == pb.ROUND_STATE_SETTLED for one in rounds)
        for one in rounds:
            request = pb.ReplayRoundRequest(round=one.round)
            replayed = (await house.stub.ReplayRound(request, timeout=TIMEOUT_S)).replay
            assert replayed.outcome == pb.REPLAY_OUTCOME_AGREED, replayed
        differences = await house.stub.ListDifferences(pb.ListDifferencesRequest(), timeout=TIMEOUT_S)
        standing = await house.stub.GetStanding(pb.GetStandingRequest(), timeout=TIMEOUT_S)
    assert not differences.replays
    assert [source.source for source in standing.sources] == ["table", "wallet", "bonus"]
    assert all(source.connected for source in standing.sources)
    assert (standing.replays.waiting, standing.replays.wrong) == (0, 0)
    assert not any(view.behind for view in standing.views)
    assert await house.value("SELECT count(*) FROM history.replay_runs WHERE outcome = 'agreed'") >= 5


async def test_a_player_sees_rounds_and_money(house: House) -> None:
    await house.play("live-shared@1", table="m", players=("mine", "other"))
    await house.account("mine", 70, 30)
    await house.settled()
    with acting_as(player("mine")):
        page = (await house.stub.ListPlayerRounds(pb.ListPlayerRoundsRequest(), timeout=TIMEOUT_S)).page
        of = pb.StatementOf(player=pb.PlayerCurrency(currency="EUR"))
        request = pb.GetStatementRequest(of=of, since=at(0), until=at(10**9))
        statement = (await house.stub.GetStatement(request, timeout=TIMEOUT_S)).statement
        pieces = await all_of(house.stub.GetBundle(pb.GetBundleRequest(round="m.1"), timeout=TIMEOUT_S))
        export = pb.ExportStatementRequest(of=of, since=at(0), until=at(10**9))
        text = await csv_of(house.stub.ExportStatement(export, timeout=TIMEOUT_S))
    assert [one.round for one in page.rounds] == ["m.1"]
    assert [line.cash for line in statement.lines] == [70, 30]
    assert statement.closing.cash == 100
    assert verify_bundle(b"".join(piece.data for piece in pieces)).exit_code == 0
    assert [row["balance_cash"] for row in rows_of(text)] == ["0", "70", "100", "100"]


async def test_figures_and_rounds_as_files_agree(house: House) -> None:
    for number in range(1, 4):
        await house.play("dark-boxes@1", table="f", number=number)
    await house.settled()
    query = pb.FigureQuery(period=pb.FIGURE_PERIOD_DAY, since=at(0), until=at(86_400), table="f")
    with acting_as(OPERATIONS):
        rounds = rows_of(
            await csv_of(
                house.stub.ExportRounds(
                    pb.ExportRoundsRequest(filter=pb.RoundFilter(table="f")), timeout=TIMEOUT_S
                )
            )
        )
        figures = rows_of(
            await csv_of(house.stub.ExportFigures(pb.ExportFiguresRequest(query=query), timeout=TIMEOUT_S))
        )
    assert sum(int(row["turnover"] or 0) for row in figures) == sum(int(row["staked"]) for row in rounds)
    assert sum(int(row["rounds"] or 0) for row in figures) == len(rounds) == 3


async def test_views_are_what_the_log_makes_of_them(house: House) -> None:
    await house.play("four-box@1", table="c")
    await house.account("c1", 5)
    await house.settled()
    code, said, errors = await house.command("compare", "--json")
    assert code == 0, errors
    lines = [json.loads(line) for line in said.splitlines()]
    assert [line["view"] for line in lines] == ["rounds_view", "accounts_view", "tables_view"]
    assert all(line["equal"] for line in lines)
    assert sum(sum(line["rows"].values()) for line in lines) > 10


async def test_it_shows_metrics(house: House) -> None:
    status, body = house.process.ask("/health/ready")
    assert status == 200, body
    shown = house.process.ask("/metrics")[1]
    for name in (
        "upcard_history_replays_total",
        "upcard_history_rounds_disagreeing",
        "upcard_history_replays_oldest_seconds",
        "upcard_consumer_lag_events",
        "upcard_projection_lag_events",
        "upcard_follower_streams_parked_total",
        "upcard_grpc_server_calls_total",
    ):
        assert f"# HELP {name} " in shown, name


async def test_every_call_says_who_may_make_it() -> None:
    service = pb.DESCRIPTOR.services_by_name["HistoryService"]
    assert set(ACCESS) == set(service.methods_by_name)
    assert all(access.callers == frozenset({"gateway"}) for access in ACCESS.values())
