"""Our clock against the database's."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable

import asyncpg
import pytest

from eventstore.postgres import Connection
from servicekit.clock import ClockSkewed, Skew, measure_skew, require_clock


@pytest.fixture
async def connection(database: str) -> AsyncIterator[Connection]:
    made = await asyncpg.connect(database)
    try:
        yield made
    finally:
        await made.close()


def off_by(seconds: float) -> Callable[[], float]:
    return lambda: time.time() + seconds


async def test_the_same_clock_has_no_skew(connection: Connection) -> None:
    skew = await require_clock(connection, max_skew_s=0.1)
    assert abs(skew.offset_s) <= skew.uncertain_s + 0.001


@pytest.mark.parametrize(
    ("ours_is_off_by_s", "direction"), [(0.5, "ahead of"), (-0.5, "behind"), (86_400.0, "ahead of")]
)
async def test_a_clock_that_is_off_is_refused_with_a_sentence(
    connection: Connection, ours_is_off_by_s: float, direction: str
) -> None:
    skew = await measure_skew(connection, wall=off_by(ours_is_off_by_s))
    assert skew.offset_s == pytest.approx(-ours_is_off_by_s, abs=skew.uncertain_s + 0.001)
    with pytest.raises(ClockSkewed, match=f"this machine's clock is {direction} the database's by .* ms"):
        await require_clock(connection, max_skew_s=0.1, wall=off_by(ours_is_off_by_s))


async def test_what_is_borne_is_borne(connection: Connection) -> None:
    await require_clock(connection, max_skew_s=10.0, wall=off_by(0.5))


class Slow:
    """A connection whose round trips take so long, and a clock that is never read but by it."""

    def __init__(self, connection: Connection, monkeypatch: pytest.MonkeyPatch, trips_s: list[float]) -> None:
        self._connection = connection
        self._trips_s = trips_s
        self._now_s = 0.0
        monkeypatch.setattr("servicekit.clock.monotonic_s", lambda: self._now_s)

    async def fetchval(self, query: str) -> float:
        trip_s = self._trips_s.pop(0) if self._trips_s else 1.0
        at: float = await self._connection.fetchval(query)
        self._now_s += trip_s
        # The server reads its clock in the middle of the trip, so it seems later by that much.
        return at + trip_s / 2


async def test_half_of_the_round_trip_is_the_correction(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = Slow(connection, monkeypatch, [3.0, 0.2, 4.0])
    skew = await measure_skew(slow)  # type: ignore[arg-type]  # as much of a connection as is asked for
    assert skew.uncertain_s == pytest.approx(0.1)  # the quickest of them
    assert abs(skew.offset_s) < 0.09


async def test_what_cannot_be_told_is_refused(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = Slow(connection, monkeypatch, [])
    with pytest.raises(ClockSkewed, match="cannot be told"):
        await require_clock(slow, max_skew_s=0.1)  # type: ignore[arg-type]  # as above


def test_a_skew_is_shown_with_its_error() -> None:
    assert str(Skew(-0.0123, 0.0004)) == "-12.3 ms ± 0.4 ms"
