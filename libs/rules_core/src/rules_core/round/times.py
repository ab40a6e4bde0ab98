"""Instants as the fixed-width UTC text of CONTRACTS.md section 2.

Such texts sort as the instants do, so the fold compares them as they are and parses nothing.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta

_LEAP_YEAR = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)"
INSTANT = (
    rf"(?!0000)(?:{_LEAP_YEAR}-02-29|[0-9]{{4}}-(?:"
    r"(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])"
    r"|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
    r"|02-(?:0[1-9]|1[0-9]|2[0-8])))"
    r"T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{6}Z"
)
"""Pattern of `YYYY-MM-DDThh:mm:ss.ffffffZ`, of real days and times of day alone: nothing is faster."""
_is_instant = re.compile(INSTANT).fullmatch


def is_timestamp(text: str) -> bool:
    """Whether `text` is `YYYY-MM-DDThh:mm:ss.ffffffZ` and a real instant, before the year 9999."""
    return _is_instant(text) is not None and text < "9999"


def plus_ms(timestamp: str, duration_ms: int) -> str:
    """The instant `duration_ms` milliseconds after `timestamp`."""
    moved = datetime.fromisoformat(timestamp).replace(tzinfo=None) + timedelta(milliseconds=duration_ms)
    return f"{moved.isoformat(timespec='microseconds')}Z"


def from_epoch_us(microseconds: int) -> str:
    """The timestamp of so many microseconds after 1970-01-01T00:00:00Z."""
    moved = datetime(1970, 1, 1) + timedelta(microseconds=microseconds)  # noqa: DTZ001 - the text says Z itself
    return f"{moved.isoformat(timespec='microseconds')}Z"


def to_epoch_us(timestamp: str) -> int:
    """Microseconds after 1970-01-01T00:00:00Z of a timestamp; the inverse of `from_epoch_us`."""
    since = datetime.fromisoformat(timestamp).replace(tzinfo=None) - datetime(1970, 1, 1)  # noqa: DTZ001 - as above
    return since // timedelta(microseconds=1)
