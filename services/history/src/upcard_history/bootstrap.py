"""Puts the history together: the stages in their order, each with what it stands on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Final

from eventstore.following import OWN, Applier
from eventstore.postgres import Pool, PostgresEventStore
from eventstore.projections import projection_status, run_projection
from messaging.consumer import Consumer, ConsumerSettings
from messaging.consumer.metrics import ConsumerMetrics, Measured
from messaging.consumer.tracing import traced
from messaging.dead_letters.sender import DeadLetterSender
from messaging.feed import FEED, GrpcFeed, LogFeed, PostgresEnds, exposed_feed
from messaging.migrations import COMPONENT as MESSAGING
from messaging.migrations import messaging_migrations
from messaging.topics import topic_of
from servicekit.database import Component, FollowerMetrics, event_log, start_database
from servicekit.grpc import for_services, open_channel, start_grpc
from servicekit.health import below
from servicekit.lifecycle import Service
from upcard_history.adapters.metrics import ReplayMetrics
from upcard_history.adapters.postgres.remembering import RememberingHistory
from upcard_history.adapters.postgres.sums import PostgresSums
from upcard_history.app.mirror import mirror_handler
from upcard_history.app.replay_job import ReplayJob
from upcard_history.app.replay_queue import FOLLOWER, REPLAY_EVENTS, queue_replays, replay_standing
from upcard_history.app.standing import SourceStanding, Standing
from upcard_history.entrypoints.faults import reach
from upcard_history.entrypoints.following import UnderLease, follow_own_log
from upcard_history.entrypoints.grpc import HISTORY_ERRORS, Desk, exposed_history
from upcard_history.entrypoints.grpc.turns import ExportTurns
from upcard_history.migrations import COMPONENT, history_migrations
from upcard_history.projections import PROJECTIONS
from upcard_history.settings import HistorySettings

NAME: Final = "history"
"""The service's name: its feed, its audience, its follower of other services."""

_READERS: Final = ("gateway",)
"""Services that may read the log: what it has of other services, they have themselves."""


async def main(service: Service[HistorySettings]) -> None:
    """Start everything; the calls last, so that they are stopped first."""
    settings = service.settings
    components = [
        event_log(),
        Component(MESSAGING, messaging_migrations()),
        Component(COMPONENT, history_migrations()),
    ]
    pool = await start_database(service, settings, components)
    store = await service.start("event store", PostgresEventStore(pool))
    await _start_views(service, pool, store)
    await _start_replays(service, pool, store)
    sources = await _start_sources(service, pool, store)
    desk = Desk(
        RememberingHistory(pool, store, replays_at_once=settings.replays_at_once),
        PostgresSums(pool),
        ExportTurns(settings.exports_at_once),
        partial(_standing, pool, sources),
    )
    feed = exposed_feed(LogFeed(NAME, store, PostgresEnds(pool)), access=for_services(*_READERS))
    await start_grpc(
        service,
        settings.grpc,
        [exposed_history(desk), feed],
        verifier=settings.verifier(NAME),
        known_errors=HISTORY_ERRORS,
    )


async def _start_views(service: Service[HistorySettings], pool: Pool, store: PostgresEventStore) -> None:
    """Each view by one instance at a time, so that several instances share the work."""
    for projection in PROJECTIONS:
        work = partial(run_projection, store, pool, projection, observer=FollowerMetrics())
        lease = UnderLease(
            pool,
            f"view {projection.name}",
            service.instance,
            work,
            lease_s=service.settings.lease_s,
        )
        await service.run(f"view {projection.name}", lease.run)


async def _start_replays(service: Service[HistorySettings], pool: Pool, store: PostgresEventStore) -> None:
    """What ended is noted by one instance at a time, and replayed by all of them."""
    applier = Applier(pool, FOLLOWER, OWN, queue_replays, observer=FollowerMetrics())
    work = partial(follow_own_log, store, applier, REPLAY_EVENTS)
    lease = UnderLease(pool, FOLLOWER, service.instance, work, lease_s=service.settings.lease_s)
    await service.run("ended rounds", lease.run)
    job = ReplayJob(pool, store, ReplayMetrics(), interval_s=service.settings.replay_interval_s, reach=reach)
    await service.run("replays", job.run, stop_within_s=15.0)


@dataclass(frozen=True, slots=True)
class _Source:
    name: str
    consumer: Consumer


async def _start_sources(
    service: Service[HistorySettings], pool: Pool, store: PostgresEventStore
) -> tuple[_Source, ...]:
    """The services whose events are kept here."""
    settings = service.settings
    addresses = {"table": settings.table_address, "wallet": settings.wallet_address}
    if settings.bonus_address is not None:
        addresses["bonus"] = settings.bonus_address
    metrics = ConsumerMetrics()
    return tuple(
        [await _follow(service, pool, store, metrics, source, at) for source, at in addresses.items()]
    )


async def _follow(
    service: Service[HistorySettings],
    pool: Pool,
    store: PostgresEventStore,
    metrics: ConsumerMetrics,
    source: str,
    address: str,
) -> _Source:
    """Consume another service's events: from Kafka, and over its feed what Kafka does not bring."""
    settings = service.settings
    kafka = settings.kafka(service.instance)
    topic = settings.named(topic_of(source))
    channel = await service.start(
        f"feed of {source}",
        open_channel(address, audience=source, services=[FEED], settings=settings.calls),
    )
    measured = Measured(metrics, NAME, source)
    handler = traced(mirror_handler(source))
    consumer = Consumer(
        Applier(pool, NAME, source, handler, store=store, observer=FollowerMetrics()),
        GrpcFeed(channel, source),
        kafka,
        topic=topic,
        group=settings.named(f"{NAME}-{source}"),
        topic_settings=settings.topics(),
        settings=ConsumerSettings(fetch_max_wait_ms=settings.kafka_fetch_wait_ms),
        observer=measured,
        dead_letters=DeadLetterSender(pool, kafka, NAME, source, topic=topic),
    )
    measured.watch(consumer)
    await service.run(f"consumer of {source}", consumer.run, stop_within_s=20.0)
    service.readiness.add(
        below(
            f"consumer of {source}",
            lambda: consumer.status.lag or 0,
            settings.consumer_lag_max_events,
            what="events behind",
        )
    )
    return _Source(source, consumer)


async def _standing(pool: Pool, sources: tuple[_Source, ...]) -> Standing:
    async with pool.acquire() as connection:
        views = await projection_status(connection)
        replays = await replay_standing(connection)
    return Standing(tuple(map(_source_standing, sources)), views, replays)


def _source_standing(source: _Source) -> SourceStanding:
    status = source.consumer.status
    # Without shards there is nothing to be behind in: that is not known before the source was asked.
    behind = None if status.lag_age_s is None else status.lag
    return SourceStanding(source.name, status.connected, behind, status.lag_age_s, len(status.stopped))
