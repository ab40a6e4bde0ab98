"""Watching the database from a connection that is used for nothing else.

When all connections of the pool are taken, or a shard is held, this one still asks who it is.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import asyncpg
import structlog
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from eventstore.postgres import Connection, Pool, ShardHolder, shard_holders
from eventstore.postgres.periods import months_ahead
from eventstore.projections import ProjectionStatus, projection_status
from servicekit.clock import measure_skew
from servicekit.database.connecting import UNREACHABLE, Component, connect, require_migrated
from servicekit.database.figures import holder_figures, pool_figures, projection_figures, require_projections
from servicekit.health import NotReady
from servicekit.metrics import counter, gauge
from servicekit.settings import DatabaseSettings
from servicekit.tracing import without_literals

EVERY_S: Final = 5.0
_ASK_WITHIN_S: Final = 4.0
_NO_ANSWER: Final = (*UNREACHABLE, asyncpg.PostgresError)
_MOST_NAMED: Final = 20

Answer = TypeVar("Answer")

_log = structlog.get_logger("servicekit.database")
_reachable = gauge("upcard_database_reachable", "Whether the monitor's last round got its answers: 1 or 0")
_failed = counter("upcard_database_monitor_failures_total", "Rounds of the monitor that got no answer")
_skew = gauge("upcard_clock_skew_seconds", "The database's clock minus ours, as last measured")
_uncertain = gauge("upcard_clock_skew_uncertainty_seconds", "By how much the clock skew may be wrong")
_ahead = gauge("upcard_event_log_months_ahead", "Months after this one that have a partition; alarm at 0")


@dataclass(frozen=True, slots=True)
class Seen:
    """What one round saw."""

    holders: tuple[ShardHolder, ...] = ()
    projections: tuple[ProjectionStatus, ...] = ()


class Monitor(Collector):
    """Asks the database every few seconds, and gives what it saw to metrics, logs and readiness."""

    def __init__(
        self,
        settings: DatabaseSettings,
        application_name: str,
        components: Sequence[Component],
        *,
        pools: Mapping[str, Pool],
        has_event_log: bool,
    ) -> None:
        self._settings = settings
        self._application_name = f"{application_name} monitor"
        self._components = components
        self._pools = pools
        self.has_event_log = has_event_log
        self._connection: asyncpg.Connection[Any] | None = None
        self._one_at_a_time = asyncio.Lock()
        self._named: dict[int, bool] = {}  # whether anybody was seen to wait for it
        self.seen = Seen()

    async def run(self, ending: asyncio.Event) -> None:
        """Ask, until the event is set. Never fails: a database that is away is what it is there to see."""
        while not ending.is_set():
            await self.look()
            try:
                async with asyncio.timeout(EVERY_S):
                    await ending.wait()
            except TimeoutError:
                continue
        await self.close()

    async def look(self) -> bool:
        """One round; whether the database answered."""
        try:
            async with asyncio.timeout(_ASK_WITHIN_S):
                self.seen = await self._ask(self._look)
        except _NO_ANSWER as error:
            self.seen = Seen()  # of what is not known nothing is said
            _failed.inc()
            _reachable.set(0)
            _log.warning("the database does not answer its monitor", error=type(error).__name__)
            return False
        _reachable.set(1)
        self._name(self.seen.holders)
        return True

    async def check(self) -> None:
        """For readiness: the database answers now, and is migrated. Raises NotReady."""
        await self._check(lambda connection: require_migrated(connection, self._components))

    async def check_projections(self) -> None:
        """For readiness: no projection stands still or is too far behind. Raises NotReady."""
        statuses = await self._check(projection_status)
        require_projections(statuses, self._settings.projection_lag_max_events)

    async def close(self) -> None:
        """Give the connection back."""
        connection, self._connection = self._connection, None
        if connection is not None:
            try:
                await connection.close(timeout=1.0)
            except _NO_ANSWER:
                connection.terminate()

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """The metrics that name things which come and go. Called from the endpoint's thread."""
        seen = self.seen
        yield from holder_figures(seen.holders[:_MOST_NAMED])
        yield from projection_figures(seen.projections)
        yield from pool_figures(self._pools)

    async def _connected(self) -> "asyncpg.Connection[Any]":
        if self._connection is None or self._connection.is_closed():
            self._connection = await connect(self._settings, self._application_name)
        return self._connection

    async def _ask(self, question: Callable[[Connection], Awaitable[Answer]]) -> Answer:
        async with self._one_at_a_time:
            try:
                return await question(await self._connected())
            except NotReady:
                raise
            except BaseException:
                # Also when a deadline is over: what still comes is not the next question's answer.
                if self._connection is not None:
                    self._connection.terminate()
                    self._connection = None
                raise

    async def _check(self, question: Callable[[Connection], Awaitable[Answer]]) -> Answer:
        try:
            return await self._ask(question)
        except TimeoutError:
            raise
        except _NO_ANSWER as error:
            raise NotReady(f"the database does not answer ({type(error).__name__})") from error

    async def _look(self, connection: Connection) -> Seen:
        skew = await measure_skew(connection)
        _skew.set(skew.offset_s)
        _uncertain.set(skew.uncertain_s)
        bound_s = self._settings.clock_skew_max_ms / 1000
        if abs(skew.offset_s) - skew.uncertain_s > bound_s:
            _log.error("our clock and the database's differ", skew=str(skew), bound_s=bound_s)
        if not self.has_event_log:
            return Seen()
        _ahead.set(await months_ahead(connection))
        held_for_s = self._settings.shard_held_alarm_s
        holders = await shard_holders(connection, held_for_s=held_for_s)
        return Seen(holders, await projection_status(connection))

    def _name(self, holders: Sequence[ShardHolder]) -> None:
        """Log a holder when it is first seen and when first somebody waits for it, not every round."""
        named: dict[int, bool] = {}
        for holder in holders[:_MOST_NAMED]:
            waited_for = self._named.get(holder.pid)
            named[holder.pid] = bool(holder.waiting or waited_for)
            if waited_for is not named[holder.pid]:
                _log.error(
                    "a session holds shards for too long",
                    pid=holder.pid,
                    application=holder.application_name,
                    client=holder.client,
                    state=holder.state,
                    held_s=round(holder.held_s, 3),
                    waiting=holder.waiting,
                    shards=holder.shards,
                    statement=without_literals(holder.query),
                )
        self._named = named
