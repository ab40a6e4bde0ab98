"""Metrics of services as they were last read: of each instance, summed and looked up by name and labels."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

__all__ = ["Instance", "MetricsReader", "MetricsSeen", "Sample"]


@dataclass(frozen=True, slots=True)
class Sample:
    """One value of one series."""

    name: str
    """As it is scraped, so a counter's with `_total`."""
    labels: Mapping[str, str]
    value: float


@dataclass(frozen=True, slots=True)
class Instance:
    """One instance of a service; without samples it did not answer, and `why` says so (a slug)."""

    service: str
    address: str
    samples: tuple[Sample, ...] = ()
    why: str = ""
    dropped: int = field(default=0)
    """Samples beyond the bound, which were left out."""

    def value(self, name: str, **labels: str) -> float | None:
        """The sum of the series that have these labels; None where there is none."""
        found = [one.value for one in _matching(self.samples, name, labels)]
        return sum(found) if found else None

    def by(self, name: str, label: str) -> dict[str, float]:
        """The sums of a metric by one of its labels."""
        sums: dict[str, float] = {}
        for one in _matching(self.samples, name, {}):
            key = one.labels.get(label, "")
            sums[key] = sums.get(key, 0.0) + one.value
        return sums


@dataclass(frozen=True, slots=True)
class MetricsSeen:
    """All instances that are known, at one time."""

    at: dt.datetime
    instances: tuple[Instance, ...]

    def of(self, service: str) -> tuple[Instance, ...]:
        """The instances of a service."""
        return tuple(one for one in self.instances if one.service == service)

    def value(self, service: str, name: str, **labels: str) -> float | None:
        """The sum over a service's instances; None where no instance has the metric."""
        found = [value for one in self.of(service) if (value := one.value(name, **labels)) is not None]
        return sum(found) if found else None

    def most(self, service: str, name: str, **labels: str) -> float | None:
        """The largest over a service's instances, for what each says of the same database."""
        found = [value for one in self.of(service) if (value := one.value(name, **labels)) is not None]
        return max(found) if found else None

    def by(self, service: str, name: str, label: str) -> dict[str, float]:
        """The sums of a metric by one of its labels, over a service's instances."""
        sums: dict[str, float] = {}
        for one in self.of(service):
            for key, value in one.by(name, label).items():
                sums[key] = sums.get(key, 0.0) + value
        return sums


class MetricsReader(Protocol):
    """Where metrics come from."""

    async def read(self) -> MetricsSeen:
        """Those of all instances now, or of a moment ago."""


def _matching(samples: tuple[Sample, ...], name: str, labels: Mapping[str, str]) -> Iterator[Sample]:
    for one in samples:
        if one.name == name and all(one.labels.get(key) == value for key, value in labels.items()):
            yield one
