"""Reading a bundle: what it is, and everything in it that is wrong before its round is even replayed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from typing import cast

from rules_core.canonical import InvalidJson, canonical_bytes_of_parsed, parse_canonical, parse_unchecked
from rules_core.log.bundle import (
    BUNDLE_VERSION,
    Bundle,
    Recorded,
    StreamPart,
    array_bytes,
    last_hash,
    object_bytes,
    part_bytes,
)
from rules_core.log.chain import Withheld, first_prev_hash
from rules_core.log.content import InvalidContent, content_of, is_opaque_id, is_stream

MARKS_MAX = 8_000_000
"""Most commas, colons and opening brackets of a file, which bound its values and so the memory to read it.

A round of 10,000 players has a little more than half as many.
"""
PROBLEMS_MAX = 20
"""Most problems reported of one bundle: enough to see what is wrong with it."""

_BUNDLE_KEYS = frozenset(
    (
        "bundle_version",
        "for",
        "engine",
        "ruleset",
        "round",
        "streams",
        "proofs",
        "checkpoint",
        "keys",
        "sha256",
    )
)
_PART_KEYS = frozenset(("stream", "first_position", "prev_hash", "events", "hash"))
_EMPTY: tuple[tuple[str, object], ...] = (("proofs", []), ("checkpoint", None), ("keys", []))
# Canonical JSON sorts keys: a bundle of whatever version begins with these bytes.
_BEGINNING = b'{"bundle_version":'
_is_digest = re.compile("[0-9a-f]{64}").fullmatch


class UnreadableBundle(ValueError):
    """Bytes that are no bundle at all: not canonical JSON, not a bundle's keys, or an unknown version."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong in a bundle."""

    code: str
    """A stable slug."""
    message: str
    """What is wrong, and where in the file, such as `$.round.events[3].content`."""


def parse_bundle(data: bytes) -> tuple[Bundle | None, list[Problem]]:
    """Read a bundle's file; gives at most PROBLEMS_MAX problems, and no Bundle where its shape is broken.

    Checked here: shapes, the file's sha256, the chain of each part, each event's content, and that nothing is
    withheld that may not be. Raises UnreadableBundle for bytes that are not a bundle of a known version; at
    once, with nothing parsed, where they do not begin as a bundle does.
    """
    if not data.startswith(_BEGINNING):
        raise UnreadableBundle(f"not a bundle: it does not begin with {_BEGINNING.decode()}")
    if len(data) > MARKS_MAX and sum(map(data.count, (b",", b":", b"[", b"{"))) > MARKS_MAX:
        raise UnreadableBundle(f"not a bundle: more than {MARKS_MAX} commas, colons and brackets")
    read = _at_once(data)
    if read is not None:
        members, bundle = read
        found = _sealed_wrongly(data, members)
    else:
        members = _members(data)
        found = _sealed_wrongly(data, members)
        try:
            bundle = _bundle(members)
        except _WrongShape as error:
            return None, [*found, Problem("wrong_shape", str(error))]
        except InvalidContent as error:
            return None, [*found, Problem("content_invalid", str(error))]
    found.extend(islice(_wrong_in(members, bundle), PROBLEMS_MAX - len(found)))
    return bundle, found


def _at_once(data: bytes) -> tuple[dict[str, object], Bundle] | None:
    """Read a file that is a bundle of the right shape in canonical JSON; None where it has to be read slowly.

    Each event is written anew for its hash in any case: put together, those are the canonical file.
    """
    try:
        members = parse_unchecked(data)
        if type(members) is not dict or members.keys() != _BUNDLE_KEYS:
            return None
        if members["bundle_version"] != BUNDLE_VERSION or type(members["bundle_version"]) is not int:
            return None
        bundle = _bundle(members)
        same = _written(members, bundle) == data
    except (InvalidJson, InvalidContent, _WrongShape, TypeError, UnicodeEncodeError):
        return None
    return (members, bundle) if same else None


def _written(members: dict[str, object], bundle: Bundle) -> bytes:
    parts = {
        "round": part_bytes(bundle.round),
        "streams": array_bytes(part_bytes(part) for part in bundle.streams),
    }
    rest = {key: canonical_bytes_of_parsed(item) for key, item in members.items() if key not in parts}
    return object_bytes({**rest, **parts})


def _sealed_wrongly(data: bytes, members: dict[str, object]) -> list[Problem]:
    if members["sha256"] == _seal(data, members):
        return []
    return [Problem("sha256_wrong", "the SHA-256 of this bundle without its sha256 is not $.sha256")]


class _WrongShape(ValueError):
    """A value of a kind that no bundle has there."""


def _members(data: bytes) -> dict[str, object]:
    try:
        # What begins with a brace is an object.
        members = cast("dict[str, object]", parse_canonical(data))
    except InvalidJson as error:
        raise UnreadableBundle(f"not canonical JSON: {error}") from None
    version = members["bundle_version"]
    if type(version) is not int or version != BUNDLE_VERSION:
        raise UnreadableBundle(f"unknown version: bundle_version is not {BUNDLE_VERSION}")
    if members.keys() != _BUNDLE_KEYS:
        raise UnreadableBundle(f"not a bundle: its keys are not {', '.join(sorted(_BUNDLE_KEYS))}")
    return members


