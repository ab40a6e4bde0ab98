"""Events and states as plain JSON: the payloads of the table's stream, and what a snapshot keeps."""

from __future__ import annotations

from typing import Final

from rules_core.round.codec import Payload, PayloadError, codec_of
from upcard_table.domain.events import EVENT_TYPES, TableEvent
from upcard_table.domain.state import TableState

STATE_VERSION: Final = 1
"""Changes whenever `evolve`, the state's form or their meaning does: others' snapshots are not looked at."""

_NAMES: Final = {kind: name for name, (_, kind) in EVENT_TYPES.items()}


def payload_of(event: TableEvent) -> Payload:
    """The payload of an event; a field that holds its default is left out."""
    return codec_of(type(event)).encode(event)


def version_of(event: TableEvent) -> int:
    """The version that is written of this event's type."""
    return EVENT_TYPES[_NAMES[type(event)]][0]


def event_of(name: str, version: int, payload: object) -> TableEvent:
    """The event of a payload. Raises PayloadError: what is wrong, by its path."""
    known = EVENT_TYPES.get(name)
    if known is None:
        raise PayloadError("type", f"{name!r} is not an event of a table")
    if version != known[0]:
        raise PayloadError("version", f"version {version} of {name} is not known here")
    event: TableEvent = codec_of(known[1]).decode(payload)
    return event


def state_payload(state: TableState) -> Payload:
    """A state as JSON. It holds nothing that is secret."""
    return codec_of(TableState).encode(state)


def state_of(payload: object) -> TableState:
    """The state of its JSON. Raises PayloadError."""
    state: TableState = codec_of(TableState).decode(payload)
    return state
