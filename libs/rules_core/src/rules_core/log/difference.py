"""The first place where a replay and the record part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rules_core.round.codec import payload_of
from rules_core.round.events import RoundEvent

_NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Difference:
    """One event and field of the record that the rules do not give."""

    position: int
    """The event's position in the round's stream."""
    type: str
    field: str
    """Dotted path, such as `payload.boxes[0].lines[1].returned`; `type` when the event itself is another."""
    expected: str
    """What the rules give."""
    found: str
    """What is recorded."""

    def __str__(self) -> str:
        where = f"event {self.position} ({self.type})"
        return f"{where}: {self.field} is {self.found}, the rules give {self.expected}"


def first_difference(
    expected: Sequence[RoundEvent], found: Sequence[RoundEvent], position: int
) -> Difference | None:
    """Compare decided events with recorded ones; `position` is that of the first of them."""
    if tuple(expected) == tuple(found):
        return None
    for index, (decided, recorded) in enumerate(zip(expected, found, strict=False)):
        if decided == recorded:
            continue
        name = type(recorded).__name__
        if type(decided) is not type(recorded):
            return Difference(position + index, name, "type", type(decided).__name__, name)
        path, want, have = _compare(payload_of(decided), payload_of(recorded), "payload")
        return Difference(position + index, name, path, want, have)
    if len(expected) > len(found):
        missing = expected[len(found)]
        return Difference(position + len(found), _NOTHING, "type", type(missing).__name__, _NOTHING)
    if len(found) > len(expected):
        extra = found[len(expected)]
        return Difference(
            position + len(expected), type(extra).__name__, "type", _NOTHING, type(extra).__name__
        )
    return None


def _compare(want: object, have: object, path: str) -> tuple[str, str, str]:
    if isinstance(want, dict) and isinstance(have, dict):
        for key in sorted({*want, *have}):
            if want.get(key) != have.get(key):
                return _compare(want.get(key), have.get(key), f"{path}.{key}")
    if isinstance(want, list) and isinstance(have, list):
        for index, (one, other) in enumerate(zip(want, have, strict=False)):
            if one != other:
                return _compare(one, other, f"{path}[{index}]")
        return f"{path}.length", str(len(want)), str(len(have))
    return path, _text(want), _text(have)


def _text(value: object) -> str:
    text = _NOTHING if value is None else str(value)
    return text if len(text) <= 200 else f"{text[:200]}…"
