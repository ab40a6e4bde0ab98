"""What an audience is shown of a round, cut into pieces that are encoded once for all sessions."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from upcard_table.app.watching.shown import Item

PIECE_ITEMS: Final = 200
"""Most events of one message."""
_PARTS_KEPT: Final = 32

Encode = Callable[[int, Sequence[Item]], bytes]
"""Makes the bytes of events of a round (0: of the table); they are sent as they are."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Some items in a row, encoded; `after` and `through` count items."""

    after: int
    through: int
    body: bytes = field(repr=False)


class Channel:
    """The items of one round for one audience, in the order in which they are shown."""

    __slots__ = ("_bodies", "_encode", "_parts", "_round", "_sizes", "_through", "items")

    def __init__(self, number: int, items: list[Item], encode: Encode) -> None:
        self.items = items
        """All that is shown so far; grows elsewhere."""
        self._round = number
        self._encode = encode
        self._through: list[int] = []
        self._bodies: list[bytes] = []
        self._sizes: list[int] = []
        """Bytes of all pieces up to each."""
        self._parts: dict[tuple[int, int], bytes] = {}

    @property
    def cut(self) -> int:
        """How many items are in pieces: the rest waits for the next cut."""
        return self._through[-1] if self._through else 0

    def cut_pieces(self) -> None:
        """Put everything that waits into pieces."""
        while self.cut < len(self.items):
            after = self.cut
            through = min(len(self.items), after + PIECE_ITEMS)
            body = self._encode(self._round, self.items[after:through])
            self._sizes.append(len(body) + (self._sizes[-1] if self._sizes else 0))
            self._bodies.append(body)
            self._through.append(through)

    def next_piece(self, mark: int) -> Piece | None:
        """What follows for a session that has been sent `mark` items; None: nothing as yet."""
        index = bisect_right(self._through, mark)
        if index == len(self._through):
            return None
        after = self._through[index - 1] if index else 0
        through = self._through[index]
        if after == mark:
            return Piece(after, through, self._bodies[index])
        return Piece(mark, through, self._part(mark, through))

    def backlog(self, mark: int) -> tuple[int, int]:
        """How many pieces, and bytes of them, are there and were not sent to such a session."""
        index = bisect_right(self._through, mark)
        if index == len(self._through):
            return 0, 0
        return len(self._through) - index, self._sizes[-1] - (self._sizes[index - 1] if index else 0)

    def _part(self, after: int, through: int) -> bytes:
        """The rest of a piece: of a session that began, or was cut off, in the middle of one."""
        key = after, through
        body = self._parts.get(key)
        if body is None:
            if len(self._parts) >= _PARTS_KEPT:
                self._parts.clear()
            body = self._parts[key] = self._encode(self._round, self.items[after:through])
        return body
