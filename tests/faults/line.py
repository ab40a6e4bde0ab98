"""The whole way of an event: log, relay, Kafka, consumer, effect; in processes that may be killed."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import signal
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

import asyncpg

from eventstore import AppendFailed, Expect, NewEvent, OutcomeUnknown, Overloaded
from eventstore.migrations import prepare_event_log
from eventstore.postgres import SESSION_LOST, Pool, PostgresEventStore, Retrying, StoreSettings, open_pool
from messaging.migrations import prepare_messaging
from stack import Stack
from stack.names import fresh_name
from tests.eventstore.samples import events, stream_of_shard
from tests.messaging.consumer.following_process import Task
from tests.messaging.consumer.world import FOLLOWER, MAKE_EFFECTS
from tests.messaging.waiting import until

TOPIC = "events"
STREAMS = [stream_of_shard(shard, f"{kind}-") for shard in range(0, 64, 7) for kind in ("round", "table")]
PATIENT = StoreSettings(retrying=Retrying(tries=400, first_pause_s=0.05, longest_pause_s=0.3))
RECOVERY_S = 120.0
"""Longest until events arrive again after a fault."""


class Processes:
    """So many processes of one kind: one that dies is followed by the next."""

    def __init__(self, count: int, command: list[str]) -> None:
        self._command = command
        self._running: list[asyncio.subprocess.Process | None] = [None] * count
        self._keepers: list[asyncio.Task[None]] = []
        self._stopping = False

    def start(self) -> None:
        """Start them all, and see to it that they are there."""
        self._keepers = [asyncio.create_task(self._keep(slot)) for slot in range(len(self._running))]

    def kill(self, chance: random.Random) -> None:
        """Kill one of them, as kill -9 does."""
        process = chance.choice(self._running)
        if process is not None and process.returncode is None:
            process.kill()

    async def stop(self) -> None:
        """Ask them to end, and wait; whoever does not is killed."""
        self._stopping = True
        for process in self._running:
            if process is not None and process.returncode is None:
                process.send_signal(signal.SIGTERM)
        await asyncio.wait(self._keepers, timeout=20)
        for process in self._running:
            if process is not None and process.returncode is None:
                process.kill()
        await asyncio.gather(*self._keepers)

    async def _keep(self, slot: int) -> None:
        while not self._stopping:
            process = await asyncio.create_subprocess_exec(
                sys.executable, *self._command, stdout=asyncio.subprocess.DEVNULL
            )
            self._running[slot] = process
            await process.wait()


@dataclass
class Appending:
    """Callers that append all the time, and remember what they were told."""

    store: PostgresEventStore
    answered: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    done: asyncio.Event = field(default_factory=asyncio.Event)

    async def call(self, chance: random.Random) -> None:
        """One event or a few after the other; a lost answer is resolved with the same ids again."""
        while not self.done.is_set():
            stream, sent = chance.choice(STREAMS), events(chance.choice((1, 1, 5)))
            while not await self._send(stream, sent):
                await self._until_up()

    async def _send(self, stream: str, sent: list[NewEvent]) -> bool:
        try:
            await self.store.append(stream, sent, expected=Expect.ANY, timeout_s=30.0)
        except (OutcomeUnknown, Overloaded):
            return False
        except AppendFailed:
            self.refused.update(str(event.event_id) for event in sent)
            return True
        self.answered.update(str(event.event_id) for event in sent)
        return True

    async def _until_up(self) -> None:
        async def up() -> bool:
            try:
                await self.store.stream_head(STREAMS[0])
            except (asyncpg.PostgresError, *SESSION_LOST):
                return False
            return True

        await until(up, what="the database answers", timeout_s=RECOVERY_S)


@dataclass
class Line:
    """All of it, running."""

    stack: Stack
    source: Pool
    effects_dsn: str
    appending: Appending
    relays: Processes
    consumers: Processes

    async def effects(self) -> int:
        """How many events have had their effect."""
        connection = await asyncpg.connect(self.effects_dsn, timeout=10)
        try:
            return int(await connection.fetchval("SELECT count(*) FROM public.effects"))
        finally:
            await connection.close()

    async def goes_on(self, more: int) -> None:
        """Wait until so many more events have had their effect."""
        async with asyncio.timeout(RECOVERY_S):
            before = await self._answer(self.effects)

        async def grown() -> bool:
            return await self._answer(self.effects) >= before + more

        await until(grown, what=f"{more} more events than {before} arrive", timeout_s=RECOVERY_S)

    async def all_arrived(self) -> None:
        """Wait until every event of the log has had its effect."""

        async def all_there() -> bool:
            return await self._answer(self.effects) >= sum(await self.appending.store.shard_heads())

        await until(all_there, what="everything arrives", timeout_s=RECOVERY_S)

    async def _answer(self, ask: Callable[[], object]) -> int:
        while True:
            try:
                answer: int = await ask()  # type: ignore[misc]  # a coroutine function
            except (asyncpg.PostgresError, *SESSION_LOST):
                await asyncio.sleep(0.05)
            else:
                return answer

    async def check(self) -> None:
        """Every event once, in its shard's order; what was answered is there, what was refused is not."""
        connection = await asyncpg.connect(self.effects_dsn)
        rows = await connection.fetch("SELECT shard, shard_position FROM public.effects ORDER BY id")
        await connection.close()
        seen: dict[int, list[int]] = {}
        for shard, position in rows:
            seen.setdefault(shard, []).append(position)
        heads = await self.appending.store.shard_heads()
        assert seen == {shard: list(range(1, head + 1)) for shard, head in enumerate(heads) if head}
        stored = set()
        for stream in STREAMS:
            stored |= {str(event.event_id) async for event in self.appending.store.iterate_stream(stream)}
        assert self.appending.answered <= stored
        assert stored.isdisjoint(self.appending.refused)
        assert len(stored) == len(rows) > 0


