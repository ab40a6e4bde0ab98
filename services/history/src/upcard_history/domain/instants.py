"""Instants as events write them, as values with a time zone."""

from __future__ import annotations

import datetime as dt


def instant(text: str) -> dt.datetime:
    """`YYYY-MM-DDThh:mm:ss.ffffffZ` as a moment. Raises ValueError."""
    return dt.datetime.fromisoformat(text)


def instant_or_none(text: str | None) -> dt.datetime | None:
    """The same; None stays None."""
    return None if text is None else instant(text)
