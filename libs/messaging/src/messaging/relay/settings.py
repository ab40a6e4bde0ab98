"""How a relay behaves: everything it waits for has a limit, everything it holds a bound."""

from dataclasses import dataclass, field

from messaging.topics import MAX_MESSAGE_BYTES, TopicSettings


@dataclass(frozen=True, slots=True)
class RelaySettings:
    """Bounds and intervals of a relay. The names say the units."""

    topics: TopicSettings | None = field(default_factory=TopicSettings)
    """How a topic that is missing is made. None: topics are somebody else's business."""

    turn_events: int = 1_000
    """Most events read from the log at once, over all shards that are behind."""
    turn_bytes: int = 4_000_000
    """Most bytes in them (a single larger event comes all the same)."""
    batch_bytes: int = 500_000
    """Most bytes of one Kafka batch (likewise). A batch belongs to one shard."""
    unacknowledged_bytes: int = 16_000_000
    """Most bytes sent and not yet acknowledged. Another turn is read beside them."""

    gather_s: float = 0.02
    """Under load, what is appended in such a time is published together. The first event after a pause never
    waits, nor does anybody who is far behind."""
    poll_interval_s: float = 1.0
    """Longest that is slept when no wake-up comes; and how often is looked whether someone moved a position
    (republication) or took the lease."""
    store_interval_s: float = 0.05
    """Shortest time between two stored positions: what a crash may publish again grows with it."""

    lease_ttl_s: float = 6.0
    """After the death of the active relay another one takes over within this time and a second."""
    acknowledge_timeout_s: float = 30.0
    """A batch that is not acknowledged for so long: the connection to the broker is made anew."""
    start_timeout_s: float = 30.0
    """Longest for making topics and connecting."""
    stop_timeout_s: float = 5.0
    """Longest for what is under way when the relay is told to stop, and again for closing the connection."""
    database_timeout_s: float = 10.0
    """Longest for one question to the database."""
    first_pause_s: float = 0.2
    longest_pause_s: float = 10.0
    """Pauses before the broker, the database or one shard is tried again; they double."""

    def __post_init__(self) -> None:
        smallest = min(getattr(self, name) for name in self.__slots__ if name != "topics")
        if smallest <= 0:
            raise ValueError(f"every bound and interval of a relay is more than 0: {self}")
        if self.batch_bytes > MAX_MESSAGE_BYTES:
            raise ValueError(f"a batch has at most {MAX_MESSAGE_BYTES} bytes, not {self.batch_bytes}")
