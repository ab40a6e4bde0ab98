"""How everything stands, as people look at it: services, what is behind, partners, and what is wrong.

Pure: what was asked and what was measured go in, rows and alarms come out.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from eventstore.following import OWN, Stop
from messaging.operations import Lag
from upcard_gateway.app.metrics_seen import MetricsSeen

__all__ = [
    "Alarm",
    "Circuit",
    "LagRow",
    "Level",
    "Overview",
    "Partner",
    "Replays",
    "Seen",
    "ServiceRow",
    "Source",
    "Standing",
    "View",
    "overview_of",
]

Level = Literal["good", "warn", "bad", "info"]
Circuit = Literal["closed", "open", "probing"]
Kind = Literal["relay", "consumer", "follower", "view"]

BEHIND_WARN: Final = 1_000
"""Events behind from which a row is marked: seconds of a busy house."""
BEHIND_BAD: Final = 20_000
"""And from which it is an alarm."""
FAILING_WARN_S: Final = 60.0
FAILING_BAD_S: Final = 600.0
REPLAYS_LATE_S: Final = 600.0


@dataclass(frozen=True, slots=True)
class Partner:
    """How things stand with an operator's wallet."""

    operator: str
    dialect: str
    circuit: Circuit
    since: dt.datetime | None
    failures: int
    under_way: int
    answered_at: dt.datetime | None
    waiting: int
    parked: int
    failing_for_s: float

    @property
    def level(self) -> Level:
        """How bad it is."""
        if self.circuit != "closed" or self.parked or self.failing_for_s >= FAILING_BAD_S:
            return "bad"
        return "warn" if self.failing_for_s >= FAILING_WARN_S or self.failures else "good"


@dataclass(frozen=True, slots=True)
class Source:
    """How far the history is with a service's events; `behind` None: it has not asked yet."""

    source: str
    connected: bool
    behind: int | None
    stopped_shards: int


@dataclass(frozen=True, slots=True)
class View:
    """How far one of the history's views is. `stopped`: why it stands; empty: it does not."""

    view: str
    behind: int
    parked: int
    stopped: str
    rebuilding: bool


@dataclass(frozen=True, slots=True)
class Replays:
    """Rounds that wait to be replayed, since when the oldest does, and how many did not agree."""

    waiting: int
    oldest_s: float
    wrong: int


@dataclass(frozen=True, slots=True)
class Standing:
    """How the history stands."""

    sources: tuple[Source, ...]
    views: tuple[View, ...]
    replays: Replays


@dataclass(frozen=True, slots=True)
class Seen:
    """What the services said; None or missing: they did not."""

    lags: tuple[Lag, ...] = ()
    stopped: Mapping[str, tuple[Stop, ...]] = field(default_factory=dict)
    away: Mapping[str, str] = field(default_factory=dict)
    """Why, by service."""
    partners: tuple[Partner, ...] | None = None
    standing: Standing | None = None


@dataclass(frozen=True, slots=True)
class ServiceRow:
    """One service as a line: what its calls and its instances' metrics say."""

    service: str
    state: Literal["ready", "not_ready", "away", "partly"]
    level: Level
    instances: int
    """Instances whose metrics are known."""
    silent: tuple[str, ...]
    """Instances that did not answer for their metrics."""
    version: str
    failing: tuple[str, ...]
    """Checks of readiness that fail."""
    memory_bytes: float | None
    began: dt.datetime | None
    """When the youngest instance began."""
    calls: float | None
    """Calls that are being served."""


@dataclass(frozen=True, slots=True)
class LagRow:
    """How far one thing is behind another."""

    service: str
    kind: Kind
    name: str
    """The source that is followed, the topic, or the view."""
    behind: int | None
    """None: not known."""
    state: str
    """A slug: `even`, `behind`, `stopped`, `parked`, `nobody`, `over_feed`, `unknown`, `rebuilding`."""
    level: Level
    parked: int
    moved_at: dt.datetime | None


