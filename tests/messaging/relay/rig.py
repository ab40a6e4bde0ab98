"""Everything that a test of a running relay needs, in one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from eventstore import Expect
from eventstore.postgres import Pool, PostgresEventStore
from messaging.broker import BrokerSettings
from messaging.relay import Relay, RelaySettings
from stack import Stack
from tests.eventstore.samples import events
from tests.messaging.conftest import settings_for, topic_settings_for
from tests.messaging.relay.watching import Watcher, assert_all_published, until_published

NewRelay = Callable[..., Relay]
TOPIC = "events"


@dataclass(frozen=True)
class Rig:
    """A log, a topic, a relay to be made, and who watches it."""

    stack: Stack
    database: str
    pool: Pool
    store: PostgresEventStore
    broker: BrokerSettings
    topic: str
    watcher: Watcher
    new_relay: NewRelay

    async def fill(self, streams: int = 60, each: int = 4) -> None:
        """Append some events to each of so many streams."""
        await fill(self.store, streams, each)

    async def until_published(self) -> None:
        """Wait until everything is published, and noted as published."""
        await until_published(self.pool, self.topic)

    async def assert_all_published(self) -> int:
        """The whole log lies in the topic, in order; how many records more there are."""
        return await assert_all_published(self.store, self.broker, self.topic)


async def fill(store: PostgresEventStore, streams: int = 60, each: int = 4) -> None:
    """Append some events to each of so many streams."""
    await asyncio.gather(
        *(store.append(f"round-t{n}.1", events(each), expected=Expect.ANY) for n in range(streams))
    )


def private_relay(stack: Stack, pool: Pool, watcher: Watcher) -> Relay:
    """A relay for servers that are treated badly: it loses patience soon."""
    return Relay(
        pool,
        settings_for(stack),
        "table",
        topic=TOPIC,
        settings=RelaySettings(
            topics=topic_settings_for(stack),
            poll_interval_s=0.1,
            longest_pause_s=0.5,
            stop_timeout_s=1.0,
            acknowledge_timeout_s=4.0,
            lease_ttl_s=60.0,
        ),
        observer=watcher,
    )
