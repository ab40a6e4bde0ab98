"""The decision table: what follows from each answer to each call. Data (`data/decisions.json`), read once.

The wallet decides by it, docs/seamless.md shows it, the conformance kit and the tests are driven by it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Final, Literal, get_args

from upcard_seamless.answers import AnswerKind
from upcard_seamless.calls import CallKind

Of = Literal["bet_held", "bet_unknown", "win"]
"""What a rollback undoes: a bet that our ledger has, one whose end nobody knew, or a win."""

State = Literal["shown", "not_shown", "held", "refused", "unknown", "queued", "done", "parked"]
"""What we have then: of a balance, of a bet's holds, of a call in the queue."""

Then = Literal["nothing", "rollback", "again", "again_few", "confirm", "people"]
"""The next call, or who acts next."""

Money = Literal[
    "none_moves", "taken_once", "given_once", "given_back_once", "taken_back_once", "stays_open", "disputed"
]
"""What happens to the money, in the end."""

STATES: Final[Mapping[State, str]] = {
    "shown": "shown to the player",
    "not_shown": "not shown; the reason is",
    "held": "the holds are held",
    "refused": "the holds are refused",
    "unknown": "the holds are unknown, then released",
    "queued": "the call stays in the queue",
    "done": "the call is done",
    "parked": "the call is parked",
}
NEXT: Final[Mapping[Then, str]] = {
    "nothing": "none",
    "rollback": "a rollback under the same ids, until it is told",
    "again": "the same again after a pause; after 12 hours people",
    "again_few": "the same again after a pause, five times at most; then people",
    "confirm": "the same once more after a minute",
    "people": "none, until people decide",
}
MONEY: Final[Mapping[Money, str]] = {
    "none_moves": "none moves",
    "taken_once": "taken from the player, once",
    "given_once": "given to the player, once",
    "given_back_once": "what was taken is given back, once",
    "taken_back_once": "what was given is taken back, once",
    "stays_open": "open until it is told; our books say what is right",
    "disputed": "our books say what is right; theirs have to be looked at",
}


@dataclass(frozen=True, slots=True)
class Row:
    """One row: this answer to this call."""

    call: CallKind
    answer: AnswerKind
    of: Of | None
    """Of rollbacks: what is undone."""
    state: State
    then: Then
    money: Money
    message: str
    """A slug, or empty: why a bet was refused, a balance is not shown, a call is parked (in the end)."""
    why: str

    @property
    def name(self) -> str:
        """The row's name, such as `win/time_out` or `rollback/ok/win`."""
        return "/".join(one for one in (self.call, self.answer, self.of) if one is not None)


def _read() -> tuple[Row, ...]:
    rows = json.loads((files("upcard_seamless") / "data" / "decisions.json").read_bytes())
    return tuple(Row(**{"of": None, **row}) for row in rows)


ROWS: Final = _read()
"""All rows: each call with each answer, a rollback with each for everything that it may undo."""

_BY_KEY: Final = {(row.call, row.answer, row.of): row for row in ROWS}


def row_of(call: CallKind, answer: AnswerKind, of: Of | None = None) -> Row:
    """What follows from this answer to this call; `of` has to be said of a rollback, and only there."""
    return _BY_KEY[call, answer, of]


def missing() -> list[tuple[CallKind, AnswerKind, Of | None]]:
    """Rows that the table lacks: a defect of its data, looked for by a test."""
    wanted: list[tuple[CallKind, AnswerKind, Of | None]] = []
    for call in get_args(CallKind):
        for answer in get_args(AnswerKind):
            wanted += [(call, answer, of) for of in (get_args(Of) if call == "rollback" else (None,))]
    return [key for key in wanted if key not in _BY_KEY]
