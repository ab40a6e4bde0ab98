"""Events as they are recorded: canonical content with an id, a time and a salt of its own."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from eventstore import NewEvent
from eventstore.ids import new_event_id
from rules_core.log.content import Content, content_bytes
from rules_core.round.codec import codec_of
from upcard_bonus.domain.events import EVENT_TYPES, BonusEvent


def _utc_now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)


@dataclass(frozen=True, slots=True)
class Origin:
    """Who acts, and what led to it; it goes into the events."""

    actor: str
    """`staff:<id>`, `platform` or `system`."""
    correlation_id: str
    causation_id: str | None = None
    """The event of another service that led to it: its id."""


@dataclass(frozen=True, slots=True)
class Recorder:
    """Makes events; a test gives it a clock, ids and salts of its own."""

    now: Callable[[], dt.datetime] = _utc_now
    new_id: Callable[[], UUID] = new_event_id
    random: Callable[[int], bytes] = os.urandom

    def event(self, stream: str, event: BonusEvent, origin: Origin) -> NewEvent:
        """One event of a stream, ready to be appended."""
        name = type(event).__name__
        version, kind = EVENT_TYPES[name]
        made = self.new_id()
        content = Content(
            event_id=str(made),
            type=name,
            version=version,
            stream=stream,
            recorded_at=instant_text(self.now()),
            correlation_id=origin.correlation_id,
            causation_id=origin.causation_id,
            actor=origin.actor,
            salt=self.random(16).hex(),
            payload=codec_of(kind).encode(event),
        )
        return NewEvent(made, name, content_bytes(content))


def instant_text(moment: dt.datetime) -> str:
    """A moment as events write it, `YYYY-MM-DDThh:mm:ss.ffffffZ`."""
    return f"{moment.astimezone(dt.UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


def moment_of(instant: str) -> dt.datetime:
    """The moment that an event's text means."""
    return dt.datetime.fromisoformat(instant)


def decode(name: str, version: int, payload: object) -> BonusEvent:
    """An event of its payload. Raises KeyError (no such type or version), rules_core's PayloadError."""
    known, kind = EVENT_TYPES[name]
    if version != known:
        raise KeyError((name, version))
    decoded: BonusEvent = codec_of(kind).decode(payload)
    return decoded
