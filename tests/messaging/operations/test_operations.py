"""A service's machinery, at hand and over gRPC: how it stands, trying again, leaving out."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
from collections.abc import AsyncIterator, Iterator, Sequence

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from eventstore import RecordedEvent, StreamAppend
from eventstore.following import WhenFailing
from eventstore.postgres import Connection
from messaging.consumer import Consumer
from messaging.operations import (
    OPERATIONS,
    GrpcOperations,
    LocalOperations,
    Operations,
    OperationsAway,
    OperationsRefused,
    exposed_operations,
)
from servicekit.grpc import (
    Actor,
    ActorKind,
    ClientSettings,
    ContextSigner,
    ContextVerifier,
    GrpcServer,
    ServerSettings,
    TrustedKey,
    acting_as,
    open_channel,
)
from tests.eventstore.samples import stream_of_shard, streams_of_shard
from tests.messaging.consumer.world import FOLLOWER, QUICK, SERVICE, World, recording, running
from tests.messaging.waiting import until

KEY = Ed25519PrivateKey.generate()
ANN = Actor(ActorKind.STAFF, "ann", frozenset({"operations"}))
EVE = Actor(ActorKind.STAFF, "eve", frozenset({"auditor"}))
DEALER = Actor(ActorKind.DEALER, "dan")
POISONED = stream_of_shard(4)


class Poisoned:
    """A handler that fails at every event of a stream for as long as `on`."""

    def __init__(self) -> None:
        self.on = True

    async def __call__(
        self, connection: Connection, events: Sequence[RecordedEvent]
    ) -> Sequence[StreamAppend] | None:
        for event in events:
            if self.on and event.stream == POISONED:
                raise RuntimeError(f"cannot bear {event.type}")
        return await recording()(connection, events)


@contextlib.asynccontextmanager
async def over_grpc(operations: Operations) -> AsyncIterator[Operations]:
    """The same, through a server and a channel to it."""
    trusted = TrustedKey("gateway-1", KEY.public_key(), frozenset(ActorKind))
    server = GrpcServer(
        ServerSettings(grace_s=0.2),
        [exposed_operations(operations)],
        verifier=ContextVerifier(operations.service, [trusted]),
    )
    signer = ContextSigner("gateway-1", KEY)
    async with (
        server,
        open_channel(
            server.address,
            audience=operations.service,
            services=[OPERATIONS],
            settings=ClientSettings(attempts=1),
            signer=signer,
        ) as channel,
    ):
        yield GrpcOperations(channel, operations.service, timeout_s=30)


@pytest.fixture(params=["local", "grpc"])
async def operations(request: pytest.FixtureRequest, world: World) -> AsyncIterator[Operations]:
    """Of the database in which the world's events are applied, and of the source's dead letters."""
    local = LocalOperations(SERVICE, world.pool, broker=world.broker, topic=world.source.topic)
    if request.param == "local":
        yield local
        return
    async with over_grpc(local) as remote:
        yield remote


@pytest.fixture(autouse=True)
def ann() -> Iterator[None]:
    """Who acts."""
    with acting_as(ANN):
        yield


async def _parked(world: World, events: int = 3) -> None:
    await world.source.append(POISONED, events)
    await world.source.publish()
    await until(lambda: world.seen.of("dead_letters"))


async def test_a_parked_stream_is_seen_and_tried_again(world: World, operations: Operations) -> None:
    handler = Poisoned()
    async with running(world.consumer(handler)):
        await _parked(world)
        found = await operations.parked()
        (one,) = found.streams
        assert (one.follower, one.source, one.stream, one.shard) == (FOLLOWER, SERVICE, POISONED, 4)
        assert (one.failed_position, one.events, one.attempts) == (1, 3, QUICK.attempts)
        assert "cannot bear Opened" in one.error
        assert one.dead_letter_sent_at is not None
        assert one.retry_requested_at is None
        assert not found.more
        (lag,) = (await operations.lag()).followers
        assert (lag.follower, lag.source, lag.parked_streams, lag.behind) == (FOLLOWER, SERVICE, 1, None)
        assert lag.moved_at is not None
        assert (await operations.parked("somebody", SERVICE)).streams == ()
        handler.on = False
        assert await operations.retry(FOLLOWER, SERVICE, POISONED) == 1
        await until(world.all_applied)
    assert (await operations.parked()).streams == ()
    with pytest.raises(OperationsRefused) as refused:
        await operations.retry(FOLLOWER, SERVICE, POISONED)
    assert refused.value.reason == "not_parked"


async def test_an_event_is_left_out_once_whoever_asks_how_often(world: World, operations: Operations) -> None:
    async with running(world.consumer(Poisoned())):
        await _parked(world)
        wish = (FOLLOWER, SERVICE, POISONED, 1)
        with pytest.raises(OperationsRefused) as refused:
            await operations.skip(*wish, by=str(ANN), why="")
        assert refused.value.reason == "reason_invalid"
        done = await operations.skip(*wish, by=str(ANN), why="made by mistake")
        assert (done.stream, done.stream_position, done.type) == (POISONED, 1, "Opened")
        assert (done.skipped_by, done.why) == ("staff:ann", "made by mistake")
        # Twice at once, and later: none of them leaves out the next event.
        again = await asyncio.gather(*(operations.skip(*wish, by=str(ANN), why="again") for _ in range(2)))
        assert [one.why for one in again] == ["made by mistake"] * 2
        (one,) = (await operations.parked()).streams
        assert one.events == 2
        with pytest.raises(OperationsRefused) as refused:
            await operations.skip(FOLLOWER, SERVICE, POISONED, 3, by=str(ANN), why="too far")
        assert refused.value.reason == "other_event"
        with pytest.raises(OperationsRefused) as refused:
            await operations.skip(FOLLOWER, SERVICE, "round-none.1", 1, by=str(ANN), why="there is none")
        assert refused.value.reason == "not_parked"
        await operations.skip(FOLLOWER, SERVICE, POISONED, 2, by=str(ANN), why="also")
    skipped = await operations.skipped(limit=1)
    assert ([one.stream_position for one in skipped.events], skipped.more) == ([2], True)
    assert [one.stream_position for one in (await operations.skipped()).events] == [2, 1]


async def test_dead_letters_are_listed_newest_first(world: World, operations: Operations) -> None:
    async with running(world.consumer(Poisoned())):
        await _parked(world)
    await world.source.send_dead_letter(b"not a letter")
    found = await operations.dead_letters()
    (letter,) = found.failures
    assert (letter.follower, letter.stream, letter.stream_position) == (FOLLOWER, POISONED, 1)
    assert found.unreadable == 1


async def test_who_publishes_nothing_has_no_dead_letters_and_no_relay(world: World) -> None:
    alone = LocalOperations("history", world.pool)
    with pytest.raises(OperationsRefused) as refused:
        await alone.dead_letters()
    assert refused.value.reason == "not_published"
    assert (await alone.lag()).relay is None


async def test_without_a_broker_dead_letters_cannot_be_read(world: World) -> None:
    nowhere = dataclasses.replace(world.broker, bootstrap_servers="127.0.0.1:1")
    alone = LocalOperations("wallet", world.pool, broker=nowhere, topic="t")
    with pytest.raises(OperationsRefused) as refused:
        await alone.dead_letters()
    assert refused.value.reason == "broker_away"


async def test_what_stands_still_is_seen_and_goes_on(world: World, operations: Operations) -> None:
    handler = Poisoned()
    policy = dataclasses.replace(QUICK, when_failing=WhenFailing.STOP)
    consumer = world.consumer(handler, policy=policy)
    async with running(consumer):
        await world.source.append(POISONED, 2)
        await world.source.publish()

        async def stands() -> bool:
            return bool(await operations.stopped())

        await until(stands)
        (stop,) = await operations.stopped()
        assert (stop.follower, stop.source, stop.kind, stop.stream) == (FOLLOWER, SERVICE, "failed", POISONED)
        assert sum(one.stopped_shards for one in (await operations.lag()).followers) > 0
        handler.on = False
        assert await operations.resume(FOLLOWER, SERVICE) == 1
        await until(world.all_applied)
    with pytest.raises(OperationsRefused) as refused:
        await operations.resume(FOLLOWER, SERVICE, 3)
    assert refused.value.reason == "not_stopped"


async def test_consumers_say_how_far_they_are(world: World) -> None:
    consumers: list[tuple[str, Consumer]] = []
    local = LocalOperations("wallet", world.pool, consumers=consumers)
    async with over_grpc(local) as remote:
        assert (await remote.lag()).consumers == ()
        consumer = world.consumer()
        consumers.append((SERVICE, consumer))
        (before,) = (await remote.lag()).consumers
        assert (before.behind, before.asked_s, before.shards) == (None, None, 0)
        await world.source.append_to_all([stream_of_shard(shard) for shard in range(8)])
        await world.source.publish()
        async with running(consumer):
            await until(world.all_applied)

            async def even() -> bool:
                (now,) = (await remote.lag()).consumers
                return now.behind == 0 and now.connected and now.shards == 64 and now.asked_s is not None

            await until(even)


async def test_roles_decide_who_may_do_what(world: World) -> None:
    local = LocalOperations("wallet", world.pool)
    async with over_grpc(local) as remote:
        with acting_as(EVE):
            assert (await remote.lag()).service == "wallet"
            assert (await remote.skipped()).events == ()
            for act in (
                lambda: remote.retry(FOLLOWER, SERVICE),
                lambda: remote.skip(FOLLOWER, SERVICE, POISONED, 1, by="", why="w"),
                lambda: remote.resume(FOLLOWER, SERVICE),
            ):
                with pytest.raises(OperationsRefused) as refused:
                    await act()
                assert refused.value.reason == "role_missing"
        with acting_as(DEALER), pytest.raises(OperationsRefused):
            await remote.lag()


async def test_what_cannot_be_asked_is_refused(world: World) -> None:
    async with over_grpc(LocalOperations("wallet", world.pool)) as remote:
        for ask in (
            lambda: remote.parked(limit=1_001),
            lambda: remote.skipped(limit=-1),
            lambda: remote.retry("", SERVICE),
            lambda: remote.retry(FOLLOWER, SERVICE, "x" * 501),
            lambda: remote.skip(FOLLOWER, SERVICE, POISONED, 0, by="", why="w"),
        ):
            with pytest.raises(OperationsRefused) as refused:
                await ask()
            assert refused.value.reason == "invalid_argument"


async def test_a_service_that_is_away_is_told_as_such(world: World) -> None:
    async with over_grpc(LocalOperations("wallet", world.pool)) as remote:
        assert (await remote.lag()).service == "wallet"
    async with open_channel("127.0.0.1:1", audience="wallet", services=[OPERATIONS]) as channel:
        with pytest.raises(OperationsAway, match="wallet does not answer"):
            await GrpcOperations(channel, "wallet", timeout_s=2).lag()


async def test_many_streams_come_in_bounded_pages(world: World, operations: Operations) -> None:
    async with world.pool.acquire() as connection:
        await connection.execute(
            "INSERT INTO eventstore.positions (follower, source, shard)"
            " SELECT 'f', 's', generate_series(0, 63)"
        )
        await connection.executemany(
            "INSERT INTO eventstore.parked_streams"
            " (failed_position, attempts, shard, follower, source, stream, reason, error)"
            " VALUES (1, 1, 4, 'f', 's', $1, 'broken', 'it is broken')",
            [(name,) for name, _ in zip(streams_of_shard(4), range(5), strict=False)],
        )
    found = await operations.parked(limit=3)
    assert (len(found.streams), found.more) == (3, True)
    assert await operations.retry("f", "s") == 5
