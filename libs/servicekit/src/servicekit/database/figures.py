"""What was seen of a database, as metrics: things that come and go, each under its name while it is there."""

from collections.abc import Iterator, Mapping, Sequence

from prometheus_client.core import GaugeMetricFamily

from eventstore.postgres import Pool, ShardHolder
from eventstore.projections import ProjectionStatus
from servicekit.health import NotReady


def holder_figures(holders: Sequence[ShardHolder]) -> Iterator[GaugeMetricFamily]:
    """The alarm that names what holds shards."""
    held = GaugeMetricFamily(
        "upcard_shard_held_seconds",
        "How long a session has held shards of the log, if too long; none is the rule, alarm on any",
        labels=["application", "client"],
    )
    waiting = GaugeMetricFamily(
        "upcard_shard_waiters",
        "Sessions that wait for a shard, by who holds it",
        labels=["application", "client"],
    )
    longest: dict[tuple[str, str], tuple[float, int]] = {}
    for holder in holders:
        key = (holder.application_name, holder.client)
        held_s, waiters = longest.get(key, (0.0, 0))
        longest[key] = (max(held_s, holder.held_s), waiters + holder.waiting)
    for key, (held_s, waiters) in longest.items():
        held.add_metric(key, held_s)
        waiting.add_metric(key, waiters)
    yield held
    yield waiting


def projection_figures(projections: Sequence[ProjectionStatus]) -> Iterator[GaugeMetricFamily]:
    """How far each projection is behind, and what of it is parked."""
    for name, documentation, figure in (
        ("lag_events", "Events of the log that a projection has still to apply", lambda one: one.lag),
        ("parked_streams", "Parked streams of a projection; alarm on any", lambda one: one.parked_streams),
        ("parked_events", "Events kept for parked streams", lambda one: one.parked_events),
        ("stopped", "Whether a projection stands still; alarm on 1", lambda one: one.stopped is not None),
    ):
        family = GaugeMetricFamily(f"upcard_projection_{name}", documentation, labels=["projection"])
        for one in projections:
            family.add_metric([one.name], figure(one))
        yield family


def require_projections(projections: Sequence[ProjectionStatus], lag_max_events: int) -> None:
    """Raise NotReady when a projection stands still or is too far behind, if it is not being rebuilt."""
    for one in projections:
        if one.rebuilding:
            continue
        if one.stopped is not None:
            raise NotReady(f"the projection {one.name} stands still ({one.stopped})")
        if one.lag > lag_max_events:
            raise NotReady(
                f"the projection {one.name} is {one.lag} events behind, at most {lag_max_events} are borne"
            )


def pool_figures(pools: Mapping[str, Pool]) -> Iterator[GaugeMetricFamily]:
    """How many connections pools have, and may have."""
    connections = GaugeMetricFamily(
        "upcard_database_pool_connections",
        "Connections of a pool by what they do",
        labels=["pool", "state"],
    )
    most = GaugeMetricFamily(
        "upcard_database_pool_connections_max", "Most connections that a pool may have", labels=["pool"]
    )
    for name, pool in pools.items():
        idle = pool.get_idle_size()
        connections.add_metric([name, "idle"], idle)
        connections.add_metric([name, "busy"], pool.get_size() - idle)
        most.add_metric([name], pool.get_max_size())
    yield connections
    yield most
