"""The process that rebuilds dies at each of its fault points; the live projection never notices."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from eventstore.faults import POINTS
from eventstore.postgres import Pool, PostgresEventStore
from eventstore.projections import prepare_projection, projection_status
from tests.eventstore.projections.views import NAME, PROJECTION, running, seen, until_no_lag
from tests.eventstore.samples import events

ROOT = Path(__file__).parents[3]
DEADLINE_S = 120
DIES_AT = (
    "rebuild.prepared",
    "follow.before_commit",
    "follow.committed",
    "rebuild.caught_up",
    "rebuild.swapped",
)


async def rebuild(database: str, die_at: str, go_on: str) -> int:
    """Run a rebuild until it dies or is done; its exit code."""
    module = "tests.eventstore.projections.killed_rebuild"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", module, database, die_at, go_on, cwd=ROOT
    )
    return await process.wait()


def test_every_point_is_among_them() -> None:
    assert {point for point in POINTS if point.startswith("rebuild.")} <= set(DIES_AT)


@pytest.mark.parametrize("again", ["begin anew", "go on"])
@pytest.mark.parametrize("die_at", DIES_AT)
async def test_a_rebuild_that_dies_is_done_again(
    views: Pool, database: str, postgres_store: PostgresEventStore, die_at: str, again: str
) -> None:
    if (die_at, again) == ("rebuild.swapped", "go on"):
        return  # there is nothing to go on with: it was done
    async with views.acquire() as connection:
        await prepare_projection(connection, PROJECTION)
    for n in range(10):
        await postgres_store.append(f"round-{n}", events(30), expected=0)
    async with asyncio.timeout(DEADLINE_S):
        async with running(views, postgres_store) as task:
            await until_no_lag(views, task)
        assert await rebuild(database, die_at, "begin anew") == -9
        async with views.acquire() as connection:
            live = next(one for one in await projection_status(connection) if one.name == NAME)
        assert live.version == (2 if die_at == "rebuild.swapped" else 1)
        assert live.lag == 0
        assert sum(map(len, (await seen(views)).values())) == 300
        assert await rebuild(database, "nowhere", again) == 0
    assert await seen(views) == {f"round-{n}": list(range(1, 31)) for n in range(10)}
    async with views.acquire() as connection:
        (live,) = await projection_status(connection)
    assert (live.version, live.lag) == (2, 0)
    left = await views.fetch("SELECT nspname FROM pg_namespace WHERE nspname LIKE $1", NAME + "%")
    assert [row["nspname"] for row in left] == [NAME]
