"""What an append must be before it is sent anywhere: a wrong one never reaches the batch of others."""

from collections.abc import Sequence

from eventstore.errors import InvalidAppend
from eventstore.events import Expect, StreamAppend
from eventstore.streams import (
    MAX_EVENT_BYTES,
    MAX_PRIVATE_BYTES,
    MAX_STREAM_LENGTH,
    MAX_TYPE_LENGTH,
    SHARDS,
)

MAX_APPEND_EVENTS = 10_000
"""Most events of one append, over all its streams."""

MAX_APPEND_BYTES = 64_000_000
"""Most bytes of content of one append."""

LARGEST_PAGE_EVENTS = 10_000
"""Most events that are read at once."""

_LARGEST_POSITION = 2**63 - 1


def check_appends(appends: Sequence[StreamAppend]) -> None:
    """Raise InvalidAppend unless these can be stored, given that the streams are where they are expected."""
    if len(appends) == 1 and _is_one_event(appends[0]):
        return  # the most frequent append of all
    if not appends:
        raise InvalidAppend("an append names at least one stream")
    if len({one.stream for one in appends}) < len(appends):
        raise InvalidAppend("an append names each stream once")
    for one in appends:
        _check_stream(one)
    events = [event for one in appends for event in one.events]
    if len(events) > MAX_APPEND_EVENTS:
        raise InvalidAppend(f"{len(events)} events in one append; at most {MAX_APPEND_EVENTS}")
    if len({event.event_id.int for event in events}) < len(events):  # integers: a UUID's own hash is slow
        raise InvalidAppend("an append has each event id once")
    # Sets and generators, not a function an event: this is on the way of each append.
    for event_type in {event.type for event in events}:
        _check_name("type", event_type, MAX_TYPE_LENGTH)
    sizes_bytes = [len(event.content) for event in events]
    if min(sizes_bytes) < 1 or max(sizes_bytes) > MAX_EVENT_BYTES:
        raise InvalidAppend(
            f"a content has 1 to {MAX_EVENT_BYTES} bytes, not {min(sizes_bytes)} or {max(sizes_bytes)}"
        )
    if sum(sizes_bytes) > MAX_APPEND_BYTES:
        raise InvalidAppend(f"{sum(sizes_bytes)} bytes in one append; at most {MAX_APPEND_BYTES}")


def _is_one_event(one: StreamAppend) -> bool:
    # Checks it wholly if it is; if not, what is wrong with it is said elsewhere.
    if len(one.events) != 1:
        return False
    (event,) = one.events
    _check_stream(one)
    _check_name("type", event.type, MAX_TYPE_LENGTH)
    return 0 < len(event.content) <= MAX_EVENT_BYTES


def check_page(position: int, limit: int) -> None:
    """Raise ValueError unless a page of so many events can be read from this position."""
    if not 0 <= position <= _LARGEST_POSITION - LARGEST_PAGE_EVENTS:
        raise ValueError(f"a position is 0 or more, not {position}")
    if not 0 < limit <= LARGEST_PAGE_EVENTS:
        raise ValueError(f"a page has 1 to {LARGEST_PAGE_EVENTS} events, not {limit}")


def check_shard(shard: int) -> None:
    """Raise ValueError unless there is such a shard."""
    if not 0 <= shard < SHARDS:
        raise ValueError(f"a shard is 0 to {SHARDS - 1}, not {shard}")


def _check_stream(one: StreamAppend) -> None:
    _check_name("stream", one.stream, MAX_STREAM_LENGTH)
    if not isinstance(one.expected, Expect) and not 0 <= one.expected <= _LARGEST_POSITION:
        raise InvalidAppend(f"stream {one.stream}: a position is 0 to 2^63 - 1, not {one.expected}")
    if not one.events:
        raise InvalidAppend(f"stream {one.stream}: no events")
    longest_private = max(
        (len(event.private) for event in one.events if event.private is not None), default=None
    )
    if longest_private is None:
        return
    if longest_private > MAX_PRIVATE_BYTES:
        raise InvalidAppend(f"stream {one.stream}: a private part has more than {MAX_PRIVATE_BYTES} bytes")
    if one.expected in (Expect.ANY, Expect.EXISTS):
        # Its position is sealed into it, so it has to be known beforehand.
        raise InvalidAppend(f"stream {one.stream}: a private part needs an exact expected position")


def _check_name(what: str, name: str, longest: int) -> None:
    # Also keeps out what PostgreSQL cannot store (NUL) or UTF-8 cannot say (lone surrogates).
    if not 0 < len(name) <= longest or not name.isprintable():
        raise InvalidAppend(f"a {what} is 1 to {longest} printable characters, not {name[:longest]!r}")
