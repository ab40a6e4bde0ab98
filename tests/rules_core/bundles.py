"""Small bundles for tests: a round of two players, a part of its table's stream, and ways to change them."""

from __future__ import annotations

import copy
import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import jsonschema

from rules_core.canonical import canonical_bytes, parse_canonical
from rules_core.log.bundle import Bundle, Recorded, bundle_bytes, recorded, stream_part, withhold_for
from rules_core.log.content import Content, content_bytes, round_stream

Json = dict[str, Any]
ROUND = round_stream("t-42", 7)
TABLE = "table-t-42"
SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "bundle.schema.json").read_text(encoding="utf-8"))


def event(number: int, kind: str, *, stream: str = ROUND, player: str | None = None) -> Recorded:
    """Record an event: a player's own, or one of the table's."""
    return recorded(
        content_bytes(
            Content(
                event_id=f"019b76da-a800-7abc-8def-{number:012x}",
                type=kind,
                version=1,
                stream=stream,
                recorded_at=f"2026-01-01T00:00:{number % 60:02}.000001Z",
                correlation_id="c-0001",
                causation_id=None if number == 1 else "019b76da-a800-7abc-8def-000000000001",
                actor="system" if player is None else f"player:{player}",
                salt=sha256(bytes([number])).hexdigest()[:32],
                payload={"number": number}
                if player is None
                else {"player": player, "note": "\u20bd \U0001f0a1"},
            )
        )
    )


EVENTS = (
    event(1, "RoundOpened"),
    event(2, "BetPlaced", player="ann"),
    event(3, "BetPlaced", player="bob"),
    event(4, "BettingClosed"),
    event(5, "PlayerSettled", player="ann"),
    event(6, "PlayerSettled", player="bob"),
    event(7, "RoundSettled"),
)
TABLE_EVENTS = (event(101, "ShiftStarted", stream=TABLE), event(102, "DeckVerified", stream=TABLE))
TABLE_PART = stream_part(TABLE, TABLE_EVENTS, first_position=12, prev_hash=b"\x05" * 32)
WHOLE = Bundle(None, 1, {"id": "my-house@1", "boxes": 6}, stream_part(ROUND, EVENTS), (TABLE_PART,))
FOR_ANN = withhold_for(WHOLE, "ann")


def as_json(bundle: Bundle) -> Json:
    """Give a bundle as the object that stands in its file."""
    value = parse_canonical(bundle_bytes(bundle))
    assert isinstance(value, dict)
    return value


def sealed(value: Json) -> bytes:
    """Write a bundle's object with a sha256 that is true of it, as a careful forger would."""
    rest = {key: item for key, item in value.items() if key != "sha256"}
    return canonical_bytes({**value, "sha256": sha256(canonical_bytes(rest)).hexdigest()})


def schema_refusals(value: Json) -> list[str]:
    """Say what the published schema refuses in a bundle's object."""
    return [error.message for error in jsonschema.Draft202012Validator(SCHEMA).iter_errors(value)]


def steps_of(path: str) -> list[str | int]:
    """Take `round.events.2.content` apart."""
    return [int(step) if step.isdigit() else step for step in path.split(".")]


def put(value: Json, path: str, new: object) -> Json:
    """Copy an object with another value at a path."""
    changed = copy.deepcopy(value)
    holder: Any = changed
    *steps, last = steps_of(path)
    for step in steps:
        holder = holder[step]
    holder[last] = new
    return changed


def cut(value: Json, path: str) -> Json:
    """Copy an object without the member at a path."""
    changed = copy.deepcopy(value)
    holder: Any = changed
    *steps, last = steps_of(path)
    for step in steps:
        holder = holder[step]
    del holder[last]
    return changed


def places(value: object, path: str = "") -> list[str]:
    """List the paths of everything inside a value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = []
    for step, item in inner:
        found += [f"{path}{step}", *places(item, f"{path}{step}.")]
    return found
