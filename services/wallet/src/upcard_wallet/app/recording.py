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
from upcard_wallet.domain.events import EVENT_TYPES, WalletEvent


def _utc_now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)


@dataclass(frozen=True, slots=True)
class Recorder:
    """Makes events; a test gives it a clock, ids and salts of its own."""

    now: Callable[[], dt.datetime] = _utc_now
    new_id: Callable[[], UUID] = new_event_id
    random: Callable[[int], bytes] = os.urandom

    def event(
        self,
        stream: str,
        event: WalletEvent,
        *,
        actor: str,
        correlation_id: str,
        causation_id: str | None,
        event_id: UUID | None = None,
    ) -> NewEvent:
        """One event of a stream, ready to be appended. `event_id`: where it was made before."""
        name = type(event).__name__
        version, kind = EVENT_TYPES[name]
        made = event_id or self.new_id()
        content = Content(
            event_id=str(made),
            type=name,
            version=version,
            stream=stream,
            recorded_at=f"{self.now().astimezone(dt.UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z",
            correlation_id=correlation_id,
            causation_id=causation_id,
            actor=actor,
            salt=self.random(16).hex(),
            payload=codec_of(kind).encode(event),
        )
        return NewEvent(made, name, content_bytes(content))


def decode(name: str, version: int, payload: object) -> WalletEvent:
    """An event of its payload. Raises KeyError (no such type or version), rules_core's PayloadError."""
    known, kind = EVENT_TYPES[name]
    if version != known:
        raise KeyError((name, version))
    decoded: WalletEvent = codec_of(kind).decode(payload)
    return decoded
