"""Events of the gateway as they are recorded: canonical content with an id, a time and a salt of its own."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from eventstore import NewEvent, RecordedEvent
from eventstore.ids import new_event_id
from rules_core.log.content import Content, content_bytes, parse_content
from rules_core.round.codec import codec_of

__all__ = ["EventTypes", "Recorder", "decode"]

EventTypes = Mapping[str, tuple[int, type[Any]]]
"""Types of events by name, with the version that is written: `EVENT_TYPES` of a module of the domain."""


def _utc_now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)


@dataclass(frozen=True, slots=True)
class Recorder:
    """Makes events of these types; a test gives it a clock, ids and salts of its own."""

    types: EventTypes
    now: Callable[[], dt.datetime] = _utc_now
    new_id: Callable[[], UUID] = new_event_id
    random: Callable[[int], bytes] = os.urandom

    def event(
        self,
        stream: str,
        event: object,
        *,
        actor: str,
        correlation_id: str,
        causation_id: str | None = None,
    ) -> NewEvent:
        """One event of a stream, ready to be appended. Raises KeyError for another type."""
        name = type(event).__name__
        version, kind = self.types[name]
        made = self.new_id()
        content = Content(
            event_id=str(made),
            type=name,
            version=version,
            stream=stream,
            recorded_at=self.now().astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            correlation_id=correlation_id,
            causation_id=causation_id,
            actor=actor,
            salt=self.random(16).hex(),
            payload=codec_of(kind).encode(event),
        )
        return NewEvent(made, name, content_bytes(content))


def decode(types: EventTypes, recorded: RecordedEvent) -> Any:  # noqa: ANN401 - one of the types
    """An event out of the log. Raises KeyError (no such type or version), rules_core's PayloadError."""
    content = parse_content(recorded.content)
    version, kind = types[content.type]
    if content.version != version:
        raise KeyError((content.type, content.version))
    return codec_of(kind).decode(content.payload)
