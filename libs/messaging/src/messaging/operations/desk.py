"""The machinery of the service whose database this is."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable, Sequence
from itertools import groupby
from typing import Final

from aiokafka.errors import KafkaError

from eventstore.coordination import lease_holders
from eventstore.coordination.outages import PASSING
from eventstore.following import (
    OtherEventParked,
    SkippedEvent,
    Stop,
    all_positions,
    list_parked,
    list_skipped,
    list_stopped,
    request_retry,
    resume,
    skip_parked,
    skipped_event,
)
from eventstore.following.positions import FollowerPosition
from eventstore.postgres import Connection, Pool
from messaging.broker import BrokerSettings
from messaging.consumer import Consumer
from messaging.dead_letters.reading import read_dead_letters
from messaging.operations.model import (
    USUAL,
    ConsumerLag,
    FollowerLag,
    Lag,
    Letters,
    OperationsAway,
    OperationsRefused,
    Parked,
    RelayLag,
    Skipped,
)
from messaging.relay.positions import relay_positions
from messaging.relay.relay import lease_of

_LETTERS_READ: Final = 5_000
"""Most dead letters that are read to find the newest ones."""
_BROKER_S: Final = 8.0
"""Longest wait for the topic of dead letters."""


class LocalOperations:
    """`Operations` on a service's own database, broker and consumers.

    `topic` is that of its events; None where it publishes none. `consumers` may still grow: by source.
    """

    def __init__(
        self,
        service: str,
        pool: Pool,
        *,
        broker: BrokerSettings | None = None,
        topic: str | None = None,
        consumers: Iterable[tuple[str, Consumer]] = (),
    ) -> None:
        self.service = service
        self._pool = pool
        self._broker = broker
        self._topic = topic
        self._consumers = consumers
        self._reading = asyncio.Lock()

    async def lag(self) -> Lag:
        """See `Operations`."""
        async with self._connected() as connection:
            positions = await all_positions(connection)
            relay = None if self._topic is None else await _relay_lag(connection, self._topic)
        consumers = tuple([_consumer_lag(source, one) for source, one in self._consumers])
        return Lag(self.service, relay, tuple(_followers(positions)), consumers)

    async def parked(self, follower: str = "", source: str = "", *, limit: int = USUAL) -> Parked:
        """See `Operations`."""
        async with self._connected() as connection:
            found = await list_parked(connection, follower or None, source or None, limit=limit + 1)
        return Parked(found[:limit], len(found) > limit)

    async def retry(self, follower: str, source: str, stream: str = "") -> int:
        """See `Operations`."""
        async with self._connected() as connection:
            asked = await request_retry(connection, follower, source, stream or None)
        if not asked:
            raise OperationsRefused("not_parked", f"{follower} of {source} has parked no such stream")
        return asked

    async def skip(
        self, follower: str, source: str, stream: str, position: int, *, by: str, why: str
    ) -> SkippedEvent:
        """See `Operations`. The same wish again finds what was left out, and leaves out nothing more."""
        async with self._connected() as connection:
            refused: OperationsRefused | None = None
            try:
                await skip_parked(
                    connection, follower, source, stream, skipped_by=by, why=why, position=position
                )
            except ValueError as error:
                raise OperationsRefused("reason_invalid", str(error)) from error
            except OtherEventParked as error:
                refused = OperationsRefused("other_event", str(error))
            except LookupError as error:
                refused = OperationsRefused("not_parked", str(error))
            done = await skipped_event(connection, follower, source, stream, position)
        if done is None:
            raise refused or OperationsRefused("not_parked", f"{stream} is not parked at {position}")
        return done

    async def stopped(self) -> Sequence[Stop]:
        """See `Operations`."""
        async with self._connected() as connection:
            return await list_stopped(connection)

    async def resume(self, follower: str, source: str, shard: int | None = None) -> int:
        """See `Operations`."""
        async with self._connected() as connection:
            stops = await resume(connection, follower, source, shard)
        if not stops:
            raise OperationsRefused("not_stopped", f"{follower} of {source} does not stand still there")
        return stops

    async def skipped(self, *, limit: int = USUAL) -> Skipped:
        """See `Operations`."""
        async with self._connected() as connection:
            found = await list_skipped(connection, limit=limit + 1)
        return Skipped(found[:limit], len(found) > limit)

    async def dead_letters(self, *, limit: int = USUAL) -> Letters:
        """See `Operations`. One reading at a time: each is a consumer of its own at the broker."""
        if self._topic is None or self._broker is None:
            raise OperationsRefused("not_published", f"{self.service} publishes no events")
        try:
            async with asyncio.timeout(2 * _BROKER_S), self._reading:
                found = await read_dead_letters(
                    self._broker, self._topic, self.service, limit=_LETTERS_READ, timeout_s=_BROKER_S
                )
        except (KafkaError, TimeoutError, OSError) as error:
            raise OperationsRefused(
                "broker_away", f"the dead letters cannot be read now: {type(error).__name__}"
            ) from error
        return Letters(tuple(reversed(found.failures))[:limit], found.unreadable)

    @contextlib.asynccontextmanager
    async def _connected(self) -> AsyncIterator[Connection]:
        try:
            async with self._pool.acquire(timeout=5.0) as connection:
                yield connection
        except (*PASSING, TimeoutError) as error:
            raise OperationsAway(f"the database of {self.service}: {type(error).__name__}") from error


async def _relay_lag(connection: Connection, topic: str) -> RelayLag:
    positions = await relay_positions(connection, topic)
    holders = await lease_holders(connection, lease_of(topic))
    return RelayLag(
        topic,
        next((one.holder for one in holders if one.held), ""),
        sum(one.lag for one in positions),
        sum(one.lag > 0 for one in positions),
        max((one.moved_at for one in positions if one.moved_at is not None), default=None),
    )


def _followers(positions: Sequence[FollowerPosition]) -> Iterable[FollowerLag]:
    """One for each follower and source; they come sorted."""
    for (follower, source), shards in groupby(positions, key=lambda one: (one.follower, one.source)):
        found = list(shards)
        lags = [one.lag for one in found]
        at = [one.position.updated_at for one in found if one.position.position]
        moved = [one for one in at if one is not None]
        yield FollowerLag(
            follower,
            source,
            sum(one.position.position for one in found),
            None if all(lag is None for lag in lags) else sum(lag or 0 for lag in lags),
            sum(one.position.parked for one in found),
            sum(one.position.stopped is not None for one in found),
            max(moved, default=None),
        )


def _consumer_lag(source: str, consumer: Consumer) -> ConsumerLag:
    status = consumer.status
    asked = status.lag_age_s is not None
    return ConsumerLag(
        source,
        status.connected,
        status.shards,
        status.lag if asked else None,
        status.lag_age_s,
        len(status.stopped),
        len(status.filling),
    )