def _seal(data: bytes, members: dict[str, object]) -> str:
    # In canonical JSON `sha256` stands right before `streams`, which is last: it can be cut out where it is,
    # and the rest need not be written again.
    end = len(data) - len(canonical_bytes_of_parsed({"streams": members["streams"]}))
    start = end - len(canonical_bytes_of_parsed({"sha256": members["sha256"]})) + 1
    return sha256(data[:start] + data[end:]).hexdigest()


def _bundle(members: dict[str, object]) -> Bundle:
    player, engine, ruleset = members["for"], members["engine"], members["ruleset"]
    if player is not None and not (type(player) is str and is_opaque_id(player)):
        raise _WrongShape("no player's id or null at $.for")
    if type(ruleset) is not dict:
        raise _WrongShape("no object at $.ruleset")
    streams = _array(members["streams"], "$.streams")
    return Bundle(
        player=player,
        engine=_positive(engine, "$.engine"),
        ruleset=ruleset,
        round=_part(members["round"], "$.round"),
        streams=tuple(_part(part, f"$.streams[{index}]") for index, part in enumerate(streams)),
    )


def _part(value: object, at: str) -> StreamPart:
    if type(value) is not dict or value.keys() != _PART_KEYS:
        raise _WrongShape(f"no object with {', '.join(sorted(_PART_KEYS))} at {at}")
    stream = value["stream"]
    if type(stream) is not str or not is_stream(stream):
        raise _WrongShape(f"no stream name at {at}.stream")
    events = _array(value["events"], f"{at}.events")
    if not events:
        raise _WrongShape(f"no event at {at}.events")
    return StreamPart(
        stream=stream,
        first_position=_positive(value["first_position"], f"{at}.first_position"),
        prev_hash=_digest(value["prev_hash"], f"{at}.prev_hash"),
        events=tuple(_event(event, f"{at}.events[{index}]") for index, event in enumerate(events)),
        hash=_digest(value["hash"], f"{at}.hash"),
    )


def _event(value: object, at: str) -> Recorded | Withheld:
    if type(value) is dict and len(value) == 1:
        if "content" in value:
            members = value["content"]
            content = content_of(members, f"{at}.content")
            # The file is canonical, so these are the very bytes that stand in it.
            return Recorded(canonical_bytes_of_parsed(members), content)
        if "content_hash" in value:
            return Withheld(_digest(value["content_hash"], f"{at}.content_hash"))
    raise _WrongShape(f"no object with either content or content_hash at {at}")


def _array(value: object, at: str) -> list[object]:
    if type(value) is not list:
        raise _WrongShape(f"no array at {at}")
    return value


def _positive(value: object, at: str) -> int:
    if type(value) is not int or value < 1:
        raise _WrongShape(f"no integer of 1 or more at {at}")
    return value


def _digest(value: object, at: str) -> bytes:
    if type(value) is not str or not _is_digest(value):
        raise _WrongShape(f"no SHA-256 in lower-case hex at {at}")
    return bytes.fromhex(value)


def _wrong_in(members: dict[str, object], bundle: Bundle) -> Iterator[Problem]:
    for key, empty in _EMPTY:
        if members[key] != empty:
            yield Problem("not_checkable", f"not the only value known here, {json.dumps(empty)}, at $.{key}")
    if not bundle.round.stream.startswith("round-"):
        yield Problem("not_a_round", "no stream of a round at $.round.stream")
    if bundle.round.first_position != 1:
        yield Problem("not_whole", "not 1 at $.round.first_position")
    seen: set[str] = set()
    yield from _wrong_in_part(bundle.round, "$.round", bundle.player, seen)
    for index, part in enumerate(bundle.streams):
        if part.stream == bundle.round.stream:
            yield Problem("stream_repeated", f"the round's own stream at $.streams[{index}].stream")
        yield from _wrong_in_part(part, f"$.streams[{index}]", bundle.player, seen)


def _wrong_in_part(part: StreamPart, at: str, player: str | None, seen: set[str]) -> Iterator[Problem]:
    if part.first_position == 1 and part.prev_hash != first_prev_hash(part.stream):
        yield Problem("chain_broken", f"not the SHA-256 of the stream's name at {at}.prev_hash")
    if part.hash != last_hash(part.prev_hash, part.first_position, part.events):
        yield Problem("chain_broken", f"not the hash of the last event at {at}.hash")
    may_withhold = player is not None and part.stream.startswith("round-")
    for index, event in enumerate(part.events):
        if isinstance(event, Withheld):
            if not may_withhold:
                yield Problem("withheld", f"nothing may be withheld at {at}.events[{index}]")
            continue
        if event.content.stream != part.stream:
            yield Problem(
                "wrong_stream", f"an event of another stream at {at}.events[{index}].content.stream"
            )
        if event.content.event_id in seen:
            yield Problem("event_repeated", f"an id seen before at {at}.events[{index}].content.event_id")
        seen.add(event.content.event_id)
