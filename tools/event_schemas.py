"""JSON Schemas (2020-12) of services' event payloads, from the dataclasses that their codecs read them into.

The events of a round have theirs from `rules_core.round.describe`, whose forms of fields are used here too.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, get_args, get_origin, get_type_hints

from rules_core.round.describe.parts import REQUIRED, Part, meaning_of
from rules_core.round.describe.schema import FORMS, property_of

DOCS: Final = Path(__file__).resolve().parents[1] / "docs"

Schema = dict[str, Any]
EventTypes = Mapping[str, tuple[int, type[Any]]]
"""Types of events by name, with the version that is written."""


def payload_schema(kind: type[Any], version: int) -> Schema:
    """The schema of an event's payload at its current version."""
    inside = {inner.__name__: _object(inner) for inner in _objects_in(kind)}
    whole = _object(kind)
    forms = {name: form for name, form in FORMS.items() if _refers({**whole, "$defs": inside}, name)}
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:upcard:event:{kind.__name__}:{version}",
        "title": f"{kind.__name__}, version {version}",
        **whole,
    }
    defined = {**inside, **forms}
    return {**schema, "$defs": defined} if defined else schema


def documents(service: str, types: EventTypes) -> dict[str, str]:
    """A service's schemas, by their path under docs."""
    return {
        f"events/{service}/{name}.v{version}.schema.json": json.dumps(
            payload_schema(kind, version), indent=2, ensure_ascii=False
        )
        + "\n"
        for name, (version, kind) in types.items()
    }


def write(service: str, types: EventTypes, docs: Path = DOCS) -> None:
    """Write the schemas of a service's events. Those of older versions stay."""
    for name, text in documents(service, types).items():
        path = docs / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def outdated(service: str, types: EventTypes, docs: Path = DOCS) -> list[str]:
    """The names of schemas that are missing, differ, or belong to no event."""
    wanted = documents(service, types)
    differing = [
        name
        for name, text in wanted.items()
        if not (docs / name).is_file() or (docs / name).read_text(encoding="utf-8") != text
    ]
    there = (path.relative_to(docs).as_posix() for path in sorted((docs / "events" / service).glob("*")))
    return differing + [name for name in there if name not in wanted and not _is_older(name, types)]


def _is_older(name: str, types: EventTypes) -> bool:
    event, _, version = Path(name).name.removesuffix(".schema.json").partition(".v")
    return event in types and version.isdigit() and int(version) < types[event][0]


def _object(kind: type[Any]) -> Schema:
    parts = _parts_of(kind)
    return {
        "description": meaning_of(kind),
        "type": "object",
        "additionalProperties": False,
        "required": [part.name for part in parts if part.default is REQUIRED],
        "properties": {part.name: property_of(part) for part in parts},
    }


def _parts_of(kind: type[Any]) -> list[Part]:
    """The fields of a dataclass; one that is not explained means what the objects in it mean."""
    hints = get_type_hints(kind, include_extras=True)
    parts = []
    for field in dataclasses.fields(kind):
        hint, meaning = hints[field.name], ""
        if get_origin(hint) is Annotated:
            hint, *_, meaning = get_args(hint)
        meaning = meaning or " ".join(meaning_of(inner) for inner in _dataclasses_in(hint))
        default = REQUIRED if field.default is dataclasses.MISSING else field.default
        parts.append(Part(field.name, hint, meaning, default))
    return parts


def _objects_in(kind: type[Any]) -> list[type[Any]]:
    """The dataclasses inside a dataclass, each once, at any depth."""
    found: dict[type[Any], None] = {}
    for part in _parts_of(kind):
        for inner in _dataclasses_in(part.hint):
            found[inner] = None
            found.update(dict.fromkeys(_objects_in(inner)))
    return list(found)


def _dataclasses_in(hint: object) -> list[type[Any]]:
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return [hint]
    return [inner for argument in get_args(hint) for inner in _dataclasses_in(argument)]


def _refers(schema: Any, name: str) -> bool:  # noqa: ANN401 - any part of a schema
    if isinstance(schema, dict):
        return schema.get("$ref") == f"#/$defs/{name}" or any(_refers(one, name) for one in schema.values())
    return isinstance(schema, list) and any(_refers(one, name) for one in schema)
