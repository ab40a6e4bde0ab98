"""The process that keeps a projection up to date dies at each of its fault points, again and again."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from eventstore.faults import POINTS
from eventstore.postgres import Pool, PostgresEventStore
from eventstore.projections import prepare_projection
from tests.eventstore.projections.views import PROJECTION, seen
from tests.eventstore.samples import events

ROOT = Path(__file__).parents[3]
DEADLINE_S = 120
DIES_AT = sorted(point for point in POINTS if point.startswith(("follow.", "subscription.")))
STREAMS = 12
EACH = 25


async def follow(database: str, die_at: str, after: int) -> int:
    """Run the projection until it dies or nothing is left; its exit code."""
    module = "tests.eventstore.projections.killed_runner"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", module, database, die_at, str(after), cwd=ROOT
    )
    return await process.wait()


@pytest.mark.parametrize("point", DIES_AT)
async def test_every_event_is_in_the_view_once(
    views: Pool, database: str, postgres_store: PostgresEventStore, point: str
) -> None:
    async with views.acquire() as connection:
        await prepare_projection(connection, PROJECTION)
    deaths = 0
    async with asyncio.timeout(DEADLINE_S):
        for life in range(1, 4):
            for n in range(STREAMS):
                await postgres_store.append(f"round-{n}", events(EACH), expected=EACH * (life - 1))
            code = await follow(database, point, 1 if point.startswith("follow.") else life)
            assert code == -9
            deaths += 1
        assert await follow(database, "nowhere", 1) == 0
    assert deaths == 3
    assert await seen(views) == {f"round-{n}": list(range(1, 3 * EACH + 1)) for n in range(STREAMS)}
