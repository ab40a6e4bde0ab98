"""Sections of pages about events: a dataclass becomes its meaning and a table of its fields."""

from __future__ import annotations

import dataclasses
import json
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

_PLAIN: Final = {str: "string", int: "integer", bool: "boolean", NoneType: "null"}


def section(title: str, kind: type[Any]) -> str:
    """One event, or one object inside of events. Raises KeyError for a field of a type that no event has."""
    hints = get_type_hints(kind, include_extras=True)
    rows = [_row(field, hints[field.name]) for field in dataclasses.fields(kind)]
    table = "\n".join(["| field | type | default | meaning |", "|---|---|---|---|", *rows])
    return f"## {title}\n\n{_meaning(kind)}\n\n{table}\n"


def _meaning(kind: type[Any]) -> str:
    lines = (line.strip() for line in (kind.__doc__ or "").strip().splitlines())
    return "\n".join(lines)


def _row(field: dataclasses.Field[Any], hint: object) -> str:
    meaning = ""
    if get_origin(hint) is Annotated:
        hint, meaning = get_args(hint)[:2]
    default = "required" if field.default is dataclasses.MISSING else f"`{json.dumps(field.default)}`"
    return f"| `{field.name}` | {_type(hint)} | {default} | {meaning} |"


def _type(hint: Any) -> str:  # noqa: ANN401 - whatever a field may be annotated with
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _type(arguments[0])
    if origin in {Union, UnionType}:
        return " or ".join(map(_type, arguments))
    if origin is Literal:
        return " or ".join(f"`{json.dumps(word)}`" for word in arguments)
    if origin is tuple:
        return f"list of {_type(arguments[0])}"
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return f"[{hint.__name__}](#{hint.__name__.lower()})"
    return _PLAIN[hint]
