"""The history as a program: it starts without its neighbours, shows what is here, and stops in order."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest

from servicekit.grpc import acting_as
from servicekit.settings import WrongSettings, load_settings
from stack import Stack
from tests.end_to_end.history.processes import calls, environment, running
from tests.history.desk.world import OPERATIONS, TIMEOUT_S, World
from tests.messaging.waiting import until
from tests.wallet.edges.processes import ROOT, in_thread
from upcard.history.v1 import history_pb2 as pb
from upcard_history.entrypoints.grpc.access import ACCESS
from upcard_history.settings import HistorySettings

NOBODY = {"table": "127.0.0.1:1", "wallet": "127.0.0.1:1", "bonus": "127.0.0.1:1"}
NOWHERE = "postgresql://nobody@127.0.0.1:1/none"


async def test_it_shows_what_is_here_though_nobody_else_is(
    stack: Stack, world: World, service_database: str
) -> None:
    await world.play(players=("p1", "p2"))
    settings = environment(stack, service_database, NOBODY, namespace="alone")
    manager = running(settings)
    process = await in_thread(manager.__enter__)
    try:
        async with calls(process) as stub:
            with acting_as(OPERATIONS):

                async def replayed() -> bool:
                    found = await stub.GetStanding(pb.GetStandingRequest(), timeout=TIMEOUT_S)
                    behind = any(view.behind for view in found.views) or found.replays.waiting
                    return not behind and process.metric("upcard_history_replays_total") == 1

                await until(replayed)
                rounds = await stub.ListRounds(pb.ListRoundsRequest(), timeout=TIMEOUT_S)
                standing = await stub.GetStanding(pb.GetStandingRequest(), timeout=TIMEOUT_S)
        assert [one.round for one in rounds.rounds] == ["t1.1"]
        assert [source.source for source in standing.sources] == ["table", "wallet", "bonus"]
        assert not any(source.HasField("behind") for source in standing.sources)
        assert process.metric("upcard_history_rounds_disagreeing") == 0
        assert await asyncio.to_thread(process.stop) == 0, process.said
    finally:
        manager.__exit__(None, None, None)


def test_every_call_says_who_may_make_it() -> None:
    service = pb.DESCRIPTOR.services_by_name["HistoryService"]
    assert set(ACCESS) == set(service.methods_by_name)
    assert all(access.callers == frozenset({"gateway"}) for access in ACCESS.values())


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"UPCARD_TABLE_ADDRESS": ""}, "UPCARD_TABLE_ADDRESS"),
        ({"UPCARD_WALLET_ADDRESS": ""}, "UPCARD_WALLET_ADDRESS"),
        (
            {"UPCARD_KAFKA_REPLICAS": "1", "UPCARD_KAFKA_REPLICAS_IN_SYNC": "2"},
            "UPCARD_KAFKA_REPLICAS_IN_SYNC",
        ),
        ({"UPCARD_KAFKA_NAMESPACE": "a.b"}, "UPCARD_KAFKA_NAMESPACE"),
        ({"UPCARD_EXPORTS_AT_ONCE": "0"}, "UPCARD_EXPORTS_AT_ONCE"),
        ({"UPCARD_LEASE_S": "0"}, "UPCARD_LEASE_S"),
    ],
)
def test_wrong_settings_are_named(
    stack: Stack, monkeypatch: pytest.MonkeyPatch, wrong: dict[str, str], named: str
) -> None:
    for name, value in environment(stack, NOWHERE, NOBODY, namespace="n", **wrong).items():
        monkeypatch.setenv(name, value)
    with pytest.raises(WrongSettings) as caught:
        load_settings(HistorySettings)
    (problem,) = caught.value.problems
    assert named in problem


def test_a_wrong_setting_ends_the_program(stack: Stack) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "upcard_history"],
        cwd=ROOT,
        env=environment(stack, NOWHERE, {**NOBODY, "table": ""}, namespace="n"),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, "UPCARD_TABLE_ADDRESS" in done.stderr) == (2, True), done.stderr
