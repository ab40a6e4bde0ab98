"""The events that a use case is going to store: collected by stream, appended as the last act."""

from __future__ import annotations

from collections.abc import Iterable

from eventstore import Expect, NewEvent, StreamAppend
from upcard_bonus.app.recording import Origin, Recorder
from upcard_bonus.domain.events import BonusEvent


class Draft:
    """Events of one transaction, each stream's in their order."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self._events: dict[str, list[NewEvent]] = {}

    def tell(self, stream: str, events: Iterable[BonusEvent], origin: Origin) -> None:
        """Draft events of a stream."""
        made = [self.recorder.event(stream, event, origin) for event in events]
        if made:
            self._events.setdefault(stream, []).extend(made)

    @property
    def appends(self) -> tuple[StreamAppend, ...]:
        """All of them, each stream once."""
        return tuple(
            StreamAppend(stream, Expect.ANY, tuple(events)) for stream, events in self._events.items()
        )
