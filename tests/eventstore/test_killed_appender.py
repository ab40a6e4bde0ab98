"""The appending process dies at each fault point, again and again; a new one sends everything anew."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from eventstore import shard_of
from eventstore.faults import POINTS
from eventstore.postgres import PostgresEventStore
from tests.eventstore.killed_appender import EACH, STREAMS, event_of
from tests.eventstore.samples import assert_chained, pages_through

ROOT = Path(__file__).parents[2]
DEADLINE_S = 120
DIES_AT = sorted(point for point in POINTS if point.startswith(("append.", "notify.")))


async def live(database: str, die_at: str, after: int) -> tuple[int, list[tuple[str, int, int]]]:
    """One life of the program: its exit code, and what it was answered."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.eventstore.killed_appender",
        database,
        die_at,
        str(after),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )
    output, _ = await process.communicate()
    lines = [line.split() for line in output.decode().splitlines()]
    return process.returncode or 0, [
        (line[0], int(line[1]), int(line[2])) for line in lines if len(line) == 3
    ]


@pytest.mark.parametrize("point", DIES_AT)
async def test_whatever_was_answered_is_there_and_everything_is_there_once(
    database: str, postgres_store: PostgresEventStore, point: str
) -> None:
    answered: set[tuple[str, int, int]] = set()
    deaths = 0
    async with asyncio.timeout(DEADLINE_S):
        for after in (1, 2, 4, 9):
            code, told = await live(database, point, after)
            answered.update(told)
            if code == 0:
                break
            assert code == -9
            deaths += 1
        assert deaths >= 2, f"{point} was hardly ever reached"
        code, told = await live(database, "nowhere", 1)
        assert code == 0
        answered.update(told)
        async with postgres_store.subscribe({shard_of(stream): 0 for stream in STREAMS}) as pages:
            heads = await postgres_store.shard_heads()
            seen = await pages_through(
                pages, {shard_of(stream): heads[shard_of(stream)] for stream in STREAMS}
            )
    for stream in STREAMS:
        log = await postgres_store.read_stream(stream)
        assert_chained(log)
        wanted = [event_of(stream, number).event_id for number in range(1, EACH + 1)]
        assert [event.event_id for event in log] == wanted
        assert {place for place in answered if place[0] == stream} == {
            (stream, number, number) for number in range(1, EACH + 1)
        }
        followed = [event for page in seen for event in page.events if event.stream == stream]
        assert followed == list(log)
