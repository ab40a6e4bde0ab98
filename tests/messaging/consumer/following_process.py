"""A consumer in a process of its own, which kills itself at a named point. Its task comes as JSON."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from eventstore import RecordedEvent, StreamAppend
from eventstore.faults import arm
from eventstore.following import Applier
from eventstore.postgres import Connection, PostgresEventStore, open_pool
from messaging.broker import BrokerSettings
from messaging.consumer import Consumer
from messaging.dead_letters.sender import DeadLetterSender
from messaging.feed import LogFeed, PostgresEnds
from messaging.topics import TopicSettings
from tests.messaging.consumer.world import FOLLOWER, QUICK, SERVICE, SETTINGS, recording


@dataclass(frozen=True)
class Task:
    """What such a process is to do."""

    source_dsn: str
    dsn: str
    bootstrap: str
    idempotent: bool
    replicas: int
    insync: int
    topic: str
    group: str
    die_at: str | None = None
    """The point at which it dies; None: it runs until it is told to stop."""
    die_after: int = 1
    """How often it has come there by then."""
    poison: str | None = None
    """A stream whose second event cannot be applied."""

    def as_json(self) -> str:
        """For its command line."""
        return json.dumps(dataclasses.asdict(self))


async def follow(task: Task) -> None:
    """Follow, until stopped by SIGTERM or dead."""
    broker = BrokerSettings(task.bootstrap, idempotent_producer=task.idempotent, metadata_max_age_ms=500)

    async def handle(
        connection: Connection, events: Sequence[RecordedEvent]
    ) -> Sequence[StreamAppend] | None:
        if any(event.stream == task.poison and event.stream_position == 2 for event in events):
            raise RuntimeError("poison")
        return await recording()(connection, events)

    async with (
        await open_pool(task.source_dsn, application_name="source", max_size=8) as source_pool,
        await open_pool(task.dsn, application_name="consumer", max_size=8) as pool,
        PostgresEventStore(source_pool) as log,
    ):
        consumer = Consumer(
            Applier(pool, FOLLOWER, SERVICE, handle, policy=QUICK),
            LogFeed(SERVICE, log, PostgresEnds(source_pool)),
            broker,
            topic=task.topic,
            group=task.group,
            topic_settings=TopicSettings(task.replicas, task.insync),
            settings=SETTINGS,
            dead_letters=DeadLetterSender(pool, broker, FOLLOWER, SERVICE, topic=task.topic),
        )
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, consumer.stop)
        await consumer.run()


def main() -> None:
    """Do what the command line says."""
    task = Task(**json.loads(sys.argv[1]))
    left = task.die_after

    def die(point: str) -> None:
        nonlocal left
        if point == task.die_at:
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    with arm(die):
        asyncio.run(follow(task))


if __name__ == "__main__":
    main()
