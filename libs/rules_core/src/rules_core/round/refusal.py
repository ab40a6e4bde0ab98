"""Why a command was not done: a value, never an exception (ARCHITECTURE.md, functional core)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

Datum = int | str | None
_NOTHING: Mapping[str, Datum] = MappingProxyType({})


def _nothing() -> Mapping[str, Datum]:
    return _NOTHING


@dataclass(frozen=True, slots=True)
class Refusal:
    """A stable slug, a sentence that says what to do, and the figures behind it (minor units)."""

    code: str
    message: str
    data: Mapping[str, Datum] = field(default_factory=_nothing)


def refuse(code: str, message: str, **data: Datum) -> Refusal:
    """Shorthand for a refusal with data."""
    return Refusal(code, message, MappingProxyType(data) if data else _NOTHING)
