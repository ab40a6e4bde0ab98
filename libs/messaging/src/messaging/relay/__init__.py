"""The relay: publishes a service's log to Kafka, each shard in its order, nothing left out.

At least once: what is published twice has the same position and hash, and consumers pass over it.
"""

from messaging.relay.observer import RelayObserver, SilentRelay
from messaging.relay.positions import (
    NothingToRepublish,
    RelayPosition,
    Republication,
    relay_positions,
    republish,
)
from messaging.relay.relay import Relay
from messaging.relay.settings import RelaySettings

__all__ = [
    "NothingToRepublish",
    "Relay",
    "RelayObserver",
    "RelayPosition",
    "RelaySettings",
    "Republication",
    "SilentRelay",
    "relay_positions",
    "republish",
]
