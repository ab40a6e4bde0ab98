"""The content of an event: ten keys, and the canonical bytes that are kept of them (CONTRACTS.md section 2).

The payload is a plain object here; what is in it is the business of whoever owns the event's type.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256
from operator import itemgetter

from rules_core.canonical import InvalidJson, NotCanonical, canonical_bytes, parse_canonical
from rules_core.round.times import INSTANT

SHARDS = 64
"""Shards of a service's log; fixed for ever, since a stream's shard follows from its name."""

_OPAQUE_ID = "[A-Za-z0-9_-]{1,64}"
_NUMBER = "[1-9][0-9]{0,15}"
_STREAM = (
    rf"(?:round|bonus)-{_OPAQUE_ID}\.{_NUMBER}"
    rf"|(?:table|account|jackpot|freebet|dispute|session|partner|staff)-{_OPAQUE_ID}"
    rf"|ruleset-{_OPAQUE_ID}(?:@{_NUMBER})?"
)
_is_opaque_id = re.compile(_OPAQUE_ID).fullmatch
_is_stream = re.compile(_STREAM).fullmatch
_TEXTS = (
    ("event_id", "UUIDv7", "[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"),
    ("type", "event type", "[A-Z][A-Za-z0-9]{0,63}"),
    ("stream", "stream name", _STREAM),
    ("recorded_at", "instant YYYY-MM-DDThh:mm:ss.ffffffZ", INSTANT),
    ("correlation_id", "opaque id", _OPAQUE_ID),
    ("actor", "actor", rf"(?:player|dealer|staff):{_OPAQUE_ID}|platform|system"),
    ("salt", "32 hex digits", "[0-9a-f]{32}"),
)
_texts_of = itemgetter(*(key for key, _, _ in _TEXTS))
# All of them at once, a line each: no pattern takes a line feed, so seven lines are the seven texts.
_are_right = re.compile("\n".join(f"(?:{pattern})" for _, _, pattern in _TEXTS)).fullmatch


class InvalidContent(ValueError):
    """A content, or the bytes of one, against CONTRACTS.md section 2; the message says what and where."""


@dataclass(frozen=True, slots=True)
class Content:
    """One event as it is recorded, whatever its type."""

    event_id: str
    """UUIDv7, lower case."""
    type: str
    """Name of the event's type, for example `BetPlaced`."""
    version: int
    """Version of that type's payload, from 1."""
    stream: str
    recorded_at: str
    """`YYYY-MM-DDThh:mm:ss.ffffffZ`; such texts sort as the instants do."""
    correlation_id: str
    causation_id: str | None
    actor: str
    """`player:<id>`, `dealer:<id>`, `staff:<id>`, `platform` (decided for a player) or `system`."""
    salt: str
    """16 random bytes as 32 hex digits: without them nothing can be guessed from the content's hash."""
    payload: dict[str, object]


_KEYS = Content.__slots__
_KEY_SET = frozenset(_KEYS)
_values_of = itemgetter(*_KEYS)


def content_bytes(content: Content) -> bytes:
    """Write the canonical bytes of a content, which are stored and never made again.

    Raises InvalidContent rather than write what parse_content would refuse.
    """
    members = {key: getattr(content, key) for key in _KEYS}
    _check(members, "$")
    try:
        return canonical_bytes(members)
    except NotCanonical as error:
        raise InvalidContent(str(error)) from None


def parse_content(data: bytes) -> Content:
    """Read the bytes of a content; raises InvalidContent for any that content_bytes cannot have written."""
    try:
        members = parse_canonical(data)
    except InvalidJson as error:
        raise InvalidContent(str(error)) from None
    return content_of(members)


def content_of(members: object, at: str = "$") -> Content:
    """Take a content from its parsed JSON; `at` is where that stands, for messages.

    Raises InvalidContent with what is wrong and where.
    """
    if type(members) is not dict:
        raise InvalidContent(f"no object at {at}")
    if members.keys() != _KEY_SET:
        raise InvalidContent(f"{_wrong_keys(members)} at {at}")
    _check(members, at)
    return Content(*_values_of(members))


def is_stream(name: str) -> bool:
    """Tell whether `name` can be the name of a stream (CONTRACTS.md section 2, Streams)."""
    return _is_stream(name) is not None


def is_opaque_id(text: str) -> bool:
    """Tell whether `text` can be an opaque id: 1 to 64 letters, digits, hyphens and underscores."""
    return _is_opaque_id(text) is not None


def round_stream(table: str, number: int) -> str:
    """Name the stream of a table's round; rounds count from 1. Raises ValueError for an impossible name."""
    name = f"round-{table}.{number}"
    if not _is_stream(name):
        raise ValueError(f"{name!r} names no stream")
    return name


def shard_of(stream: str) -> int:
    """Find the shard, 0..63, of a stream: the first 8 bytes of its name's SHA-256, big-endian, mod 64."""
    return int.from_bytes(sha256(stream.encode()).digest()[:8], "big") % SHARDS


def _check(members: dict[str, object], at: str) -> None:
    try:
        right = _are_right("\n".join(_texts_of(members)))
    except TypeError:  # not even a text
        right = None
    if not right:
        raise InvalidContent(_wrong_text(members, at))
    version, causation_id = members["version"], members["causation_id"]
    if type(version) is not int or version < 1:
        raise InvalidContent(f"no version of 1 or more at {at}.version")
    if causation_id is not None and (type(causation_id) is not str or not _is_opaque_id(causation_id)):
        raise InvalidContent(f"no opaque id or null at {at}.causation_id")
    if type(members["payload"]) is not dict:
        raise InvalidContent(f"no object at {at}.payload")


def _wrong_text(members: dict[str, object], at: str) -> str:
    key, meaning = next(
        (key, meaning)
        for key, meaning, pattern in _TEXTS
        if not isinstance(members[key], str) or not re.fullmatch(pattern, str(members[key]))
    )
    return f"no {meaning} at {at}.{key}"


def _wrong_keys(members: dict[str, object]) -> str:
    missing = [key for key in _KEYS if key not in members]
    if missing:
        return f"missing {', '.join(missing)}"
    return f"{len(members) - len(_KEYS)} unknown keys"
