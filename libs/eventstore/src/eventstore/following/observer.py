"""Figures of a follower, for whoever makes metrics of them."""

from typing import Protocol


class Observer(Protocol):
    """Told what a follower does, after the commit of it. Must return quickly, and must not raise."""

    def applied(self, follower: str, source: str, events: int, took_s: float) -> None:
        """So many events had their effect, in one transaction of this length."""
        ...

    def skipped(self, follower: str, source: str, why: str, events: int) -> None:
        """Events were left out.

        `why`: `duplicate`, `stale` (an epoch that is over) or `held` (their stream is parked).
        """
        ...

    def retried(self, follower: str, source: str, why: str) -> None:
        """A try failed and will be repeated: `away`, `clash`, `halved`, `failed` (a single event)."""
        ...

    def parked(self, follower: str, source: str, stream: str) -> None:
        """A stream was parked: an alarm."""
        ...

    def unparked(self, follower: str, source: str, stream: str) -> None:
        """All kept events of a stream were applied or skipped."""
        ...

    def stopped(self, follower: str, source: str, shard: int, kind: str) -> None:
        """A follower (`failed`) or one of its shards (`forked`) stands still: an alarm."""
        ...

    def lag(self, follower: str, source: str, shard: int, events: int) -> None:
        """How many events of a shard, unwanted ones included, were still to come after a page."""
        ...


class Silent:
    """An observer that nobody listens to."""

    def applied(self, follower: str, source: str, events: int, took_s: float) -> None:
        """See `Observer`."""

    def skipped(self, follower: str, source: str, why: str, events: int) -> None:
        """See `Observer`."""

    def retried(self, follower: str, source: str, why: str) -> None:
        """See `Observer`."""

    def parked(self, follower: str, source: str, stream: str) -> None:
        """See `Observer`."""

    def unparked(self, follower: str, source: str, stream: str) -> None:
        """See `Observer`."""

    def stopped(self, follower: str, source: str, shard: int, kind: str) -> None:
        """See `Observer`."""

    def lag(self, follower: str, source: str, shard: int, events: int) -> None:
        """See `Observer`."""
