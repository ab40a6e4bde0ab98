"""Shards that cannot be published at the moment, and when each is tried again."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(slots=True)
class _Trouble:
    pause_s: float
    retry_at_s: float


class Troubles:
    """Pauses of single shards: doubled with each failure, forgotten with the first success."""

    def __init__(
        self, first_pause_s: float, longest_pause_s: float, monotonic_s: Callable[[], float]
    ) -> None:
        self._first_pause_s = first_pause_s
        self._longest_pause_s = longest_pause_s
        self._monotonic_s = monotonic_s
        self._of: dict[int, _Trouble] = {}
        self._most_events: dict[int, int] = {}

    def failed(self, shard: int) -> float:
        """The shard failed; the pause until it is tried again, in seconds."""
        before = self._of.get(shard)
        pause_s = self._first_pause_s if before is None else min(2 * before.pause_s, self._longest_pause_s)
        self._of[shard] = _Trouble(pause_s, self._monotonic_s() + pause_s)
        return pause_s

    def succeeded(self, shard: int) -> None:
        """The shard is well again."""
        self._of.pop(shard, None)

    def paused(self, shard: int) -> bool:
        """Whether the shard is to be left alone now."""
        trouble = self._of.get(shard)
        return trouble is not None and self._monotonic_s() < trouble.retry_at_s

    def next_retry_s(self) -> float | None:
        """Seconds until the first of the paused shards is tried again; None when none is paused."""
        now_s = self._monotonic_s()
        waits_s = [one.retry_at_s - now_s for one in self._of.values() if one.retry_at_s > now_s]
        return min(waits_s, default=None)

    def too_large(self, shard: int, events: int) -> None:
        """The broker takes no batch of so many events of this shard: half as many are tried from now on."""
        self._most_events[shard] = max(1, events // 2)

    def most_events(self, shard: int) -> int | None:
        """Most events that a batch of this shard may have; None: whatever fits."""
        return self._most_events.get(shard)
