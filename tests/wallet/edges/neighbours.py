"""Other services as far as the wallet sees them: a log, its feed, and its topic."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from eventstore import Expect, NewEvent
from eventstore.ids import new_event_id
from eventstore.postgres import Pool, PostgresEventStore, open_pool
from messaging.broker import BrokerSettings
from messaging.feed import LogFeed, PostgresEnds, exposed_feed
from messaging.relay import Relay, RelaySettings
from messaging.topics import TopicSettings, topic_of
from rules_core.log.content import Content, content_bytes
from rules_core.round.codec import payload_of
from rules_core.round.events import RoundEvent
from servicekit.grpc import ANY_SERVICE, GrpcServer, ServerSettings
from stack import Stack

WHEN = "2026-11-30T12:00:00.000000Z"


@dataclass
class Neighbour:
    """A service that the wallet follows; an async context manager."""

    name: str
    stack: Stack
    dsn: str
    namespace: str
    _exits: contextlib.AsyncExitStack = field(default_factory=contextlib.AsyncExitStack)

    async def __aenter__(self) -> Self:
        enter = self._exits.enter_async_context
        self._pool: Pool = await enter(await open_pool(self.dsn, application_name=self.name))
        self._store = await enter(PostgresEventStore(self._pool))
        feed = LogFeed(self.name, self._store, PostgresEnds(self._pool))
        exposed = exposed_feed(feed, access=ANY_SERVICE)
        self._server = await enter(GrpcServer(ServerSettings(grace_s=0.2), [exposed]))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._exits.aclose()

    @property
    def address(self) -> str:
        """Where its feed is."""
        return self._server.address

    @contextlib.asynccontextmanager
    async def publishing(self) -> AsyncIterator[None]:
        """Its relay runs meanwhile."""
        facts = self.stack.facts
        broker = BrokerSettings(
            self.stack.addresses.kafka_bootstrap, idempotent_producer=facts.idempotent_producer
        )
        topics = TopicSettings(
            replication_factor=facts.replication_factor, min_insync_replicas=facts.min_insync_replicas
        )
        topic = f"{self.namespace}.{topic_of(self.name)}"
        relay = Relay(self._pool, broker, self.name, topic=topic, settings=RelaySettings(topics=topics))
        stopping = asyncio.Event()
        task = asyncio.create_task(relay.run(stopping))
        try:
            yield
        finally:
            stopping.set()
            await task

    async def says(self, round_name: str, *events: RoundEvent) -> None:
        """Append events of a round."""
        new = [
            self._event(f"round-{round_name}", type(event).__name__, payload_of(event)) for event in events
        ]
        await self._store.append(f"round-{round_name}", new, expected=Expect.ANY)

    async def tells(self, stream: str, kind: str, payload: Mapping[str, Any], *, version: int = 1) -> None:
        """Append an event of any stream."""
        await self._store.append(stream, [self._event(stream, kind, payload, version)], expected=Expect.ANY)

    def _event(self, stream: str, kind: str, payload: Mapping[str, Any], version: int = 1) -> NewEvent:
        event_id = new_event_id()
        content = Content(
            str(event_id), kind, version, stream, WHEN, "c-1", None, "system", "00" * 16, dict(payload)
        )
        return NewEvent(event_id, kind, content_bytes(content))
