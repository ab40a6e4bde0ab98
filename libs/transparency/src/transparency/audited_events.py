"""The audit of events: bytes, chains, order, heads; a shard at a time, since a stream lies in one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Final, Protocol

import asyncpg

from eventstore.postgres import Pool
from eventstore.streams import first_prev_hash, shard_of
from transparency.findings import Findings

ColumnsFit = Callable[[bytes, str, str, str], bool]
"""Of an event's content, id, stream and type: whether the content says the same as these columns."""

PAGE_EVENTS: Final = 5_000

_EVENTS: Final = """
SELECT e.stream, e.stream_position, e.shard_position, e.event_id::text AS event_id, e.type, e.content,
       e.prev_hash, e.content_hash, e.hash
  FROM eventstore.events AS e
 WHERE e.shard = $1 AND e.shard_position > $2 AND e.shard_position <= $3
   AND e.period >= coalesce((SELECT max(s.period) FROM eventstore.shard_periods AS s
                              WHERE s.shard = $1 AND s.first_position <= $2::bigint + 1), 0)
 ORDER BY e.period, e.shard_position
"""

_STREAM_HEADS: Final = """
SELECT u.stream, h.position, h.hash FROM unnest($1::text[]) AS u (stream)
  LEFT JOIN eventstore.stream_heads AS h USING (stream)
"""

# Appended since this shard was read, or gone: which of both, the event itself says.
_THERE: Final = """
SELECT hash FROM eventstore.events WHERE stream = $1 AND stream_position = $2
"""

_FORGOTTEN: Final = """
SELECT h.stream FROM eventstore.stream_heads AS h
 WHERE h.stream > $1 AND NOT EXISTS (
    SELECT FROM eventstore.events AS e WHERE e.stream = h.stream AND e.stream_position = h.position
 )
 ORDER BY h.stream LIMIT 1000
"""
_STREAMS_AT_ONCE: Final = 1_000


class Leaves(Protocol):
    """What is told of each page of events, to compare with the tree's leaves."""

    async def compare(self, shard: int, first: int, hashes: Sequence[bytes]) -> None:
        """Compare the events of a shard from a position on, by their hashes, with the leaves they are."""
        ...


async def audit_shard(
    pool: Pool, shard: int, head: int, leaves: Leaves, findings: Findings, columns_fit: ColumnsFit | None
) -> None:
    """Look at a shard's events up to its head; while a page is looked at, the next one is read."""
    ends: dict[str, tuple[int, bytes]] = {}
    after = 0
    reading = asyncio.ensure_future(_page(pool, shard, after, head))
    try:
        while after < head:
            rows, through = await reading, min(head, after + PAGE_EVENTS)
            reading = asyncio.ensure_future(_page(pool, shard, through, head))
            _missing(rows, shard, after, through, findings)
            hashes = _events(rows, shard, ends, findings, columns_fit)
            findings.events += len(rows)
            if len(rows) == through - after:
                await leaves.compare(shard, after + 1, hashes)
            else:
                for row, found in zip(rows, hashes, strict=True):
                    await leaves.compare(shard, row["shard_position"], [found])
            after = through
    finally:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
    await _heads(pool, ends, findings)


async def _page(pool: Pool, shard: int, after: int, head: int) -> list[asyncpg.Record]:
    through = min(head, after + PAGE_EVENTS)
    if through == after:
        return []
    async with pool.acquire() as connection:
        return await connection.fetch(_EVENTS, shard, after, through)


async def audit_stream_heads(pool: Pool, findings: Findings) -> None:
    """Look for streams whose last events are gone, whatever else was made to fit."""
    after = ""
    while True:
        async with pool.acquire() as connection:
            rows = await connection.fetch(_FORGOTTEN, after)
        for row in rows:
            findings.add("event_missing", row["stream"], "its head names an event that is not there")
        if len(rows) < _STREAMS_AT_ONCE:
            return
        after = rows[-1]["stream"]


def _missing(
    rows: Sequence[asyncpg.Record], shard: int, after: int, through: int, findings: Findings
) -> None:
    if len(rows) == through - after:
        return
    there = {row["shard_position"] for row in rows}
    for position in range(after + 1, through + 1):
        if position not in there:
            findings.add("event_missing", f"shard {shard}, position {position}", "there is no event")


def _events(
    rows: Sequence[asyncpg.Record],
    shard: int,
    ends: dict[str, tuple[int, bytes]],
    findings: Findings,
    columns_fit: ColumnsFit | None,
) -> list[bytes]:
    """Look at events; the hashes of their bytes in their places, which are what the tree has to hold."""
    hashes: list[bytes] = []
    for row in rows:
        stream, position, _, event_id, event_type, content, prev_hash, content_hash, event_hash = row
        digest = sha256(content).digest()
        last, before = ends.get(stream) or _beginning(stream, shard, position, findings)
        found = sha256(before + position.to_bytes(8, "big") + digest).digest()
        hashes.append(found)
        # What follows is judged by what is written here: one change is one finding, not one an event.
        ends[stream] = (position, event_hash)
        if found != event_hash or digest != content_hash or position != last + 1:
            _tell(row, last, digest, findings)
        elif before != prev_hash:
            findings.add("chain_broken", f"{stream} {position}", "prev_hash is not the hash before it")
        if columns_fit is not None and not columns_fit(content, event_id, stream, event_type):
            findings.add("event_changed", f"{stream} {position}", "its columns are not those of its content")
    return hashes


def _beginning(stream: str, shard: int, position: int, findings: Findings) -> tuple[int, bytes]:
    if shard_of(stream) != shard:
        findings.add("event_out_of_place", f"{stream} {position}", f"it does not belong to shard {shard}")
    return 0, first_prev_hash(stream)


def _tell(row: asyncpg.Record, last: int, content_hash: bytes, findings: Findings) -> None:
    where = f"{row['stream']} {row['stream_position']}"
    if row["stream_position"] != last + 1:
        findings.add("event_out_of_place", where, f"it follows position {last}")
    if content_hash != row["content_hash"]:
        findings.add("event_changed", where, "its bytes are not those that content_hash was made of")
    elif row["stream_position"] == last + 1:
        findings.add("chain_broken", where, "its hash is not that of its bytes after what came before")


async def _heads(pool: Pool, ends: dict[str, tuple[int, bytes]], findings: Findings) -> None:
    streams = list(ends)
    for first in range(0, len(streams), _STREAMS_AT_ONCE):
        async with pool.acquire() as connection:
            rows = await connection.fetch(_STREAM_HEADS, streams[first : first + _STREAMS_AT_ONCE])
            for row in rows:
                position, found = ends[row["stream"]]
                if row["position"] == position and row["hash"] == found:
                    continue
                later = row["position"] is not None and row["position"] > position
                if later and await connection.fetchval(_THERE, row["stream"], row["position"]) == row["hash"]:
                    continue
                findings.add("head_wrong", row["stream"], f"its head is not the event at {position}")
