"""Named points between two durable steps of messaging, where a test may kill the process or cut a connection.

They share one hook with the event store's: `arm` calls it for the points of both.
"""

from typing import Final

from eventstore.faults import Hook, arm, reach

__all__ = ["POINTS", "Hook", "arm", "reach"]

POINTS: Final = frozenset(
    {
        "relay.page_read",  # a page of the log is read, nothing of it is published
        "relay.acknowledged",  # the broker has it, the position has not moved
        "relay.position_stored",  # the position has moved
        "consumer.received",  # records are here, nothing of them is applied
        "consumer.applied",  # effects and positions are stored, Kafka has not been told
        "consumer.committed",  # Kafka knows the offsets
        "consumer.filled",  # a page came over the feed, nothing of it is applied
        "consumer.revoked",  # shards are taken away, a batch may be under way
        "dead_letters.sent",  # the dead letter is in its topic, and not yet noted as sent
        "dead_letters.noted",  # it is noted
    }
)
