"""How a consumer behaves: everything it waits for has a limit, everything it holds a bound."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ConsumerSettings:
    """Bounds and intervals of a consumer. The names say the units."""

    batch_records: int = 500
    """Most records taken from Kafka at once: they become one transaction."""
    gather_s: float = 0.05
    """Under load, what comes in such a time is applied together, since each transaction costs more than the
    events in it. The first record after a pause never waits, nor does anybody who is far behind."""
    poll_s: float = 1.0
    """Longest wait for records; whatever else is to be done wakes the consumer earlier."""
    fetch_max_wait_ms: int = 500
    """How long a broker that has nothing may wait for something before it answers."""
    fetch_max_bytes: int = 8 * 1_048_576
    """Most bytes of one answer of a broker: with `partition_fetch_bytes` the bound of what is here unread."""
    partition_fetch_bytes: int = 1_048_576
    """Most bytes of one partition in it (a single larger record comes all the same)."""

    session_timeout_ms: int = 10_000
    """After how long without a heartbeat the shards of a member go to others."""
    rebalance_timeout_ms: int = 10_000
    """How long the group waits for a member that finishes its batch."""
    max_poll_interval_ms: int = 300_000
    """A member that takes no records for so long leaves the group: it hangs."""
    commit_interval_s: float = 5.0
    """How often Kafka is told how far we are. It only saves time after a restart."""
    join_timeout_s: float = 60.0
    """Longest wait for joining the group: the others may first finish what they are at."""
    broker_timeout_s: float = 15.0
    """Longest wait for topics to be made, and for a commit of offsets."""
    leave_timeout_s: float = 5.0
    """Longest wait for leaving the group; whoever does not leave is missed after its session's time."""
    broker_first_pause_s: float = 0.5
    broker_longest_pause_s: float = 10.0
    """Pauses before the broker is tried again; they double."""
    topics_interval_s: float = 5.0
    """How often is looked whether the topic still has its partitions."""
    failures_until_rejoin: int = 5
    """After so many failed polls in a row the group is left and joined anew."""
    without_broker_after_s: float = 15.0
    """Out of the group for so long, a consumer follows all shards over the feed alone."""

    heads_interval_s: float = 2.0
    """How often positions are compared with the source's heads. What Kafka has not brought between two
    comparisons is read over the feed."""
    silent_comparisons: int = 5
    """After so many without any record the feed is read even if Kafka seems to have some; six times as many
    while it brings those of other shards."""
    hashes_interval_s: float = 60.0
    """How often the hashes at our positions are compared too."""
    fill_events: int = 500
    """Events in a page of the feed."""
    fills_at_once: int = 4
    """Shards that are filled side by side; with the page's size the bound of what lies here."""
    fill_first_pause_s: float = 0.2
    fill_longest_pause_s: float = 5.0
    """Pauses before a feed that failed is asked again; they double."""
    fill_empty_tries: int = 3
    """How often a feed is asked for what it should have and has not, before Kafka is listened to again."""

    retry_interval_s: float = 1.0
    """How often is looked for parked streams that someone wants tried again, and for dead letters to send."""
    database_pause_s: float = 1.0
    """Pause before a batch is tried again after the database was away for longer than the policy waits."""
    stop_timeout_s: float = 5.0
    """Longest wait for the batch under way when the consumer is told to stop."""

    def __post_init__(self) -> None:
        smallest = min(getattr(self, name) for name in self.__slots__)
        if smallest <= 0:
            raise ValueError(f"every bound and interval of a consumer is more than 0: {self}")

    @property
    def heartbeat_interval_ms(self) -> int:
        """Time between two heartbeats: a third of the session."""
        return max(1, self.session_timeout_ms // 3)

    @property
    def revoke_wait_s(self) -> float:
        """How long the batch under way may take when shards are taken away: half of what the group waits."""
        return self.rebalance_timeout_ms / 2_000
