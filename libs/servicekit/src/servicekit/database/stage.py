"""The database as stages of a service."""

import contextlib
from collections.abc import AsyncIterator, Sequence
from typing import Any, Final

from eventstore.migrations import event_log_migrations
from eventstore.migrations.runner import EVENT_LOG
from eventstore.postgres import Pool
from servicekit.database.connecting import Component, open_when_fit
from servicekit.database.monitor import Monitor
from servicekit.health import Check
from servicekit.lifecycle.service import Service
from servicekit.metrics import registry
from servicekit.settings import DatabaseSettings

CHECK: Final = "database"
PROJECTIONS_CHECK: Final = "projections"


def event_log() -> Component:
    """The log of events: what every service's database has."""
    return Component(EVENT_LOG, event_log_migrations())


async def start_database(
    service: Service[Any],
    settings: DatabaseSettings,
    components: Sequence[Component],
    *,
    patience_s: float = 30.0,
) -> Pool:
    """Start the pool and what watches the database, as the next stages; the pool.

    Waits up to `patience_s` seconds for a database that is away or not migrated. Raises StartRefused: it is
    still not to be had, refuses us, or our clock and its differ. From then on readiness says whether it
    answers and has all of its `components`, and whether a projection is behind by more than the setting;
    metrics show both, and whether a session holds a shard for too long.
    """
    pool = await service.start(
        "database",
        _pool(service.instance, settings, components, patience_s),
        start_within_s=patience_s + 15.0,
    )
    has_event_log = any(component.name == EVENT_LOG for component in components)
    monitor = Monitor(
        settings, service.instance, components, pools={"main": pool}, has_event_log=has_event_log
    )
    await service.start("database figures", _published(service, monitor))
    await service.run("database monitor", monitor.run, stop_within_s=5.0)
    return pool


@contextlib.asynccontextmanager
async def _pool(
    application_name: str, settings: DatabaseSettings, components: Sequence[Component], patience_s: float
) -> AsyncIterator[Pool]:
    pool = await open_when_fit(settings, application_name, components, patience_s)
    # When its users do not give their connections back in time, leaving this is cancelled, and they are cut.
    async with pool:
        yield pool


@contextlib.asynccontextmanager
async def _published(service: Service[Any], monitor: Monitor) -> AsyncIterator[None]:
    registry().register(monitor)
    service.readiness.add(Check(CHECK, monitor.check, within_s=3.0))
    if monitor.has_event_log:
        service.readiness.add(Check(PROJECTIONS_CHECK, monitor.check_projections, within_s=3.0))
    try:
        yield
    finally:
        service.readiness.remove(CHECK)
        service.readiness.remove(PROJECTIONS_CHECK)
        registry().unregister(monitor)
