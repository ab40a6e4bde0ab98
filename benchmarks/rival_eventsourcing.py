"""The library `eventsourcing` as a contestant of bench_eventstore.py."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime as dt
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import unquote, urlsplit
from uuid import UUID, uuid4

from eventsourcing.domain import DomainEvent
from eventsourcing.persistence import (
    DatetimeAsISO,
    EventStore,
    InfrastructureFactory,
    JSONTranscoder,
    StoredEvent,
    UUIDAsHex,
)
from eventsourcing.utils import Environment


@dataclasses.dataclass(frozen=True)
class RivalBetPlaced(DomainEvent):  # type: ignore[misc]  # the rival comes without types here
    """The same event in that library's terms."""

    round_id: UUID
    player: str
    box: int
    wager: str
    amount: int
    bet_id: str
    balance: int
    note: str


class Eventsourcing:
    """Default settings. Bare appends go to its recorder: mapping would only cost it more."""

    def __init__(self, dsn: str, threads: int) -> None:
        parts = urlsplit(dsn)
        self._factory: Any = InfrastructureFactory.construct(
            Environment(
                "bench",
                {
                    "PERSISTENCE_MODULE": "eventsourcing.postgres",
                    "POSTGRES_DBNAME": parts.path.strip("/"),
                    "POSTGRES_HOST": parts.hostname or "",
                    "POSTGRES_PORT": str(parts.port),
                    "POSTGRES_USER": unquote(parts.username or ""),
                    "POSTGRES_PASSWORD": unquote(parts.password or ""),
                },
            )
        )
        self._recorder: Any = self._factory.application_recorder()
        transcoder = JSONTranscoder()
        transcoder.register(UUIDAsHex())
        transcoder.register(DatetimeAsISO())
        mapper: Any = self._factory.mapper(transcoder=transcoder)
        self._events: EventStore[UUID] = EventStore(mapper, self._recorder)
        self._threads = ThreadPoolExecutor(threads)

    async def callers(self, callers: int, each: int, content: bytes) -> None:
        """Append one at a time from each caller, a thread, to an aggregate of its own."""

        def call() -> None:
            originator = uuid4()
            for version in range(1, each + 1):
                self._recorder.insert_events([StoredEvent(originator, version, "BetPlaced", content)])

        loop = asyncio.get_running_loop()
        await asyncio.gather(*(loop.run_in_executor(self._threads, call) for _ in range(callers)))

    async def batches(self, count: int, size: int, content: bytes) -> None:
        """Append batch after batch to one aggregate."""
        originator = uuid4()
        for batch in range(count):
            start = batch * size
            self._recorder.insert_events(
                [StoredEvent(originator, start + n, "BetPlaced", content) for n in range(1, size + 1)]
            )

    async def fill(self, count: int, fields: dict[str, Any]) -> UUID:
        """Make an aggregate with so many domain events; its id."""
        originator = uuid4()
        for start in range(0, count, 1_000):
            self._events.put(
                [
                    RivalBetPlaced(
                        originator_id=originator,
                        originator_version=start + n,
                        timestamp=dt.datetime.now(dt.UTC),
                        **fields,
                    )
                    for n in range(1, 1_001)
                ]
            )
        return originator

    async def read_stored(self, originator: UUID) -> int:
        """Read an aggregate's stored events: bytes, not yet the domain's objects."""
        return len(list(self._recorder.select_events(originator)))

    async def read_domain(self, originator: UUID) -> int:
        """Read an aggregate's domain events."""
        return len(list(self._events.get(originator)))

    def close(self) -> None:
        """Give everything back."""
        self._threads.shutdown()
        self._factory.close()
