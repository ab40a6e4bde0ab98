"""The documents about events, made from the events themselves: a page of all, and a schema for each."""

from __future__ import annotations

import json

from rules_core.round.codec import VERSIONS
from rules_core.round.describe.pages import events_page
from rules_core.round.describe.schema import payload_schema
from rules_core.round.events import EVENT_TYPES

__all__ = ["documents", "events_page", "payload_schema"]


def documents() -> dict[str, str]:
    """Every document by its path under docs: the page of all events, and a schema for each payload."""
    schemas = {
        f"events/{kind.__name__}.v{VERSIONS[kind.__name__]}.schema.json": _text(payload_schema(kind))
        for kind in EVENT_TYPES
    }
    return {"events.md": events_page(), **schemas}


def _text(schema: dict[str, object]) -> str:
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
