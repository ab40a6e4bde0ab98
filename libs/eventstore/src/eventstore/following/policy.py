"""What happens when an event cannot be applied."""

import enum
import random
from dataclasses import dataclass


class WhenFailing(enum.Enum):
    """What becomes of an event that failed in all its attempts."""

    PARK = "park"
    """Its stream is parked: the event and the later ones of the stream are kept, other streams go on."""
    STOP = "stop"
    """The follower stops, and says so in the database."""


@dataclass(frozen=True, slots=True)
class Policy:
    """How a follower applies events, and what it does about failures. Pauses double, up to the longest.

    Each pause is shortened by up to half, at random, so that many processes do not come back at once.
    """

    when_failing: WhenFailing = WhenFailing.PARK
    attempts: int = 5
    """Tries of a single event before it is parked, or the follower stopped."""
    first_pause_s: float = 0.1
    longest_pause_s: float = 2.0
    batch_max: int = 500
    """Most events of one transaction."""
    clash_tries: int = 5
    """Tries of a batch that others got in the way of: deadlock, version conflict, statement time-out."""
    away_tries: int = 8
    """Tries of a batch while the database is not there, before DatabaseAway is raised."""
    transaction_timeout_s: float = 25.0
    """Longest wait for one transaction; more than the server's own limit of a session."""
    parked_streams_max: int = 1_000
    """With so many streams parked the fault is not an event's: the follower stops instead of parking more."""
    parked_events_max: int = 100_000
    """Most events that are kept for parked streams; the follower stops instead of keeping more."""

    def __post_init__(self) -> None:
        tries = (self.attempts, self.clash_tries, self.away_tries)
        if min(*tries, self.batch_max, self.parked_streams_max, self.parked_events_max) < 1:
            raise ValueError(f"the counts of a policy are 1 or more: {self}")
        if not 0 <= self.first_pause_s <= self.longest_pause_s or self.transaction_timeout_s <= 0:
            raise ValueError(f"pauses and time-outs of a policy are not negative, and in order: {self}")

    def pause_s(self, tried: int) -> float:
        """The pause after so many tries, in seconds."""
        longest = min(self.first_pause_s * 2.0 ** min(tried - 1, 60), self.longest_pause_s)
        return longest * random.uniform(0.5, 1.0)  # noqa: S311 - spreads the retries of many processes


DEFAULT_POLICY = Policy()
