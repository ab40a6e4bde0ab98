"""The hashes of the last events before a position, in short: so that a fork is seen after a restart too."""

from collections.abc import Sequence
from typing import Final

from eventstore.events import RecordedEvent

EVENTS: Final = 128
"""How many of the last events are remembered."""

BYTES: Final = 8
"""How much of each hash. Two histories agree by chance in one of 2^64 events."""

_UNKNOWN: Final = bytes(BYTES)


def extended(recent: bytes, position: int, events: Sequence[RecordedEvent], through: int) -> bytes:
    """What is remembered at `through`, from what was at `position` and the events in between."""
    start = max(position, through - EVENTS)
    added = bytearray(BYTES * (through - start))
    for event in events[-EVENTS:]:
        place = BYTES * (event.shard_position - start - 1)
        if place >= 0:
            added[place : place + BYTES] = event.hash[:BYTES]
    return (recent + bytes(added))[-BYTES * EVENTS :]


def remembered(recent: bytes, position: int, at: int) -> bytes | None:
    """The first bytes of the hash of the event at `at`, at or before `position`; None if not remembered."""
    place = len(recent) - BYTES * (position - at + 1)
    if place < 0:
        return None
    begun = recent[place : place + BYTES]
    return None if begun == _UNKNOWN else begun
