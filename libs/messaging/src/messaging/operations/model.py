"""How a service's own machinery stands, and what may be done about it: one port, at hand or over gRPC."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Protocol

from eventstore.following import ParkedStream, SkippedEvent, Stop
from messaging.dead_letters.letters import Failure

MOST: Final = 1_000
"""Most entries of a list."""
USUAL: Final = 200
"""Entries of a list where nobody says how many."""


class OperationsRefused(Exception):
    """What was asked for cannot be done as things stand. `slug` says why, the message in a sentence."""

    slug: ClassVar[str] = "operations_refused"

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class OperationsAway(Exception):
    """The service does not answer now; nothing that was asked for is certain to have been done."""

    slug: ClassVar[str] = "operations_away"


@dataclass(frozen=True, slots=True)
class RelayLag:
    """How far a log is published, over its 64 shards. `active`: who publishes; empty: nobody does."""

    topic: str
    active: str
    behind: int
    shards_behind: int
    moved_at: dt.datetime | None


@dataclass(frozen=True, slots=True)
class FollowerLag:
    """How far a follower is, over its shards. `behind` is None where the log is another service's."""

    follower: str
    source: str
    passed: int
    behind: int | None
    parked_streams: int
    stopped_shards: int
    moved_at: dt.datetime | None


@dataclass(frozen=True, slots=True)
class ConsumerLag:
    """How one instance follows another service. `behind` and `asked_s` are None before it was asked."""

    source: str
    connected: bool
    shards: int
    behind: int | None
    asked_s: float | None
    stopped_shards: int
    filling_shards: int


@dataclass(frozen=True, slots=True)
class Lag:
    """How far everything of a service is; without a relay where its log is not published."""

    service: str
    relay: RelayLag | None
    followers: tuple[FollowerLag, ...]
    consumers: tuple[ConsumerLag, ...]


@dataclass(frozen=True, slots=True)
class Parked:
    """Parked streams, and whether there are more."""

    streams: tuple[ParkedStream, ...]
    more: bool


@dataclass(frozen=True, slots=True)
class Skipped:
    """Events that were left out, newest first, and whether there are more."""

    events: tuple[SkippedEvent, ...]
    more: bool


@dataclass(frozen=True, slots=True)
class Letters:
    """Dead letters of a service's own events, newest first; how many records of the topic are none."""

    failures: tuple[Failure, ...]
    unreadable: int


class Operations(Protocol):
    """One service's machinery. Every call raises OperationsAway when it does not answer."""

    service: str

    async def lag(self) -> Lag:
        """How far relay, followers and consumers are."""

    async def parked(self, follower: str = "", source: str = "", *, limit: int = USUAL) -> Parked:
        """Parked streams, of one follower and source or of all."""

    async def retry(self, follower: str, source: str, stream: str = "") -> int:
        """Have parked streams tried again within seconds; how many. Raises OperationsRefused."""

    async def skip(
        self, follower: str, source: str, stream: str, position: int, *, by: str, why: str
    ) -> SkippedEvent:
        """Leave out the event that a stream is parked at, for good. Raises OperationsRefused.

        Over gRPC `by` is who acts in the call.
        """

    async def stopped(self) -> Sequence[Stop]:
        """What stands still."""

    async def resume(self, follower: str, source: str, shard: int | None = None) -> int:
        """Let a follower go on; how many stops there were. Raises OperationsRefused."""

    async def skipped(self, *, limit: int = USUAL) -> Skipped:
        """What was left out."""

    async def dead_letters(self, *, limit: int = USUAL) -> Letters:
        """Copies of this service's events that somebody could not apply. Raises OperationsRefused."""
