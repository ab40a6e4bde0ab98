"""The table's events: rounds that are staked, dealt, settled, cancelled, corrected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from eventstore import EventFilter, RecordedEvent, StreamAppend
from eventstore.following import Handler, HandlerUnfit
from eventstore.postgres import Connection
from rules_core.log.content import parse_content
from rules_core.round.codec import VERSIONS, PayloadError, event_of
from upcard_bonus.app.bonus import BonusOffice
from upcard_bonus.app.follow_rounds import follow_rounds
from upcard_bonus.app.round_facts import FOLLOWED, RoundFact

TABLE_EVENTS: Final = EventFilter(categories=frozenset({"round"}), types=FOLLOWED)
"""Which of the table's events mean something here."""

_STREAM: Final = "round-"


class EventIsNewer(HandlerUnfit):
    """An event has a version that this program does not know: it must not be guessed, nor parked.

    The service is upgraded before the one that writes such events; until then it stands still and says so.
    """

    slug = "event_is_newer"


def table_handler(office: BonusOffice) -> Handler:
    """A handler of `eventstore.following`: what `app.follow_rounds` does, for recorded events."""

    async def handle(connection: Connection, events: Sequence[RecordedEvent]) -> Sequence[StreamAppend]:
        facts = [fact for event in events if (fact := fact_of(event)) is not None]
        return await follow_rounds(office, connection, facts)

    return handle


def fact_of(event: RecordedEvent) -> RoundFact | None:
    """What an event says; None where nothing follows. Raises EventIsNewer, InvalidContent, PayloadError."""
    if event.type not in FOLLOWED or not event.stream.startswith(_STREAM):
        return None
    content = parse_content(event.content)
    known = VERSIONS[content.type]
    if content.version > known:
        raise EventIsNewer(
            f"{content.type} has version {content.version}, and this service knows {known}: upgrade it"
        )
    try:
        decoded = event_of(content.type, content.version, content.payload)
    except PayloadError as error:
        raise error.inside(content.type) from None
    return RoundFact(
        event.stream.removeprefix(_STREAM), UUID(content.event_id), content.correlation_id, decoded
    )
