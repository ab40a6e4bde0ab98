"""The Markdown of docs/events.md."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final

from rules_core.round.codec import VERSIONS
from rules_core.round.describe.parts import REQUIRED, Part, meaning_of, objects_in, parts_of
from rules_core.round.describe.schema import FORMS, Schema, property_of
from rules_core.round.describe.words import ACTORS, WRITTEN
from rules_core.round.events import EVENT_TYPES, RoundEvent

_INTRODUCTION: Final = """\
# The events of a round

Made from the code by `tools/generate_event_docs.py`; a test holds that it is up to date. What an event is,
and what stands beside its payload (`event_id`, `actor`, `salt` and so on), says
[CONTRACTS.md](CONTRACTS.md), section 2; the rules of the game are in [RULES.md](RULES.md).

- A payload is one JSON object with exactly the fields listed here. A field that has a default is left out
  when it holds it, so there is one way to write an event; every other field is always there, as `null` too.
  Reading is strict: a missing, unknown or wrongly typed field is an error that names it.
- Amounts are integers in minor units. Lists keep their order.
- A type has a version, which stands beside the payload. Whatever changes a payload's form makes a new
  version. Payloads of older versions stay as they were recorded, and are brought up to date when read.
- Raw bytes of every version lie in [tests/golden/payloads](../tests/golden/payloads/README.md).
- An event carries every input of its decision, except cards that lie face down: those come from the openings.
"""
_ACTOR_TEXT: Final = {
    "player": "`player:<id>`",
    "dealer": "`dealer:<id>`",
    "staff": "`staff:<id>`",
    "platform": "`platform`",
    "system": "`system`",
}


def events_page() -> str:
    """The whole page: an overview, the events in the order of CONTRACTS.md, the objects inside, the forms."""
    sections = [
        _INTRODUCTION,
        _overview(),
        *(_event(kind) for kind in EVENT_TYPES),
        "# Objects inside\n",
        *(_object(kind) for kind in _objects()),
        _forms(),
    ]
    return "\n".join(sections)


def _overview() -> str:
    rows = [
        (_link(kind.__name__), str(VERSIONS[kind.__name__]), _summary(meaning_of(kind)))
        for kind in EVENT_TYPES
    ]
    return _table(("event", "version", "meaning"), rows)


def _summary(meaning: str) -> str:
    """The first paragraph."""
    return meaning.partition("\n\n")[0]


def _event(kind: type[RoundEvent]) -> str:
    name, version = kind.__name__, VERSIONS[kind.__name__]
    actors = " or ".join(_ACTOR_TEXT[actor] for actor in ACTORS[name])
    schema = f"[{name}.v{version}.schema.json](events/{name}.v{version}.schema.json)"
    return (
        f"## {name}\n\n{meaning_of(kind)}\n\n"
        f"- **Written:** {WRITTEN[name]}\n"
        f"- **By:** {actors}.\n"
        f"- **Version:** {version}, {schema}.\n\n"
        f"{_fields(kind)}"
    )


def _objects() -> tuple[type[Any], ...]:
    """Everything that stands inside an event, each once, in the order of first use."""
    return tuple(dict.fromkeys(inner for kind in EVENT_TYPES for inner in objects_in(kind)))


def _object(kind: type[Any]) -> str:
    users = [_link(user.__name__) for user in EVENT_TYPES if kind in objects_in(user)]
    return f"## {kind.__name__}\n\n{meaning_of(kind)} In {', '.join(users)}.\n\n{_fields(kind)}"


def _fields(kind: type[Any]) -> str:
    rows = [
        (f"`{part.name}`", _type_text(property_of(part)), _default(part), part.meaning)
        for part in parts_of(kind)
    ]
    return _table(("field", "type", "default", "meaning"), rows)


def _default(part: Part) -> str:
    return "required" if part.default is REQUIRED else f"`{json.dumps(part.default)}`"


def _type_text(schema: Schema) -> str:
    if "$ref" in schema:
        return _link(schema["$ref"].rpartition("/")[2])
    if "enum" in schema:
        return " or ".join(f"`{json.dumps(word)}`" for word in schema["enum"])
    if "anyOf" in schema:
        return " or ".join(_type_text(choice) for choice in schema["anyOf"])
    if schema["type"] == "array":
        return f"list of {_type_text(schema['items'])}"
    return str(schema["type"])


def _forms() -> str:
    rows = [
        (f'<a id="{name}"></a>{name}', form["description"], f"`{form['pattern']}`")
        for name, form in FORMS.items()
    ]
    table = _table(("form", "meaning", "pattern"), rows)
    return f"# Forms\n\nTexts that stand for one thing, and are written in one way only.\n\n{table}"


def _link(name: str) -> str:
    return f"[{name}](#{name.lower()})"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    escaped = (tuple(cell.replace("|", "\\|") for cell in row) for row in rows)
    lines = [head, tuple("---" for _ in head), *escaped]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
