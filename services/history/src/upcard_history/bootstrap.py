"""Puts the history together: the stages in their order, each with what it stands on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Final

from eventstore.following import OWN, Applier
from eventstore.postgres import Pool, PostgresEventStore
from eventstore.projections import projection_status, run_projection
from messaging.consumer import Consumer
from messaging.feed import LogFeed, PostgresEnds, exposed_feed
from messaging.migrations import COMPONENT as MESSAGING
from messaging.migrations import messaging_migrations
from messaging.operations import LocalOperations, exposed_operations
from messaging.service import Followed, Following
from servicekit.database import Component, FollowerMetrics, event_log, start_database
from servicekit.grpc import for_services, start_grpc
from servicekit.lifecycle import Service
from transparency.service import start_chainer, tree_of
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
        *tree_of(settings),
    ]
    pool = await start_database(service, settings, components)
    store = await service.start("event store", PostgresEventStore(pool))
    await start_chainer(service, pool, settings)
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
    operations = LocalOperations(NAME, pool, consumers=[(one.name, one.consumer) for one in sources])
    await start_grpc(
        service,
        settings.grpc,
        [exposed_history(desk), feed, exposed_operations(operations)],
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
    following = Following(service, settings, pool, store, NAME)
    return tuple(
        [
            _Source(source, await following.start(Followed(source, address, mirror_handler(source))))
            for source, address in addresses.items()
        ]
    )


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
