"""What bench_eventstore.py lets compete: our store and bare SQL; and the table that their turns go into."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import os
import statistics
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from uuid import UUID

from eventstore import NewEvent
from eventstore.ids import new_event_id
from eventstore.postgres import Connection, PostgresEventStore

CALLERS = 64
CONTENTS_PAGE = 1_000
ROUND = UUID("0197a0a0-7a00-7000-8000-000000000001")


@dataclass(frozen=True, slots=True)
class BetPlaced:
    """An event as a service knows it: what both stores are to give back."""

    round_id: UUID
    player: str
    box: int
    wager: str
    amount: int
    bet_id: str
    balance: int
    note: str


BET = BetPlaced(ROUND, "p-4711", 3, "ante", 500, os.urandom(16).hex(), 120_000, os.urandom(70).hex())
CONTENT = json.dumps(
    {
        "event_id": str(ROUND),
        "payload": {**dataclasses.asdict(BET), "round_id": str(ROUND)},
        "type": "BetPlaced",
        "version": 1,
    },
    separators=(",", ":"),
    sort_keys=True,
).encode()


def decoded(content: bytes) -> BetPlaced:
    """The event in a content."""
    payload = json.loads(content)["payload"]
    payload["round_id"] = UUID(payload["round_id"])
    return BetPlaced(**payload)


COLUMNS = (
    "stream_position",
    "shard_position",
    "recorded_at",
    "event_id",
    "period",
    "shard",
    "stream",
    "type",
    "content",
    "prev_hash",
    "content_hash",
    "hash",
)
PLAIN_INSERT = (
    f"INSERT INTO bench.events ({', '.join(COLUMNS)})"  # noqa: S608 - constants
    f" VALUES ({', '.join(f'${n}' for n in range(1, len(COLUMNS) + 1))})"
)


def new_events(count: int) -> list[NewEvent]:
    """Events as a service would append them."""
    return [NewEvent(new_event_id(), "BetPlaced", CONTENT) for _ in range(count)]


@dataclass(frozen=True)
class Measured:
    """Events a second, and how much of a core the load generator took."""

    per_s: float
    generator_cores: float


async def timed(events: int, work: Callable[[], Awaitable[object]]) -> Measured:
    """Run the work once."""
    cpu, wall = time.process_time(), time.perf_counter()
    await work()
    wall = time.perf_counter() - wall
    return Measured(events / wall, (time.process_time() - cpu) / wall)


class Plain:
    """The same rows by bare SQL, into a table of the same shape with the same indexes."""

    def __init__(self, connections: list[Connection]) -> None:
        self._connections = connections
        self._position = 0
        self._row: tuple[object, ...] = ()

    async def prepare(self) -> None:
        """Make the table and a row to write."""
        first = self._connections[0]
        await first.execute("CREATE SCHEMA bench")
        await first.execute("CREATE TABLE bench.events (LIKE eventstore.events INCLUDING ALL)")
        await first.execute(
            "SELECT eventstore.append('{0}', '{table-0}', '{0}', '{1}', '{1}', ARRAY[$1::uuid], '{A}',"
            " ARRAY[$2::bytea], NULL, NULL, NULL, true, false)",
            new_event_id(),
            CONTENT,
        )
        row = await first.fetchrow(f"SELECT {', '.join(COLUMNS)} FROM eventstore.events")  # noqa: S608 - constants
        self._row = tuple(row or ())

    def rows(self, count: int) -> list[tuple[object, ...]]:
        """New rows: only positions and ids differ."""
        rest = self._row[4:]
        recorded_at = self._row[2]
        start = self._position
        self._position += count
        return [(start + n, start + n, recorded_at, new_event_id(), *rest) for n in range(1, count + 1)]

    async def one_connection(self, count: int) -> None:
        """Insert one after the other."""
        connection = self._connections[0]
        for row in self.rows(count):
            await connection.execute(PLAIN_INSERT, *row)

    async def callers(self, callers: int, each: int) -> None:
        """Insert from many callers that share the connections."""
        free: asyncio.Queue[Connection] = asyncio.Queue()
        for connection in self._connections:
            free.put_nowait(connection)

        async def call() -> None:
            for row in self.rows(each):
                connection = await free.get()
                await connection.execute(PLAIN_INSERT, *row)
                free.put_nowait(connection)

        await asyncio.gather(*(call() for _ in range(callers)))

    async def copy(self, batches: list[list[tuple[object, ...]]]) -> None:
        """COPY, the fastest way into a table."""
        for rows in batches:
            await self._connections[0].copy_records_to_table(
                "events", schema_name="bench", records=rows, columns=COLUMNS
            )


class Ours:
    """The event store."""

    def __init__(self, store: PostgresEventStore) -> None:
        self._store = store
        self._round = 0

    async def callers(self, callers: int, each: int) -> None:
        """Append one at a time from each caller to a stream of its own."""
        self._round += 1

        async def call(number: int) -> None:
            stream = f"table-{self._round}.{number}"
            for position, event in enumerate(new_events(each)):
                await self._store.append(stream, [event], expected=position)

        await asyncio.gather(*(call(n) for n in range(callers)))

    async def batches(self, stream: str, batches: list[list[NewEvent]]) -> None:
        """Append batch after batch to one stream."""
        position = (await self._store.stream_head(stream)).position
        for batch in batches:
            position = (await self._store.append(stream, batch, expected=position)).last_position

    async def read(self, stream: str, most: int | None = None) -> int:
        """Read a stream, or its beginning, into `RecordedEvent`s."""
        count = 0
        async for _ in self._store.iterate_stream(stream, page=5_000):
            count += 1
            if count == most:
                break
        return count

    async def read_contents(self, stream: str) -> int:
        """Read the contents of a stream."""
        pages = self._store.iterate_contents(stream, page=CONTENTS_PAGE)
        return sum([len(contents) async for contents in pages])

    async def read_bets(self, stream: str, decode: Callable[[bytes], object] = decoded) -> int:
        """Read a stream into the domain's own objects."""
        bets: list[object] = []
        async for contents in self._store.iterate_contents(stream, page=CONTENTS_PAGE):
            bets.extend(map(decode, contents))
        return len(bets)


class Table:
    """Collects turns and prints them."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._turns: dict[str, list[Measured]] = {}

    async def turn(self, name: str, events: int, work: Callable[[], Awaitable[object]]) -> None:
        """One turn of a contestant."""
        self._turns.setdefault(name, []).append(await timed(events, work))

    def per_s(self, name: str) -> float:
        """A contestant's result."""
        return statistics.median(one.per_s for one in self._turns[name])

    def show(self, ours: str, wanted: dict[str, float]) -> None:
        """All results, and our ratio to each against what is wanted."""
        print(f"\n{self._title}")
        for name, turns in self._turns.items():
            cores = statistics.median(one.generator_cores for one in turns)
            line = f"  {name:<44} {self.per_s(name):>9,.0f} events/s   load generator {cores:.2f} cores"
            if name != ours:
                ratio = self.per_s(ours) / self.per_s(name)
                line += f"   ours / this = {ratio:.2f}"
                if name in wanted:
                    line += f" (wanted >= {wanted[name]:g}: {'yes' if ratio >= wanted[name] else 'NO'})"
            print(line)
