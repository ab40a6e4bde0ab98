"""Reading the content of other services' events."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from eventstore import RecordedEvent
from eventstore.following import HandlerUnfit
from rules_core.log.content import Content, parse_content
from rules_core.round.codec import PayloadError

T = TypeVar("T")


class EventIsNewer(HandlerUnfit):
    """An event has a version that this program does not know: it must not be guessed, nor parked.

    The service is upgraded before the one that writes such events; until then it stands still and says so.
    """

    slug = "event_is_newer"


def content_of(event: RecordedEvent) -> Content:
    """What an event says. Raises InvalidContent."""
    return parse_content(event.content)


def known(content: Content, version: int) -> None:
    """Raise EventIsNewer for a version after this one."""
    if content.version > version:
        raise EventIsNewer(
            f"{content.type} has version {content.version}, and this wallet knows {version}: upgrade it"
        )


def decoded(content: Content, read: Callable[[dict[str, object]], T]) -> T:
    """The payload as a value. Raises PayloadError, which says whose payload it is."""
    try:
        return read(content.payload)
    except PayloadError as error:
        raise error.inside(content.type) from None
