"""The follower's process dies at each of its fault points, again and again."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from eventstore import Expect
from eventstore.following import OWN, list_parked, request_retry
from eventstore.postgres import Pool, PostgresEventStore
from tests.eventstore.following.effects import FOLLOWER, effects_of
from tests.eventstore.samples import events, stream_of_shard

ROOT = Path(__file__).parents[3]
STREAM = stream_of_shard(7)
NEIGHBOUR = stream_of_shard(7, "table-")
DEADLINE_S = 120


async def follow(database: str, die_at: str, after: int, poison: str = STREAM) -> int:
    """Run the follower until it dies or is done; its exit code."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.eventstore.following.killed_follower",
        database,
        "7",
        poison,
        die_at,
        str(after),
        cwd=ROOT,
    )
    return await process.wait()


async def until_done(database: str, point: str, poison: str) -> None:
    """Follow, and die one commit later in each life, until nothing is left to do."""
    deaths = 0
    async with asyncio.timeout(DEADLINE_S):
        for after in range(1, 40):
            code = await follow(database, point, after, poison)
            if code == 0:
                break
            assert code == -9
            deaths += 1
    assert deaths >= 2


@pytest.mark.parametrize("point", ["follow.before_commit", "follow.committed"])
async def test_every_event_has_its_effect_once_or_waits_parked(
    effects: Pool, database: str, postgres_store: PostgresEventStore, point: str
) -> None:
    for _ in range(12):
        await postgres_store.append(STREAM, events(1), expected=Expect.ANY)
        await postgres_store.append(NEIGHBOUR, events(1), expected=Expect.ANY)
    await until_done(database, point, STREAM)
    done = await effects_of(effects)
    assert [position for stream, position in done if stream == NEIGHBOUR] == list(range(1, 13))
    assert [position for stream, position in done if stream == STREAM] == [1, 2, 3, 4]
    async with effects.acquire() as connection:
        (parked,) = await list_parked(connection)
        assert (parked.stream, parked.failed_position, parked.events) == (STREAM, 5, 8)
        await request_retry(connection, FOLLOWER, OWN)
        await until_done(database, point, "")
        assert await list_parked(connection) == ()
    done = await effects_of(effects)
    assert [position for stream, position in done if stream == STREAM] == list(range(1, 13))
