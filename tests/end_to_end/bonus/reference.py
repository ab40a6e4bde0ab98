"""What rounds come to when nothing ever fails: the same use cases in this process, event by event."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import asyncpg

from eventstore.postgres import PostgresEventStore, open_pool
from rules_core.log.content import Content, parse_content
from tests.bonus.office.world import World

POOL = """
SELECT pool, remainder, rounds, (SELECT count(*) FROM bonus.waiting_rounds) AS waiting,
       (SELECT count(*) FROM bonus.fences) AS fences
  FROM bonus.jackpots ORDER BY jackpot
"""
EVENTS = """
SELECT stream, content FROM eventstore.events
 WHERE stream LIKE 'bonus-%' OR stream LIKE 'jackpot-%' ORDER BY stream, stream_position
"""


@dataclass(frozen=True)
class Outcome:
    """Where everything ends, without ids and times."""

    pools: Sequence[tuple[Any, ...]]
    events: Sequence[tuple[str, str, str]]
    """Stream, type and payload, in the order of each stream."""


async def outcome_of(dsn: str) -> Outcome:
    """What a service's database has come to."""
    connection = await asyncpg.connect(dsn)
    try:
        pools = [tuple(row) for row in await connection.fetch(POOL)]
        contents = [parse_content(bytes(row["content"])) for row in await connection.fetch(EVENTS)]
    finally:
        await connection.close()
    told = [(one.stream, one.type, json.dumps(one.payload, sort_keys=True)) for one in contents]
    return Outcome(pools, told)


async def expected(dsn: str, played: Sequence[Sequence[Content]]) -> Outcome:
    """What these rounds come to, on a database of their own."""
    async with (
        await open_pool(dsn, application_name="reference") as pool,
        PostgresEventStore(pool) as store,
    ):
        world = World(pool, store)
        await world.jackpot("j1", "play", reseed=True)
        for contents in played:
            await world.hear_contents(contents)
    return await outcome_of(dsn)
