"""The relay of a service: waits for its lease, then publishes until it is told to stop."""

import asyncio
import contextlib
import os
import socket
import time
from collections.abc import Coroutine
from typing import Any, TypeVar

from aiokafka.errors import KafkaError

from eventstore.coordination import HeldLease, LeaseLost, hold_lease, run_while_held
from eventstore.coordination.outages import PASSING, bounded_call
from eventstore.postgres import Pool
from messaging.broker import BrokerSettings
from messaging.relay.observer import RelayObserver, SilentRelay
from messaging.relay.positions import claim_positions
from messaging.relay.producer import Producer, connected
from messaging.relay.session import Session
from messaging.relay.settings import RelaySettings
from messaging.relay.troubles import Troubles
from messaging.topics import TopicUnusable, topic_of

T = TypeVar("T")


def lease_of(topic: str) -> str:
    """The name of the lease that the relays of a topic share."""
    return f"relay {topic}"


class Relay:
    """Publishes the log of the pool's database. Any number may run; one is active, the others wait.

    The pool's role needs the rights of a service, of the event log and of messaging. It keeps one connection
    to listen, and takes two or three more for moments; renewals of the lease are among these, so a pool that
    others fill up costs the lease.
    """

    def __init__(  # noqa: PLR0913 - put together in one place only
        self,
        pool: Pool,
        broker: BrokerSettings,
        service: str,
        *,
        topic: str | None = None,
        settings: RelaySettings | None = None,
        observer: RelayObserver | None = None,
        holder: str | None = None,
    ) -> None:
        self._pool = pool
        self._broker = broker
        self._service = service
        self._topic = topic_of(service) if topic is None else topic
        self._settings = settings or RelaySettings()
        self._observer = observer or SilentRelay()
        self._holder = holder or f"{socket.gethostname()} {os.getpid()}"
        self._troubles = Troubles(
            self._settings.first_pause_s, self._settings.longest_pause_s, time.monotonic
        )

    async def run(self, stopping: asyncio.Event | None = None) -> None:
        """Publish until `stopping` is set; then what is under way is finished, and the lease given back.

        Without it, or when cancelled, what is under way is given up: the next relay publishes it again.
        Raises only what is a defect or a mistake (a missing table or right, say): outages are waited for.
        """
        stopping = stopping or asyncio.Event()
        while not stopping.is_set():
            async with contextlib.AsyncExitStack() as stack:
                lease = hold_lease(
                    self._pool, lease_of(self._topic), holder=self._holder, ttl_s=self._settings.lease_ttl_s
                )
                held = await _unless(stopping, stack.enter_async_context(lease))
                if held is not None:
                    await self._while_held(held, stopping)

    async def _while_held(self, held: HeldLease, stopping: asyncio.Event) -> None:
        self._observer.active(held.token)
        reason = "stopped"
        try:
            await run_while_held(held, self._publish(held, stopping))
        except LeaseLost as error:
            reason = str(error)
            await _unless(stopping, asyncio.sleep(self._settings.first_pause_s))
        except BaseException as error:
            reason = repr(error)
            raise
        finally:
            self._observer.passive(reason)

    async def _publish(self, held: HeldLease, stopping: asyncio.Event) -> None:
        """Connect and publish, again and again: nothing is remembered of a connection that failed."""
        pause_s = self._settings.first_pause_s
        while not stopping.is_set():
            session: Session | None = None
            try:
                async with contextlib.AsyncExitStack() as stack:
                    connection = connected(
                        self._broker, self._topic, self._service, self._settings, self._observer
                    )
                    producer = await _unless(stopping, stack.enter_async_context(connection))
                    if producer is not None:
                        session = await self._session(producer, held.token)
                        await session.run(stopping)
            except (KafkaError, TopicUnusable, *PASSING) as error:
                if (task := asyncio.current_task()) is not None and task.cancelling():
                    raise asyncio.CancelledError from error  # which this error has taken the place of
                if session is not None and session.progressed:
                    pause_s = self._settings.first_pause_s
                self._observer.connection_failed(error, pause_s)
                await _unless(stopping, asyncio.sleep(pause_s))
                pause_s = min(2 * pause_s, self._settings.longest_pause_s)

    async def _session(self, producer: Producer, token: int) -> Session:
        found = await bounded_call(
            self._pool,
            self._settings.database_timeout_s,
            lambda connection: claim_positions(connection, self._topic, token),
        )
        return Session(
            self._pool,
            producer,
            self._topic,
            token,
            found,
            settings=self._settings,
            observer=self._observer,
            troubles=self._troubles,
        )


async def _unless(stopping: asyncio.Event, work: Coroutine[Any, Any, T]) -> T | None:
    """What the work returns; None when it was cancelled because of `stopping`."""
    task = asyncio.ensure_future(work)
    stopped = asyncio.ensure_future(stopping.wait())
    try:
        await asyncio.wait([task, stopped], return_when=asyncio.FIRST_COMPLETED)
        return task.result() if task.done() else None
    finally:
        for one in (task, stopped):
            one.cancel()
        await asyncio.wait([task, stopped])