@dataclass(frozen=True, slots=True)
class Alarm:
    """Something that somebody has to look at: a text's key and what stands in it, and where to go."""

    level: Level
    key: str
    values: Mapping[str, object] = field(default_factory=dict)
    link: str = ""


@dataclass(frozen=True, slots=True)
class Overview:
    """The whole page."""

    services: tuple[ServiceRow, ...]
    lags: tuple[LagRow, ...]
    partners: tuple[Partner, ...] | None
    replays: Replays | None
    alarms: tuple[Alarm, ...]


def overview_of(names: Iterable[str], seen: Seen, metrics: MetricsSeen) -> Overview:
    """Rows and alarms, the worst alarms first."""
    services = tuple(_service(name, seen, metrics) for name in names)
    lags = tuple(_lags(seen, metrics))
    alarms = [
        *_of_services(services),
        *_of_lags(lags, seen),
        *_of_partners(seen),
        *_of_figures(seen, metrics),
    ]
    alarms.sort(key=lambda one: one.level != "bad")
    replays = None if seen.standing is None else seen.standing.replays
    return Overview(services, lags, seen.partners, replays, tuple(alarms))


def _service(name: str, seen: Seen, metrics: MetricsSeen) -> ServiceRow:
    of = metrics.of(name)
    there = [one for one in of if one.samples]
    silent = tuple(one.address for one in of if not one.samples)
    version = next(
        (s.labels["version"] for one in there for s in one.samples if s.name == "upcard_build_info"), ""
    )
    failing = sorted(
        {check for one in there for check, ok in one.by("upcard_check_ok", "check").items() if ok == 0}
    )
    ready = [value for one in there if (value := one.value("upcard_ready")) is not None]
    begun = [at for one in there if (at := one.value("process_start_time_seconds")) is not None]
    memory = [size for one in there if (size := one.value("process_resident_memory_bytes")) is not None]
    state: Literal["ready", "not_ready", "away", "partly"] = "ready"
    level: Level = "good"
    if name in seen.away:
        state, level = "away", "bad"
    elif ready and not any(ready):
        state, level = "not_ready", "bad"
    elif silent or not all(ready) or failing:
        state, level = "partly", "warn"
    return ServiceRow(
        name,
        state,
        level,
        len(there),
        silent,
        version,
        tuple(failing),
        sum(memory) if memory else None,
        dt.datetime.fromtimestamp(max(begun), dt.UTC) if begun else None,
        metrics.value(name, "upcard_grpc_server_calls_in_flight"),
    )


def _lags(seen: Seen, metrics: MetricsSeen) -> Iterable[LagRow]:
    for lag in seen.lags:
        if lag.relay is not None:
            relay = lag.relay
            nobody = not relay.active
            state, level = _state(relay.behind)
            if nobody:
                state, level = "nobody", "bad" if relay.behind else "warn"
            yield LagRow(lag.service, "relay", relay.topic, relay.behind, state, level, 0, relay.moved_at)
        consumers = {one.source: one for one in lag.consumers}
        measured = metrics.by("gateway", "upcard_consumer_lag_events", "source")
        views = {one.view for one in (seen.standing.views if seen.standing else ())}
        for one in lag.followers:
            if one.source == OWN and lag.service == "history" and one.follower in views:
                continue  # it is among the views
            behind, feed = one.behind, False
            if (consumer := consumers.get(one.source)) is not None:
                behind, feed = consumer.behind, not consumer.connected
            elif lag.service == "gateway" and one.source in measured:
                behind = round(measured[one.source])
            state, level = _state(behind, feed=feed, stopped=one.stopped_shards, parked=one.parked_streams)
            own = one.source == OWN
            yield LagRow(
                lag.service,
                "follower" if own else "consumer",
                one.follower if own else one.source,
                behind,
                state,
                level,
                one.parked_streams,
                one.moved_at,
            )
    for view in seen.standing.views if seen.standing else ():
        state, level = _state(view.behind, stopped=bool(view.stopped), parked=view.parked)
        if view.rebuilding and level == "good":
            state = "rebuilding"
        yield LagRow("history", "view", view.view, view.behind, state, level, view.parked, None)


