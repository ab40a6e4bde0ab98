"""Events as they are recorded: canonical content with an id and a salt of its own."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from eventstore import NewEvent
from eventstore.ids import new_event_id
from rules_core.log.content import Content, content_bytes


@dataclass(frozen=True, slots=True)
class Traced:
    """What the content of an event says of the command behind it."""

    actor: str
    correlation_id: str
    causation_id: str | None


@dataclass(frozen=True, slots=True)
class Recorder:
    """Makes events; a test gives it ids and salts of its own."""

    new_id: Callable[[int], UUID] = new_event_id
    """Makes an id at so many milliseconds after 1970."""
    random: Callable[[int], bytes] = os.urandom

    def event(  # noqa: PLR0913 - the keys of a content
        self,
        stream: str,
        name: str,
        version: int,
        payload: dict[str, Any],
        *,
        at: str,
        at_us: int,
        traced: Traced,
        private: bytes | None = None,
    ) -> NewEvent:
        """One event of a stream, ready to be appended. `at`: when, as text; `at_us`: the same instant."""
        made = self.new_id(at_us // 1_000)
        content = Content(
            event_id=str(made),
            type=name,
            version=version,
            stream=stream,
            recorded_at=at,
            correlation_id=traced.correlation_id,
            causation_id=traced.causation_id,
            actor=traced.actor,
            salt=self.random(16).hex(),
            payload=payload,
        )
        return NewEvent(made, name, content_bytes(content), private)
