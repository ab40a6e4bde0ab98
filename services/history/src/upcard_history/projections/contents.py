"""Reading contents for a view: what a newer program wrote stops it, instead of being guessed or parked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from eventstore import RecordedEvent
from eventstore.following import HandlerUnfit
from rules_core.log.content import Content, parse_content
from rules_core.round.codec import VERSIONS, PayloadError, event_of
from rules_core.round.events import RoundEvent


class EventIsNewer(HandlerUnfit):
    """An event is newer than this program: history is upgraded before the service that writes such ones."""

    slug = "event_is_newer"


def content_of(event: RecordedEvent, versions: Mapping[str, int]) -> Content | None:
    """What an event says; None: its type is not among `versions`. Raises EventIsNewer, InvalidContent."""
    known = versions.get(event.type)
    if known is None:
        return None
    content = parse_content(event.content)
    if content.version > known:
        raise EventIsNewer(
            f"{content.type} has version {content.version}, and this history knows {known}: upgrade it"
        )
    return content


def round_events(events: Iterable[RecordedEvent]) -> Iterator[tuple[str, int, str, RoundEvent]]:
    """Round, position, time of recording and event of each event of a round. Raises PayloadError."""
    for recorded in events:
        if not recorded.stream.startswith("round-"):
            continue
        content = content_of(recorded, VERSIONS)
        if content is None:
            raise EventIsNewer(f"{recorded.type} is not known to this history: upgrade it")
        try:
            event = event_of(content.type, content.version, content.payload)
        except PayloadError as error:
            raise error.inside(content.type) from None
        round_name = recorded.stream.removeprefix("round-")
        yield round_name, recorded.stream_position, content.recorded_at, event
