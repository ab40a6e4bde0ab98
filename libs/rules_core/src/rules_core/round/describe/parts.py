"""What a dataclass of events consists of, with the meaning that its declaration states."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from typing import Annotated, Any, Final, get_args, get_origin, get_type_hints

from rules_core.round.describe.words import MEANINGS

REQUIRED: Final = object()
"""The default of a field that is always there."""


@dataclass(frozen=True, slots=True)
class Part:
    """One field of an event, or of an object inside one."""

    name: str
    hint: object
    """Its type, without the annotations around it."""
    meaning: str
    default: Any
    """What holds where the field is left out; REQUIRED where it never is."""


def parts_of(kind: type[Any]) -> tuple[Part, ...]:
    """The fields of a dataclass, in their order. Raises KeyError for one whose meaning nothing states."""
    hints = get_type_hints(kind, include_extras=True)
    return tuple(_part(kind, field, hints[field.name]) for field in dataclasses.fields(kind))


def _part(kind: type[Any], field: dataclasses.Field[Any], hint: object) -> Part:
    default = REQUIRED if field.default is dataclasses.MISSING else field.default
    if get_origin(hint) is Annotated:
        inner, *meanings = get_args(hint)
        return Part(field.name, inner, meanings[-1], default)
    return Part(field.name, hint, MEANINGS[f"{kind.__name__}.{field.name}"], default)


def plain(hint: object) -> object:
    """A type without its annotation."""
    return get_args(hint)[0] if get_origin(hint) is Annotated else hint


def objects_in(kind: type[Any]) -> tuple[type[Any], ...]:
    """The dataclasses inside a dataclass, each once, in the order of first use, at any depth."""
    found: dict[type[Any], None] = {}
    for part in parts_of(kind):
        for inner in _dataclasses_of(part.hint):
            found[inner] = None
            found.update(dict.fromkeys(objects_in(inner)))
    return tuple(found)


def _dataclasses_of(hint: object) -> list[type[Any]]:
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return [hint]
    return [inner for argument in get_args(hint) for inner in _dataclasses_of(argument)]


def meaning_of(kind: type[Any]) -> str:
    """The docstring of a dataclass as one line a paragraph, whatever its indentation."""
    paragraphs = re.split(r"\n\s*\n", (kind.__doc__ or "").strip())
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