def _state(behind: int | None, *, feed: bool = False, stopped: int = 0, parked: int = 0) -> tuple[str, Level]:
    if stopped:
        return "stopped", "bad"
    if parked:
        return "parked", "bad"
    if behind is None:
        return "unknown", "info"
    if behind >= BEHIND_WARN:
        return "behind", "bad" if behind >= BEHIND_BAD else "warn"
    return ("over_feed", "warn") if feed else ("even", "good")


def _of_services(services: tuple[ServiceRow, ...]) -> Iterable[Alarm]:
    for one in services:
        if one.state == "away":
            yield Alarm("bad", "service_away", {"service": one.service})
        elif one.state == "not_ready":
            checks = ", ".join(one.failing) or "?"
            yield Alarm("bad", "service_not_ready", {"service": one.service, "checks": checks})
        elif one.silent:
            yield Alarm("warn", "instances_silent", {"service": one.service, "silent": ", ".join(one.silent)})
        elif one.failing:
            yield Alarm("warn", "checks_failing", {"service": one.service, "checks": ", ".join(one.failing)})


def _of_lags(lags: tuple[LagRow, ...], seen: Seen) -> Iterable[Alarm]:
    for service, stops in seen.stopped.items():
        yield Alarm("bad", "stopped", {"service": service, "n": len(stops)}, "/staff/health/parked")
    for one in lags:
        values = {"service": one.service, "name": one.name, "n": one.behind or 0}
        if one.parked:
            parked = {**values, "n": one.parked}
            yield Alarm("bad", "parked", parked, f"/staff/health/parked?service={one.service}")
        elif one.state == "nobody":
            yield Alarm(one.level, "nobody_publishes", values)
        elif one.state == "behind":
            yield Alarm(one.level, f"behind_{one.kind}", values)


def _of_partners(seen: Seen) -> Iterable[Alarm]:
    for one in seen.partners or ():
        link = f"/staff/health/partners/{one.operator}"
        if one.circuit != "closed":
            yield Alarm("bad", "circuit_open", {"operator": one.operator}, link)
        if one.parked:
            yield Alarm("bad", "calls_parked", {"operator": one.operator, "n": one.parked}, link)
        elif one.failing_for_s >= FAILING_WARN_S and one.circuit == "closed":
            minutes = round(one.failing_for_s / 60)
            yield Alarm("warn", "partner_failing", {"operator": one.operator, "n": minutes}, link)


def _of_figures(seen: Seen, metrics: MetricsSeen) -> Iterable[Alarm]:
    for service, name, key, link in _ON_ANY:
        found = metrics.most(service, name)
        if found:
            yield Alarm("bad", key, {"n": round(found)}, link)
    replays = None if seen.standing is None else seen.standing.replays
    if replays is not None and replays.wrong:
        yield Alarm("bad", "replays_wrong", {"n": replays.wrong}, "/staff/money#invariants")
    if replays is not None and replays.oldest_s >= REPLAYS_LATE_S:
        yield Alarm("warn", "replays_late", {"n": round(replays.oldest_s / 60)})


_ON_ANY: Final = (
    ("wallet", "upcard_wallet_difference_alarms", "differences", "/staff/money#invariants"),
    ("wallet", "upcard_wallet_suspense_minor_units_total", "suspense", "/staff/money#invariants"),
    ("wallet", "upcard_wallet_partner_bets_overdue", "bets_overdue", ""),
    ("table", "upcard_table_waiting_for_floor", "waiting_for_floor", "/staff/floor"),
    ("bonus", "upcard_bonus_unknown_free_bets_total", "unknown_free_bets", ""),
    ("bonus", "upcard_bonus_misused_free_bets_total", "misused_free_bets", ""),
    ("gateway", "upcard_gateway_secrets_unreadable", "secrets_unreadable", ""),
)
"""Metrics of which any is an alarm."""
