"""JSON Schemas (2020-12) of event payloads, made from the dataclasses that the codec reads them into."""

from __future__ import annotations

import dataclasses
import types
from typing import Any, Final, Literal, Union, get_args, get_origin

from rules_core.canonical import INTEGER_MAX
from rules_core.cards import Card
from rules_core.round.codec import VERSIONS
from rules_core.round.describe.parts import REQUIRED, Part, meaning_of, objects_in, parts_of, plain
from rules_core.round.events import RoundEvent

Schema = dict[str, Any]

FORMS: Final[dict[str, Schema]] = {
    "card": {"description": "Rank and suit.", "type": "string", "pattern": "^[23456789TJQKA][cdhs]$"},
    "place": {
        "description": "Where a card lies; boxes count from 1, cards from 0.",
        "type": "string",
        "pattern": r"^((box|replacement)\.[1-9][0-9]*\.[0-4]|(dealer|switch)\.[0-4]|draw\.[0-3])$",
    },
    "instant": {
        "description": "UTC, to the microsecond; such texts sort as the instants do.",
        "type": "string",
        "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{6}Z$",
    },
    "digest": {"description": "SHA-256, lower-case hex.", "type": "string", "pattern": "^[0-9a-f]{64}$"},
    "card_salt": {
        "description": "16 random bytes, lower-case hex.",
        "type": "string",
        "pattern": "^[0-9a-f]{32}$",
    },
}
"""The texts of one form only, by name (CONTRACTS.md sections 1 and 2)."""
_FORM_OF: Final = {
    "card": "card",
    "cards": "card",
    "place": "place",
    "unread": "place",
    "commitment": "digest",
    "ruleset_sha256": "digest",
    "salt": "card_salt",
}


def _form_of(part: Part) -> str | None:
    """The form that the texts of a field have; None where any text may stand."""
    return "instant" if part.name.endswith("_at") else _FORM_OF.get(part.name)


def payload_schema(kind: type[RoundEvent]) -> Schema:
    """The schema of an event's payload at its current version."""
    name, version = kind.__name__, VERSIONS[kind.__name__]
    definitions = {inner.__name__: _object(inner) for inner in objects_in(kind)}
    properties = _object(kind)
    referred = _referred({**properties, **definitions})
    forms = {key: form for key, form in FORMS.items() if key in referred}
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:upcard:event:{name}:{version}",
        "title": f"{name}, version {version}",
        **properties,
    }
    defined = {**definitions, **forms}
    return {**schema, "$defs": defined} if defined else schema


def _object(kind: type[Any]) -> Schema:
    parts = parts_of(kind)
    return {
        "description": meaning_of(kind),
        "type": "object",
        "additionalProperties": False,
        "required": [part.name for part in parts if part.default is REQUIRED],
        "properties": {part.name: property_of(part) for part in parts},
    }


def property_of(part: Part) -> Schema:
    """The schema of one field."""
    schema = {"description": part.meaning, **_type(part.hint, _form_of(part))}
    if part.default is not REQUIRED:
        schema["default"] = list(part.default) if isinstance(part.default, tuple) else part.default
    return schema


def _type(hint: object, form: str | None) -> Schema:
    hint = plain(hint)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (Union, types.UnionType):
        (inner,) = [part for part in arguments if part is not type(None)]
        return {"anyOf": [_type(inner, form), {"type": "null"}]}
    if origin is tuple:
        return {"type": "array", "items": _type(arguments[0], form)}
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return _ref(hint.__name__)
    return _ref(form) if hint is str and form is not None else _SINGLE[hint]


def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


_SINGLE: Final[dict[object, Schema]] = {
    Card: _ref("card"),
    str: {"type": "string"},
    int: {"type": "integer", "minimum": -INTEGER_MAX, "maximum": INTEGER_MAX},
    bool: {"type": "boolean"},
}


def _referred(schema: Schema) -> set[str]:
    """The names that a schema refers to, at any depth."""
    own = {schema["$ref"].rpartition("/")[2]} if "$ref" in schema else set()
    inner = [*schema.values(), *schema.get("anyOf", ())]
    return own.union(*(_referred(item) for item in inner if isinstance(item, dict)))
