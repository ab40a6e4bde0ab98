"""Our clock against the database's, and durations that no clock change touches."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from eventstore.postgres import Connection

monotonic_s = time.monotonic
"""For durations and deadlines, in seconds: it never jumps. `time.time` is for telling people when."""

_SAMPLES: Final = 9
_ENOUGH_S: Final = 0.005


class ClockSkewed(Exception):
    """Our clock and the database's differ by more than is borne, or that cannot be told."""


@dataclass(frozen=True, slots=True)
class Skew:
    """The database's clock minus ours, in seconds, and by how much that may be wrong."""

    offset_s: float
    uncertain_s: float

    def __str__(self) -> str:
        return f"{self.offset_s * 1000:+.1f} ms ± {self.uncertain_s * 1000:.1f} ms"


async def measure_skew(connection: Connection, *, wall: Callable[[], float] = time.time) -> Skew:
    """Ask the database for its time, a few times, and take the quickest answer.

    Its clock is read somewhere between asking and the answer: half of the round trip is the correction, and
    the bound of its error. The round trip is taken from the monotonic clock.
    """
    best: Skew | None = None
    for _ in range(_SAMPLES):
        began, at = monotonic_s(), wall()
        theirs: float = await connection.fetchval("SELECT extract(epoch FROM clock_timestamp())::float8")
        half_s = (monotonic_s() - began) / 2
        if best is None or half_s < best.uncertain_s:
            best = Skew(theirs - (at + half_s), half_s)
        if best.uncertain_s < _ENOUGH_S / _SAMPLES:
            break
    assert best is not None  # noqa: S101 - there is at least one sample
    return best


async def require_clock(
    connection: Connection, *, max_skew_s: float, wall: Callable[[], float] = time.time
) -> Skew:
    """Measure, and raise ClockSkewed unless the difference is certainly within the bound."""
    skew = await measure_skew(connection, wall=wall)
    bound = f"at most {max_skew_s * 1000:g} ms are borne"
    if abs(skew.offset_s) - skew.uncertain_s > max_skew_s:
        direction = "behind" if skew.offset_s > 0 else "ahead of"
        raise ClockSkewed(
            f"this machine's clock is {direction} the database's by {abs(skew.offset_s) * 1000:.1f} ms,"
            f" and {bound}: synchronise both (NTP), then start again"
        )
    if abs(skew.offset_s) + skew.uncertain_s > max_skew_s:
        raise ClockSkewed(
            f"whether this machine's clock is right cannot be told ({skew}), and {bound}:"
            " the way to the database is too slow, or a clock is nearly off"
        )
    return skew
