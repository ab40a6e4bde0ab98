"""What a relay tells of itself: for metrics, logs and alarms."""

from typing import Protocol


class RelayObserver(Protocol):
    """Is told what happens. Its methods return at once and raise nothing."""

    def active(self, token: int) -> None:
        """This relay has the lease now, and publishes."""
        ...

    def passive(self, reason: str) -> None:
        """It publishes no longer: stopped, or the lease is lost."""
        ...

    def acknowledged(self, shard: int, events: int, through: int) -> None:
        """The broker has these events of a shard, up to this position."""
        ...

    def stored(self, shards: int) -> None:
        """The positions of so many shards were stored."""
        ...

    def lag(self, events: int) -> None:
        """So many events, over all shards, are still to be published."""
        ...

    def reset(self, shard: int, position: int) -> None:
        """Someone moved a shard's position: what follows it is published again."""
        ...

    def shard_failed(self, shard: int, error: Exception, pause_s: float) -> None:
        """A shard cannot be published now, and is tried again after the pause; others go on.

        One that stays so is an alarm.
        """
        ...

    def connection_failed(self, error: Exception, pause_s: float) -> None:
        """Broker or database failed; everything is tried again after the pause."""
        ...

    def topic_differs(self, what: str) -> None:
        """The topic is not as it should be, in a way that does not hinder publishing (replication, say)."""
        ...


class SilentRelay:
    """Tells nobody."""

    def active(self, token: int) -> None:
        """See `RelayObserver`."""

    def passive(self, reason: str) -> None:
        """See `RelayObserver`."""

    def acknowledged(self, shard: int, events: int, through: int) -> None:
        """See `RelayObserver`."""

    def stored(self, shards: int) -> None:
        """See `RelayObserver`."""

    def lag(self, events: int) -> None:
        """See `RelayObserver`."""

    def reset(self, shard: int, position: int) -> None:
        """See `RelayObserver`."""

    def shard_failed(self, shard: int, error: Exception, pause_s: float) -> None:
        """See `RelayObserver`."""

    def connection_failed(self, error: Exception, pause_s: float) -> None:
        """See `RelayObserver`."""

    def topic_differs(self, what: str) -> None:
        """See `RelayObserver`."""
