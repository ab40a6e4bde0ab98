"""Those who look at one table, by how far each was told: what is news to whom."""

from __future__ import annotations

import datetime as dt
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from upcard_gateway.app.play_places import Place, place_name
from upcard_gateway.entrypoints.play.contract import Json
from upcard_gateway.entrypoints.play.frames import message

__all__ = ["Kept", "Looker", "Lookers", "Told", "table_frame"]

_EVEN: Final = ""
"""The group of those who were told everything that we were."""


class Looker(Protocol):
    """A connection at a table. It must be hashable by identity."""

    def write(self, frames: bytes) -> None:
        """Send frames. Never raises, never waits."""
        ...

    def leave_for(self, reason: str) -> None:
        """The table can be told of no longer: end the connection for this reason."""
        ...


@dataclass(frozen=True, slots=True)
class Told:
    """What was told of a table at once."""

    events: Sequence[tuple[int, int, Json]] = field(repr=False)
    """Round, position, and the event as it is told."""
    place: Place
    """Behind it."""
    seq: str = field(repr=False)
    """The place as it is told."""
    frame: bytes = field(repr=False)
    at: dt.datetime

    def for_one_at(self, place: Place) -> bytes:
        """What of it is news at a place: most often all of it, and then the same bytes as for everybody."""
        news = [one for one in self.events if not place.had(one[0], one[1])]
        if len(news) == len(self.events):
            return self.frame
        return table_frame(news, self.place, self.seq, self.at) if news else b""


def table_frame(events: Sequence[tuple[int, int, Json]], place: Place, seq: str, now: dt.datetime) -> bytes:
    """A `table` message."""
    number = next((round_ for round_, _, _ in reversed(events) if round_), max(place.rounds, default=0))
    body = {"events": [event for _, _, event in events]}
    return message("table", now, body, round_number=number, channel="table", seq=seq)


class Kept:
    """What was told last, for who comes back: bounded in messages and bytes."""

    def __init__(self, messages_max: int, bytes_max: int) -> None:
        self._messages_max = messages_max
        self._bytes_max = bytes_max
        self._told: deque[Told] = deque()
        self._bytes = 0
        self.start = Place()
        """Everything behind this place is kept."""

    def begin(self, place: Place) -> None:
        """Keep what comes behind a place, and nothing that was kept before."""
        self._told.clear()
        self._bytes = 0
        self.start = place

    def add(self, told: Told) -> None:
        """Keep this too; the oldest goes where there is too much."""
        self._told.append(told)
        self._bytes += len(told.frame)
        while len(self._told) > self._messages_max or self._bytes > self._bytes_max:
            gone = self._told.popleft()
            self._bytes -= len(gone.frame)
            self.start = gone.place

    def behind(self, place: Place) -> bytes | None:
        """All that is news at a place; None: not all of it is kept."""
        if not place.reaches(self.start):
            return None
        return b"".join(told.for_one_at(place) for told in self._told)


@dataclass(slots=True)
class _Group:
    place: Place | None
    members: set[Looker] = field(default_factory=set)


class Lookers:
    """Everybody at a table. Those who were told more than we were yet hear only what is news to them."""

    def __init__(self) -> None:
        self._groups: dict[str, _Group] = {_EVEN: _Group(None)}
        self._where: dict[Looker, str] = {}

    def __len__(self) -> int:
        return len(self._where)

    def __iter__(self) -> Iterator[Looker]:
        return iter(tuple(self._where))

    def add(self, looker: Looker, place: Place | None) -> None:
        """Somebody who was told everything up to a place; None: as much as we were."""
        self.remove(looker)
        name = _EVEN if place is None else place_name(place)
        self._groups.setdefault(name, _Group(place)).members.add(looker)
        self._where[looker] = name

    def remove(self, looker: Looker) -> None:
        """Nobody of ours, or no longer."""
        name = self._where.pop(looker, None)
        if name is None:
            return
        group = self._groups[name]
        group.members.discard(looker)
        if not group.members and name != _EVEN:
            del self._groups[name]

    def tell(self, told: Told) -> None:
        """Tell everybody what is news to them."""
        for name, group in tuple(self._groups.items()):
            frames = told.frame if group.place is None else told.for_one_at(group.place)
            if frames:
                for one in tuple(group.members):
                    one.write(frames)
            if group.place is not None and told.place.is_long_past(group.place):
                self._even_out(name)

    def tell_all(self, frames: bytes) -> None:
        """Tell everybody the same."""
        for one in tuple(self._where):
            one.write(frames)

    def go_back_from(self, place: Place) -> None:
        """Everybody was told all up to a place, which we have left for an earlier one."""
        for group in tuple(self._groups.values()):
            reached = place if group.place is None else group.place.joined(place)
            for one in tuple(group.members):
                self.add(one, reached)

    def _even_out(self, name: str) -> None:
        for one in tuple(self._groups[name].members):
            self.add(one, None)
