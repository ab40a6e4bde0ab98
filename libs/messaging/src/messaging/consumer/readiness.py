"""Whether a service may be sent work, as far as a consumer is concerned."""

from messaging.consumer.consumer import Consumer
from servicekit.health import Check, NotReady


def lag_below(
    consumer: Consumer, lag_max_events: int, *, name: str = "consumer lag", age_max_s: float = 30.0
) -> Check:
    """Ready while the consumer's shards are at most so many events behind, and that is known to be so.

    A source that has not answered for `age_max_s` says nothing about the lag. Whether the broker is there
    does not matter: without it events come over the feed. A consumer without shards (there are more instances
    than partitions) is ready.
    """

    async def ask() -> None:
        status = consumer.status
        if status.shards == 0 and status.connected:
            return
        if status.lag is None or status.lag_age_s is None:
            raise NotReady("it is not known how far the consumer is behind")
        if status.lag_age_s > age_max_s:
            raise NotReady(f"how far the consumer is behind was last known {status.lag_age_s:.0f} s ago")
        if status.lag > lag_max_events:
            raise NotReady(f"{status.lag} events behind, at most {lag_max_events} are borne")

    return Check(name, ask)
