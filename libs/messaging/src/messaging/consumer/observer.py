"""What a consumer tells of itself beside what its applier tells."""

import logging
from typing import Protocol

_log = logging.getLogger("messaging.consumer")


class ConsumerObserver(Protocol):
    """Told what happens between Kafka, the feed and the applier. Must return quickly, and must not raise."""

    def garbage(self, topic: str, partition: int, offset: int, why: str) -> None:
        """A record is no event of this topic, and was left out; what should be there comes over the feed."""
        ...

    def missing(self, shard: int, events: int, *, tail: bool) -> None:
        """So many events have not come over Kafka: a gap, or (`tail`) the shard's end."""
        ...

    def filled(self, shard: int, events: int) -> None:
        """So many events came over the feed."""
        ...

    def forked(self, shard: int, why: str) -> None:
        """A shard stands still because the source's history is another one: an alarm."""
        ...

    def assigned(self, shards: int, *, by_group: bool) -> None:
        """So many shards are this consumer's now. Not `by_group`: the broker is away, and it follows all."""
        ...

    def topic_differs(self, difference: str) -> None:
        """A topic is not as it should be, and was left as it is."""
        ...

    def trouble(self, what: str, error: BaseException) -> None:
        """Something failed and will be tried again; `what` is a slug, such as `broker` or `feed`."""
        ...

    def dead_letters(self, sent: int) -> None:
        """So many dead letters were sent."""
        ...


class Logged:
    """An observer that writes into the log."""

    def garbage(self, topic: str, partition: int, offset: int, why: str) -> None:
        """See `ConsumerObserver`."""
        _log.error("no event: topic %s, partition %d, offset %d: %s", topic, partition, offset, why)

    def missing(self, shard: int, events: int, *, tail: bool) -> None:
        """See `ConsumerObserver`."""
        _log.warning("shard %d: %d events missing%s", shard, events, " at its end" if tail else "")

    def filled(self, shard: int, events: int) -> None:
        """See `ConsumerObserver`."""
        _log.info("shard %d: %d events came over the feed", shard, events)

    def forked(self, shard: int, why: str) -> None:
        """See `ConsumerObserver`."""
        _log.critical("shard %d stands still: %s", shard, why)

    def assigned(self, shards: int, *, by_group: bool) -> None:
        """See `ConsumerObserver`."""
        _log.info("%d shards are ours%s", shards, "" if by_group else ", without the broker")

    def topic_differs(self, difference: str) -> None:
        """See `ConsumerObserver`."""
        _log.warning("%s", difference)

    def trouble(self, what: str, error: BaseException) -> None:
        """See `ConsumerObserver`."""
        _log.warning("%s: %s: %s", what, type(error).__name__, error)

    def dead_letters(self, sent: int) -> None:
        """See `ConsumerObserver`."""
        _log.warning("%d dead letters sent", sent)
