"""Reading a bundle: what makes it unreadable (exit 2) or wrong (exit 1), CONTRACTS.md sections 1 and 2."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_core.canonical import canonical_bytes
from rules_core.log.bundle import Bundle, bundle_bytes, stream_part
from rules_core.log.bundle_reading import MARKS_MAX, PROBLEMS_MAX, Problem, UnreadableBundle, parse_bundle
from rules_core.log.chain import chain, first_prev_hash
from tests.rules_core.bundles import (
    EVENTS,
    FOR_ANN,
    ROUND,
    TABLE,
    TABLE_EVENTS,
    TABLE_PART,
    WHOLE,
    as_json,
    cut,
    event,
    places,
    put,
    sealed,
    steps_of,
)

FILE = bundle_bytes(WHOLE)
OBJECT = as_json(WHOLE)


@pytest.mark.parametrize("bundle", [WHOLE, FOR_ANN, replace(WHOLE, streams=())])
def test_what_was_written_reads_back_without_a_problem(bundle: Bundle) -> None:
    assert parse_bundle(bundle_bytes(bundle)) == (bundle, [])


# ------------------------------------------------------------------------------------ unreadable

NO_BUNDLE = 'not a bundle: it does not begin with {"bundle_version":'
NOT_CANONICAL = "not canonical JSON: not canonical: differs from the canonical form at byte"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        *((data, NO_BUNDLE) for data in (
            b"", b"[]", b"{}", b'"bundle_version"', b" " + FILE, b"\xef\xbb\xbf" + FILE, FILE[1:],
            b'{"bundle_version"', b'{ "bundle_version":1}', b'{"bundle_versions":1}', b"\xff",
            b'{"a":0,' + FILE[1:], b"[" * 1000, b"[1.5]", json.dumps(OBJECT, indent=1).encode())),
        (b'{"bundle_version":', "not canonical JSON: Expecting value at byte 18"),
        (b'{"bundle_version":\xff', "not canonical JSON: not UTF-8 at byte 18"),
        (b'{"bundle_version":' + b"[" * 64 + b"]" * 64 + b"}",
         f"not canonical JSON: nested deeper than 64 levels at $.bundle_version{'[0]' * 63}"),
        (FILE + b"\n", f"{NOT_CANONICAL} {len(FILE)}"),
        (json.dumps(OBJECT, sort_keys=True, ensure_ascii=False).encode(), f"{NOT_CANONICAL} 18"),
        (FILE.replace(b'"engine":1', b'"engine":1.0'), "not canonical JSON: 1.0 is no integer at $.engine"),
        (FILE.replace(b'"engine":1', b'"engine":1,"engine":1'),
         'not canonical JSON: duplicate key "engine" at $'),
        (b'{"bundle_version":2}', "unknown version: bundle_version is not 1"),
        *((sealed({**OBJECT, "bundle_version": version}), "unknown version: bundle_version is not 1")
          for version in (2, 0, -1, "1", True, None, [1], "")),
    ],
    ids=range(31),
)  # fmt: skip
def test_unreadable_is_no_canonical_json_no_bundle_or_another_version(data: bytes, message: str) -> None:
    with pytest.raises(UnreadableBundle) as refusal:
        parse_bundle(data)
    assert str(refusal.value) == message


@pytest.mark.parametrize("key", sorted(OBJECT))
def test_unreadable_is_what_has_other_keys(key: str) -> None:
    fewer = cut(OBJECT, key)
    for value in (fewer, {**fewer, "note": 1}, {**OBJECT, "note": 1}):
        with pytest.raises(UnreadableBundle, match=r"^not a bundle: "):
            parse_bundle(canonical_bytes(value))


# ------------------------------------------------------------------------------------ wrong inside

PART = "no object with events, first_position, hash, prev_hash, stream"
EITHER = "no object with either content or content_hash"
WRONG_SHAPES: list[tuple[str, object, str]] = [
    ("for", 7, "no player's id or null at $.for"),
    ("for", "", "no player's id or null at $.for"),
    ("for", False, "no player's id or null at $.for"),
    ("engine", "1", "no integer of 1 or more at $.engine"),
    ("engine", 0, "no integer of 1 or more at $.engine"),
    ("engine", True, "no integer of 1 or more at $.engine"),
    ("ruleset", "my-house@1", "no object at $.ruleset"),
    ("streams", {}, "no array at $.streams"),
    ("streams", None, "no array at $.streams"),
    ("round", None, f"{PART} at $.round"),
    ("round", cut(OBJECT, "round.hash")["round"], f"{PART} at $.round"),
    ("round.more", 1, f"{PART} at $.round"),
    ("streams.0", 1, f"{PART} at $.streams[0]"),
    ("round.stream", 7, "no stream name at $.round.stream"),
    ("round.stream", "round-t-42", "no stream name at $.round.stream"),
    ("round.first_position", 0, "no integer of 1 or more at $.round.first_position"),
    ("round.first_position", True, "no integer of 1 or more at $.round.first_position"),
    ("round.prev_hash", None, "no SHA-256 in lower-case hex at $.round.prev_hash"),
    ("round.prev_hash", "", "no SHA-256 in lower-case hex at $.round.prev_hash"),
    ("round.hash", "A" * 64, "no SHA-256 in lower-case hex at $.round.hash"),
    ("streams.0.hash", "a" * 63, "no SHA-256 in lower-case hex at $.streams[0].hash"),
    ("round.events", {}, "no array at $.round.events"),
    ("round.events", [], "no event at $.round.events"),
    ("streams.0.events", [], "no event at $.streams[0].events"),
    ("round.events.0", {}, f"{EITHER} at $.round.events[0]"),
    ("round.events.0", 1, f"{EITHER} at $.round.events[0]"),
    ("round.events.1", {"hash": "a" * 64}, f"{EITHER} at $.round.events[1]"),
    ("round.events.1.content_hash", "a" * 64, f"{EITHER} at $.round.events[1]"),
    (
        "round.events.1",
        {"content_hash": "a"},
        "no SHA-256 in lower-case hex at $.round.events[1].content_hash",
    ),
]
WRONG_CONTENTS: list[tuple[str, object, str]] = [
    ("round.events.2.content", "x", "no object at $.round.events[2].content"),
    ("round.events.2.content", cut(OBJECT, "round.events.2.content.salt")["round"]["events"][2]["content"],
     "missing salt at $.round.events[2].content"),
    ("round.events.2.content.more", 1, "1 unknown keys at $.round.events[2].content"),
    ("streams.0.events.1.content.actor", "me", "no actor at $.streams[0].events[1].content.actor"),
    ("round.events.0.content.version", 0, "no version of 1 or more at $.round.events[0].content.version"),
    ("round.events.0.content.causation_id", "",
     "no opaque id or null at $.round.events[0].content.causation_id"),
    ("round.events.0.content.payload", None, "no object at $.round.events[0].content.payload"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "new", "message"), WRONG_SHAPES)
def test_wrong_types_inside_are_a_problem_not_unreadable(path: str, new: object, message: str) -> None:
    assert parse_bundle(sealed(put(OBJECT, path, new))) == (None, [Problem("wrong_shape", message)])


@pytest.mark.parametrize(("path", "new", "message"), WRONG_CONTENTS)
def test_an_invalid_content_is_a_problem(path: str, new: object, message: str) -> None:
    assert parse_bundle(sealed(put(OBJECT, path, new))) == (None, [Problem("content_invalid", message)])


def test_a_wrong_sha256_is_a_problem_whatever_else_there_is() -> None:
    problem = Problem("sha256_wrong", "the SHA-256 of this bundle without its sha256 is not $.sha256")
    others: list[object] = ["0" * 64, "", None, 7, [], {"sha256": OBJECT["sha256"]}]
    for wrong in others:
        assert parse_bundle(canonical_bytes({**OBJECT, "sha256": wrong})) == (WHOLE, [problem])
    for path, new, code in (
        ("engine", 0, "wrong_shape"),
        ("round.events.0.content", 1, "content_invalid"),
        ("keys", {}, "not_checkable"),
    ):
        _, problems = parse_bundle(canonical_bytes(put(OBJECT, path, new)))
        assert [each.code for each in problems] == ["sha256_wrong", code]


def check_problems(bundle: Bundle, *problems: Problem) -> None:
    assert parse_bundle(bundle_bytes(bundle)) == (bundle, list(problems))


@pytest.mark.parametrize(
    "events",
    [
        EVENTS[:-1],
        EVENTS[1:],
        (EVENTS[1], EVENTS[0], *EVENTS[2:]),
        (event(8, "RoundOpened"), *EVENTS[1:]),
    ],
    ids=["last dropped", "first dropped", "two swapped", "one replaced"],
)
def test_a_part_that_does_not_follow_its_chain_is_a_problem(events: Any) -> None:
    broken = replace(WHOLE, round=replace(WHOLE.round, events=tuple(events)))
    check_problems(broken, Problem("chain_broken", "not the hash of the last event at $.round.hash"))


def test_a_part_moved_elsewhere_is_a_problem() -> None:
    second = chain(first_prev_hash(ROUND), 1, [EVENTS[0].data])[0].hash
    check_problems(
        replace(WHOLE, round=stream_part(ROUND, EVENTS, prev_hash=second)),
        Problem("chain_broken", "not the SHA-256 of the stream's name at $.round.prev_hash"),
    )
    check_problems(
        replace(WHOLE, streams=(replace(TABLE_PART, first_position=13),)),
        Problem("chain_broken", "not the hash of the last event at $.streams[0].hash"),
    )


def test_a_part_may_begin_a_stream_or_rest_on_the_hash_it_gives() -> None:
    begun = stream_part(TABLE, TABLE_EVENTS)
    assert begun.prev_hash == first_prev_hash(TABLE)
    check_problems(
        replace(WHOLE, streams=(begun, stream_part("table-t-43", [event(9, "X", stream="table-t-43")])))
    )


def test_the_round_is_a_whole_round() -> None:
    late = stream_part(ROUND, EVENTS, first_position=2, prev_hash=b"\x01" * 32)
    check_problems(replace(WHOLE, round=late), Problem("not_whole", "not 1 at $.round.first_position"))
    table = stream_part(TABLE, [event(1, "TableOpened", stream=TABLE)])
    check_problems(
        replace(WHOLE, round=table, streams=()),
        Problem("not_a_round", "no stream of a round at $.round.stream"),
    )


def test_events_belong_to_their_stream_and_appear_once() -> None:
    stray = event(9, "TipGiven", stream=TABLE)
    check_problems(
        replace(WHOLE, round=stream_part(ROUND, [*EVENTS, stray, EVENTS[0]])),
        Problem("wrong_stream", "an event of another stream at $.round.events[7].content.stream"),
        Problem("event_repeated", "an id seen before at $.round.events[8].content.event_id"),
    )
    check_problems(
        replace(WHOLE, streams=(stream_part(ROUND, [event(20, "CorrectionDecided")]),)),
        Problem("stream_repeated", "the round's own stream at $.streams[0].stream"),
    )


@pytest.mark.parametrize(("key", "empty"), [("proofs", "[]"), ("checkpoint", "null"), ("keys", "[]")])
def test_what_cannot_be_checked_yet_is_a_problem(key: str, empty: str) -> None:
    problem = Problem("not_checkable", f"not the only value known here, {empty}, at $.{key}")
    others: list[object] = [{}, "", 0, False, ["x"], "x", None, []]
    for other in others:
        if json.dumps(other) != empty:
            assert parse_bundle(sealed({**OBJECT, key: other})) == (WHOLE, [problem])


def test_number_of_problems_is_bounded() -> None:
    wrong = replace(WHOLE, round=stream_part(ROUND, [EVENTS[0]] * 1000))
    bundle, problems = parse_bundle(bundle_bytes(wrong))
    assert bundle == wrong
    assert len(problems) == PROBLEMS_MAX


# ------------------------------------------------------------------------------------ tampering


def found_in(data: bytes) -> object:
    try:
        return parse_bundle(data)[1]
    except UnreadableBundle as error:
        return error


def other_than(value: object) -> object:
    if isinstance(value, str):
        return ("1" if value.startswith("0") else "0") + value[1:]
    return 1 - value if isinstance(value, int) else "x"


@pytest.mark.parametrize("bundle", [WHOLE, FOR_ANN], ids=["whole", "for one player"])
def test_every_field_changed_in_turn_is_seen(bundle: Bundle) -> None:
    value = as_json(bundle)
    # What a forger who also makes a new sha256 can change unseen by the file alone: the replay sees it.
    replayed = {"for", "ruleset.id", "ruleset.boxes", "sha256"}
    for path in places(value):
        old: Any = value
        for step in steps_of(path):
            old = old[step]
        changed = put(value, path, other_than(old))
        assert found_in(canonical_bytes(changed)), path
        assert found_in(sealed(changed)) or path in replayed, path


@given(st.data())
def test_any_changed_byte_is_seen(data: st.DataObject) -> None:
    file = bytearray(bundle_bytes(FOR_ANN))
    place = data.draw(st.integers(0, len(file) - 1))
    file[place] ^= data.draw(st.integers(1, 255))
    assert found_in(bytes(file))


def test_a_file_of_more_values_than_any_round_has_is_refused_before_it_is_parsed() -> None:
    data = b'{"bundle_version":[' + b"[]," * (MARKS_MAX // 2 + 1)
    with pytest.raises(UnreadableBundle, match="more than 8000000 commas"):
        parse_bundle(data)
