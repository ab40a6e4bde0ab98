"""The table's own stream as it is shown: who deals, what the limits are, which mode is on."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from upcard_table.app.watching.channel import Encode
from upcard_table.app.watching.shown import Audience, Item
from upcard_table.domain import events as t
from upcard_table.domain.codec import event_of
from upcard_table.domain.evolve import evolve
from upcard_table.domain.state import NEW_TABLE, TableState
from upcard_table.domain.words import table_stream

EVENTS_KEPT: Final = 200
"""The latest events of a table that a session can be told of later."""
_OF_THE_FLOOR: Final = (t.ShiftStarted, t.ShiftEnded, t.TipGiven)
"""Shown to dealer and operations alone; a tip to its giver too."""


@dataclass(frozen=True, slots=True)
class TableNews:
    """An event of the table and its message, encoded once for all."""

    item: Item
    body: bytes

    def shown_to(self, audience: Audience, player: str | None) -> bool:
        """Whether such a viewer is shown it."""
        event = self.item.event
        if not isinstance(event, _OF_THE_FLOOR) or audience != "public":
            return True
        return isinstance(event, t.TipGiven) and player is not None and event.player == player


class TableFeed:
    """A table so far."""

    __slots__ = ("_encode", "_news", "position", "state", "stream")

    def __init__(self, table: str, encode: Encode, state: TableState = NEW_TABLE, position: int = 0) -> None:
        self.stream = table_stream(table)
        self.state = state
        self.position = position
        """Of the last event that is in the state."""
        self._encode = encode
        self._news: deque[TableNews] = deque(maxlen=EVENTS_KEPT)

    @property
    def reaches_back_to(self) -> int:
        """Sessions that were sent the stream up to here, or further, can go on."""
        return self._news[0].item.position - 1 if self._news else self.position

    def apply(self, event: t.TableEvent) -> None:
        """Take the next event in."""
        self.state = evolve(self.state, event)
        self.position += 1
        self._news.append(self._made(self.position, event))

    def prepend(self, contents: Sequence[bytes]) -> None:
        """Take in the events just before the oldest one that is kept, as many as there is room for."""
        before = self.reaches_back_to
        position = before - len(contents)
        made = [self._made(position + index, table_event(one)) for index, one in enumerate(contents, 1)]
        room = EVENTS_KEPT - len(self._news)
        self._news.extendleft(reversed(made[-room:] if room else []))

    def after(self, position: int) -> TableNews | None:
        """The event after a position; None: there is none."""
        if position >= self.position or not self._news:
            return None
        index = position + 1 - self._news[0].item.position
        return self._news[index] if index >= 0 else None

    def _made(self, position: int, event: t.TableEvent) -> TableNews:
        item = Item(position, event)
        return TableNews(item, self._encode(0, (item,)))


def table_event(content: bytes) -> t.TableEvent:
    """The event of a content of a table's stream."""
    members = json.loads(content)
    return event_of(members["type"], members["version"], members["payload"])
