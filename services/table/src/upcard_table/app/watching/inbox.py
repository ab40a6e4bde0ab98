"""What the log has told of a table and nobody has taken in yet. Bounded: what is too much is read again."""

from __future__ import annotations

import asyncio
from typing import Final

EVENTS_MAX: Final = 5_000

Entries = list[tuple[int, bytes]]
"""Positions and contents, ascending."""


class Inbox:
    """Events by stream, in each stream's order."""

    __slots__ = ("_count", "_streams", "missed", "news")

    def __init__(self) -> None:
        self._streams: dict[str, Entries] = {}
        self._count = 0
        self.missed = False
        """Whether something was left out: everything has to be compared with the log."""
        self.news = asyncio.Event()

    def put(self, stream: str, position: int, content: bytes) -> None:
        """An event was committed."""
        if self._count >= EVENTS_MAX:
            self.miss()
        else:
            self._streams.setdefault(stream, []).append((position, content))
            self._count += 1
        self.news.set()

    def miss(self) -> None:
        """Something was, or may have been, left out."""
        self._streams.clear()
        self._count = 0
        self.missed = True
        self.news.set()

    def take(self) -> tuple[str, Entries] | None:
        """The oldest stream's events; None: there are none."""
        stream = next(iter(self._streams), None)
        if stream is None:
            return None
        entries = self._streams.pop(stream)
        self._count -= len(entries)
        return stream, entries
