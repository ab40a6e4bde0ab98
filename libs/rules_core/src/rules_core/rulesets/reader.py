"""Typed reading of a ruleset's JSON: every complaint names its key by a dotted path."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from rules_core.characters import is_printable

T = TypeVar("T", bound=str)


@dataclass(frozen=True, slots=True)
class RulesetError:
    """Why a ruleset cannot be used: a value, never an exception."""

    key: str
    """Dotted path of the key at fault, list positions from 0 (`bonus_player.3.pays`); empty for the whole."""
    message: str
    """What is wrong with it and what would be right."""


class WrongKey(Exception):
    """Unwinds the parser; `parse_ruleset` turns it into its `RulesetError`."""

    def __init__(self, key: str, message: str) -> None:
        super().__init__(key, message)
        self.error = RulesetError(key, message)


def shown(value: object) -> str:
    """`value` as JSON writes its type or content, short enough for a message."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, (list, tuple)):
        return "a list"
    if isinstance(value, int):
        return str(value) if abs(value) < 10**16 else "a very large number"
    if isinstance(value, str):
        return f'"{value[:40]}"'
    return f"a {type(value).__name__}"


def joined(key: str, part: str | int) -> str:
    """The dotted path of `part` inside `key`."""
    return f"{key}.{part}" if key else str(part)


def read_object(
    value: object, key: str, required: Iterable[str], optional: Iterable[str] = ()
) -> dict[str, object]:
    """`value` as an object that has all of `required`, may have `optional`, and nothing else."""
    if not isinstance(value, dict):
        raise WrongKey(key, f"must be an object, not {shown(value)}")
    required = tuple(required)
    for name in required:
        if name not in value:
            raise WrongKey(joined(key, name), "is missing; every parameter is stated, none is assumed")
    known = {*required, *optional}
    for name in value:
        if name not in known:
            path = joined(key, name if isinstance(name, str) else shown(name))
            raise WrongKey(path, f"is not a parameter; known here: {', '.join(sorted(known))}")
    return value


def read_list(value: object, key: str, *, most: int) -> list[object]:
    """`value` as a list of 1..`most` items."""
    if not isinstance(value, list):
        raise WrongKey(key, f"must be a list, not {shown(value)}")
    if not 1 <= len(value) <= most:
        raise WrongKey(key, f"must have 1 to {most} items, not {len(value)}")
    return value


def read_choice(value: object, key: str, choices: Iterable[T]) -> T:
    """`value` as one of `choices`."""
    choices = tuple(choices)
    for choice in choices:
        if isinstance(value, str) and value == choice:
            return choice
    raise WrongKey(key, f"must be one of {', '.join(choices)}; not {shown(value)}")


def read_integer(value: object, key: str, low: int, high: int) -> int:
    """`value` as an integer of `low`..`high`; true and false are no integers."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise WrongKey(key, f"must be an integer of {low} to {high}, not {shown(value)}")
    if not low <= value <= high:
        raise WrongKey(key, f"must be {low} to {high}, not {shown(value)}")
    return value


def read_boolean(value: object, key: str) -> bool:
    """`value` as true or false."""
    if not isinstance(value, bool):
        raise WrongKey(key, f"must be true or false, not {shown(value)}")
    return value


def read_text(value: object, key: str, *, longest: int) -> str:
    """`value` as a printable text of 1..`longest` characters."""
    if not isinstance(value, str):
        raise WrongKey(key, f"must be a text, not {shown(value)}")
    if not 1 <= len(value) <= longest or not is_printable(value) or value != value.strip(" "):
        raise WrongKey(key, f"must be 1 to {longest} printable characters without spaces at its ends")
    return value
