"""The history is killed at each of its points, one of two instances is killed, and Kafka brings nothing."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from servicekit.grpc import acting_as
from stack import Stack
from tests.end_to_end.history.processes import Town, calls, ended, open_town, running
from tests.history.desk.world import OPERATIONS, TIMEOUT_S
from tests.wallet.edges.processes import in_thread
from upcard.history.v1 import history_pb2 as pb
from upcard_history.entrypoints.faults import POINTS


async def agreed(town: Town) -> None:
    """Everything is here once, in all views, and every round was replayed."""
    await town.settled()
    rounds = len(town.rounds)
    assert await town.value("SELECT count(*) FROM rounds_view.rounds") == rounds
    assert await town.value("SELECT count(*) FROM history.replay_runs WHERE outcome = 'agreed'") == rounds
    code, said, errors = await town.command("compare")
    assert code == 0, said + errors


FOLLOWING = ("consumer.filled", "follow.before_commit", "follow.committed")
"""Points of those who bring events here, and fill the views: the event store's and messaging's."""


@pytest.mark.parametrize("point", [*sorted(POINTS), *FOLLOWING])
async def test_killed_at_a_point_it_goes_on(
    stack: Stack, database_template: str, service_role: str, tmp_path: Path, point: str
) -> None:
    named = tmp_path / "point"
    named.write_text(point, encoding="utf-8")
    async with open_town(stack, database_template, service_role) as town:
        await town.play("live-shared@1", table="t1", players=("p1", "p2"))
        await town.play("classic@1", table="t2")
        await town.account("p1", 100)
        with running(town.settings, kill_at=named, ready=False) as process:
            assert await ended(process) == -9, process.said
        # A claim of the dead process holds for minutes: nobody waits for that here.
        await town.value("UPDATE history.replay_queue SET claimed_until = '-infinity'")
        with running(town.settings, ready=False):
            await agreed(town)


async def test_another_instance_goes_on_when_one_is_killed(
    stack: Stack, database_template: str, service_role: str
) -> None:
    async with (
        open_town(stack, database_template, service_role) as town,
        contextlib.AsyncExitStack() as exits,
    ):
        for neighbour in town.neighbours.values():
            await exits.enter_async_context(neighbour.publishing())
        first = running({**town.settings, "UPCARD_INSTANCE": "one"})
        process = await in_thread(first.__enter__)
        await town.play("live-shared@1", table="t1", players=("p1", "p2"))
        await town.settled()
        second = running({**town.settings, "UPCARD_INSTANCE": "two"})
        exits.callback(second.__exit__, None, None, None)
        other = await in_thread(second.__enter__)
        process.process.kill()
        await town.play("four-box@1", table="t2")
        await town.account("p1", 100)
        await agreed(town)
        async with calls(other) as stub:
            with acting_as(OPERATIONS):
                found = await stub.ListRounds(pb.ListRoundsRequest(), timeout=TIMEOUT_S)
        assert {one.round for one in found.rounds} == {"t1.1", "t2.1"}
        first.__exit__(None, None, None)
        assert other.stop() == 0, other.said