@contextlib.asynccontextmanager
async def a_line(stack: Stack, *, callers: int, seed: int) -> AsyncIterator[Line]:
    """Two relays, two consumers, some callers; all of it in the databases and on the broker of this stack."""
    source_dsn = await stack.databases.create(fresh_name("source"))
    effects_dsn = await stack.databases.create(fresh_name("effects"))
    for dsn in (source_dsn, effects_dsn):
        connection = await asyncpg.connect(dsn)
        await prepare_event_log(connection)
        await prepare_messaging(connection)
        await connection.close()
    connection = await asyncpg.connect(effects_dsn)
    await connection.execute(MAKE_EFFECTS)
    await connection.close()
    relays = Processes(2, ["-m", "tests.messaging.relay.program", json.dumps(_plan(stack, source_dsn))])
    task = Task(
        source_dsn=source_dsn,
        dsn=effects_dsn,
        bootstrap=stack.addresses.kafka_bootstrap,
        idempotent=stack.facts.idempotent_producer,
        replicas=stack.facts.replication_factor,
        insync=stack.facts.min_insync_replicas,
        topic=TOPIC,
        group=f"{TOPIC}-{FOLLOWER}",
    )
    consumers = Processes(2, ["-m", "tests.messaging.consumer.following_process", task.as_json()])
    async with (
        await open_pool(source_dsn, application_name="callers", max_size=8) as source,
        PostgresEventStore(source, settings=PATIENT) as store,
    ):
        line = Line(stack, source, effects_dsn, Appending(store), relays, consumers)
        relays.start()
        consumers.start()
        calls = [
            asyncio.create_task(line.appending.call(random.Random(f"{seed} {n}"))) for n in range(callers)
        ]
        try:
            yield line
        finally:
            line.appending.done.set()
            await asyncio.gather(*calls)
            await asyncio.gather(relays.stop(), consumers.stop())


def _plan(stack: Stack, dsn: str) -> dict[str, object]:
    return {
        "dsn": dsn,
        "bootstrap": stack.addresses.kafka_bootstrap,
        "idempotent": stack.facts.idempotent_producer,
        "replication_factor": stack.facts.replication_factor,
        "min_insync_replicas": stack.facts.min_insync_replicas,
        "topic": TOPIC,
        "die_at": "",
        "times": 1,
        "ttl_s": 1.5,
    }
