"""What a dead letter looks like in Kafka: the event's own record, with its failure in more headers."""

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Final

from eventstore.following import DeadLetter
from messaging.envelope import EnvelopeInvalid, Headers, decode, headers_of

UNKNOWN_EPOCH: Final = 0
"""The epoch in a dead letter: which one the event was published in is not known any more."""

FAILURE_NAMES: Final = frozenset(
    {
        "failure-follower",
        "failure-reason",
        "failure-error",
        "failure-attempts",
        "failure-since",
        "failure-at",
    }
)
"""The headers that say what failed: who could not apply it, why (a slug, a sentence), in how many tries,
since when its stream is parked, and when it last failed."""


class NoDeadLetter(ValueError):
    """A record of a topic of dead letters is none."""

    slug: ClassVar[str] = "no_dead_letter"


@dataclass(frozen=True, slots=True)
class Failure:
    """A dead letter as it is read back."""

    follower: str
    service: str
    stream: str
    stream_position: int
    type: str
    reason: str
    error: str
    attempts: int
    since: dt.datetime
    failed_at: dt.datetime


def dead_letter_headers(letter: DeadLetter, follower: str, service: str) -> Headers:
    """All headers of a dead letter's record."""
    return [
        *headers_of(letter.event, service, UNKNOWN_EPOCH),
        ("failure-follower", follower.encode()),
        ("failure-reason", letter.reason.encode()),
        ("failure-error", letter.error.encode()),
        ("failure-attempts", b"%d" % letter.attempts),
        ("failure-since", letter.since.isoformat().encode()),
        ("failure-at", letter.failed_at.isoformat().encode()),
    ]


def read_dead_letter(
    *,
    service: str,
    partition: int,
    key: bytes | None,
    value: bytes | None,
    headers: Iterable[tuple[str, bytes | None]],
) -> Failure:
    """Read a record of a topic of dead letters. Raises NoDeadLetter."""
    kept = list(headers)
    said = {name: text for name, text in kept if name in FAILURE_NAMES and text is not None}
    try:
        found = decode(service=service, partition=partition, key=key, value=value, headers=kept)
        texts = {name: said[name].decode() for name in FAILURE_NAMES}
        return Failure(
            texts["failure-follower"],
            service,
            found.event.stream,
            found.event.stream_position,
            found.event.type,
            texts["failure-reason"],
            texts["failure-error"],
            int(texts["failure-attempts"]),
            dt.datetime.fromisoformat(texts["failure-since"]),
            dt.datetime.fromisoformat(texts["failure-at"]),
        )
    except EnvelopeInvalid as error:
        raise NoDeadLetter(str(error)) from error
    except (KeyError, ValueError) as error:
        raise NoDeadLetter(f"its failure cannot be read: {error}") from error
