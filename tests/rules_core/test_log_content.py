"""The content of an event, its streams and shards: CONTRACTS.md section 2."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, asdict, replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_core.canonical import canonical_bytes
from rules_core.log.content import (
    Content,
    InvalidContent,
    content_bytes,
    content_of,
    is_stream,
    parse_content,
    round_stream,
    shard_of,
)

CONTENT = Content(
    event_id="019b76da-a800-7abc-8def-0123456789ab",
    type="BetPlaced",
    version=1,
    stream="round-t-42.7",
    recorded_at="2026-01-01T00:00:00.000001Z",
    correlation_id="c-0001",
    causation_id=None,
    actor="player:p-7Kq",
    salt="00112233445566778899aabbccddeeff",
    payload={"player": "p-7Kq", "stakes": [{"box": 2, "wager": "ante", "amount": 500}]},
)
# These bytes are fixed for ever.
BYTES = (
    b'{"actor":"player:p-7Kq","causation_id":null,"correlation_id":"c-0001",'
    b'"event_id":"019b76da-a800-7abc-8def-0123456789ab",'
    b'"payload":{"player":"p-7Kq","stakes":[{"amount":500,"box":2,"wager":"ante"}]},'
    b'"recorded_at":"2026-01-01T00:00:00.000001Z","salt":"00112233445566778899aabbccddeeff",'
    b'"stream":"round-t-42.7","type":"BetPlaced","version":1}'
)


def test_content_is_the_canonical_json_of_its_ten_keys() -> None:
    assert content_bytes(CONTENT) == BYTES
    assert parse_content(BYTES) == CONTENT
    assert content_of(asdict(CONTENT)) == CONTENT


def test_content_is_immutable() -> None:
    with pytest.raises(FrozenInstanceError):
        CONTENT.version = 2  # type: ignore[misc]  # what the type checker sees too


ACCEPTED: list[tuple[str, Any]] = [
    ("event_id", "00000000-0000-7000-8000-000000000000"),
    ("event_id", "ffffffff-ffff-7fff-bfff-ffffffffffff"),
    ("type", "X"),
    ("type", "R2" + "d" * 62),
    ("version", 9007199254740991),
    ("recorded_at", "0001-01-01T00:00:00.000000Z"),
    ("recorded_at", "2000-02-29T23:59:59.999999Z"),
    ("recorded_at", "2024-02-29T12:00:00.000000Z"),
    ("recorded_at", "2026-12-31T12:00:00.000000Z"),
    ("recorded_at", "9999-11-30T12:00:00.000000Z"),
    ("correlation_id", "019b76da-a800-7abc-8def-0123456789ab"),
    ("causation_id", "019b76da-a800-7abc-8def-0123456789ab"),
    ("actor", "dealer:d1"),
    ("actor", "staff:_-_"),
    ("actor", "player:" + "x" * 64),
    ("actor", "platform"),
    ("actor", "system"),
    ("salt", "f" * 32),
    ("stream", "table-1"),
    ("stream", "ruleset-live-shared@1"),
    ("payload", {}),
    ("payload", {"nested": {"text": "\U0001f0a1", "flag": True, "none": None}}),
]


@pytest.mark.parametrize(("key", "value"), ACCEPTED)
def test_content_accepts(key: str, value: Any) -> None:
    changed = replace(CONTENT, **{key: value})
    data = content_bytes(changed)
    assert data == canonical_bytes(asdict(changed))
    assert parse_content(data) == changed


REFUSED: list[tuple[str, Any, str]] = [
    ("event_id", "019B76DA-A800-7ABC-8DEF-0123456789AB", "no UUIDv7 at $.event_id"),
    ("event_id", "019b76da-a800-4abc-8def-0123456789ab", "no UUIDv7 at $.event_id"),
    ("event_id", "019b76da-a800-7abc-7def-0123456789ab", "no UUIDv7 at $.event_id"),
    ("event_id", "019b76da-a800-7abc-cdef-0123456789ab", "no UUIDv7 at $.event_id"),
    ("event_id", "019b76daa8007abc8def0123456789ab", "no UUIDv7 at $.event_id"),
    ("event_id", "019b76da-a800-7abc-8def-0123456789ab\n", "no UUIDv7 at $.event_id"),
    ("event_id", "", "no UUIDv7 at $.event_id"),
    ("event_id", None, "no UUIDv7 at $.event_id"),
    ("type", "betPlaced", "no event type at $.type"),
    ("type", "Bet Placed", "no event type at $.type"),
    ("type", "B" * 65, "no event type at $.type"),
    ("type", "Bét", "no event type at $.type"),
    ("type", "", "no event type at $.type"),
    ("version", 0, "no version of 1 or more at $.version"),
    ("version", -1, "no version of 1 or more at $.version"),
    ("version", True, "no version of 1 or more at $.version"),
    ("version", "1", "no version of 1 or more at $.version"),
    ("stream", "round-t-42", "no stream name at $.stream"),
    ("stream", 7, "no stream name at $.stream"),
    ("recorded_at", "2026-01-01T00:00:00Z", "no instant YYYY-MM-DDThh:mm:ss.ffffffZ at $.recorded_at"),
    (
        "recorded_at",
        "2026-01-01T00:00:00.000001+00:00",
        "no instant YYYY-MM-DDThh:mm:ss.ffffffZ at $.recorded_at",
    ),
    ("recorded_at", "٢٠٢٦-01-01T00:00:00.000001Z", "no instant YYYY-MM-DDThh:mm:ss.ffffffZ at $.recorded_at"),
    ("recorded_at", 1767225600, "no instant YYYY-MM-DDThh:mm:ss.ffffffZ at $.recorded_at"),
    ("correlation_id", "", "no opaque id at $.correlation_id"),
    ("correlation_id", "a" * 65, "no opaque id at $.correlation_id"),
    ("correlation_id", "joe@example.com", "no opaque id at $.correlation_id"),
    ("correlation_id", None, "no opaque id at $.correlation_id"),
    ("causation_id", "", "no opaque id or null at $.causation_id"),
    ("causation_id", "a b", "no opaque id or null at $.causation_id"),
    ("causation_id", False, "no opaque id or null at $.causation_id"),
    ("actor", "player:", "no actor at $.actor"),
    ("actor", "player:a:b", "no actor at $.actor"),
    ("actor", "robot:1", "no actor at $.actor"),
    ("actor", "platform:1", "no actor at $.actor"),
    ("actor", "System", "no actor at $.actor"),
    ("actor", "system\n", "no actor at $.actor"),
    ("salt", "0" * 31, "no 32 hex digits at $.salt"),
    ("salt", "0" * 33, "no 32 hex digits at $.salt"),
    ("salt", "A" * 32, "no 32 hex digits at $.salt"),
    ("salt", 0, "no 32 hex digits at $.salt"),
    ("payload", [], "no object at $.payload"),
    ("payload", None, "no object at $.payload"),
]


@pytest.mark.parametrize(("key", "value", "message"), REFUSED)
def test_content_refuses(key: str, value: Any, message: str) -> None:
    members = asdict(CONTENT) | {key: value}
    for attempt in (
        lambda: parse_content(canonical_bytes(members)),
        lambda: content_of(members),
        lambda: content_bytes(Content(**members)),
    ):
        with pytest.raises(InvalidContent) as refusal:
            attempt()
        assert str(refusal.value) == message


def test_content_refuses_other_keys() -> None:
    members = asdict(CONTENT)
    for key in members:
        fewer = {name: value for name, value in members.items() if name != key}
        with pytest.raises(InvalidContent, match=rf"^missing {key} at \$$"):
            parse_content(canonical_bytes(fewer))
        with pytest.raises(InvalidContent, match=rf"^missing {key} at \$$"):
            parse_content(canonical_bytes({**fewer, "note": 1}))
    with pytest.raises(InvalidContent, match=r"^2 unknown keys at \$$"):
        parse_content(canonical_bytes({**members, "note": 1, "hash": ""}))
    with pytest.raises(InvalidContent, match=r"^no object at \$$"):
        parse_content(b"[]")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (BYTES + b"\n", f"not canonical: differs from the canonical form at byte {len(BYTES)}"),
        (BYTES + BYTES, f"Extra data at byte {len(BYTES)}"),
        (b" " + BYTES, "Expecting value at byte 0"),
        (BYTES.replace(b":", b": ", 1), "not canonical: differs from the canonical form at byte 9"),
        (BYTES.replace(b"500", b"5.5"), "5.5 is no integer at $.payload.stakes[0].amount"),
        (BYTES.replace(b'"version":1', b'"version":1,"version":1'), 'duplicate key "version" at $'),
        (BYTES.replace(b"p-7Kq", b"\xff"), "not UTF-8 at byte 17"),
        (b"", "Expecting value at byte 0"),
    ],
)
def test_content_must_be_canonical_json(data: bytes, message: str) -> None:
    with pytest.raises(InvalidContent) as refusal:
        parse_content(data)
    assert str(refusal.value) == message


def test_content_with_a_payload_that_has_no_canonical_json_is_not_written() -> None:
    with pytest.raises(InvalidContent, match=r"^float is no JSON type at \$\.payload\.amount$"):
        content_bytes(replace(CONTENT, payload={"amount": 1.5}))


def is_real(year: int, month: int, day: int, clock: tuple[int, int, int]) -> bool:
    try:
        datetime(year, month, day, *clock, tzinfo=UTC)
    except ValueError:
        return False
    return True


years = st.sampled_from([0, 1, 4, 1900, 2000, 2024, 2100, 9999]) | st.integers(0, 9999)
clocks = st.tuples(st.integers(0, 25), st.integers(0, 61), st.integers(0, 61), st.integers(0, 999_999))


@given(years, st.integers(0, 13), st.integers(0, 32), clocks)
def test_recorded_at_is_a_real_instant(
    year: int, month: int, day: int, clock: tuple[int, int, int, int]
) -> None:
    hour, minute, second, fraction = clock
    instant = f"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{fraction:06}Z"
    members = asdict(CONTENT) | {"recorded_at": instant}
    if is_real(year, month, day, (hour, minute, second)):
        assert content_of(members).recorded_at == instant
    else:
        with pytest.raises(InvalidContent, match="recorded_at"):
            content_of(members)


def test_recorded_at_knows_every_day_of_four_hundred_years() -> None:
    for year in range(1900, 2300):
        leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
        for month, days in enumerate((31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31), 1):
            for day in (1, days):
                content_of(asdict(CONTENT) | {"recorded_at": f"{year}-{month:02}-{day:02}T00:00:00.000000Z"})
            for day in (0, days + 1):
                with pytest.raises(InvalidContent):
                    content_of(
                        asdict(CONTENT) | {"recorded_at": f"{year}-{month:02}-{day:02}T00:00:00.000000Z"}
                    )


# ------------------------------------------------------------------------------------ streams and shards

STREAMS = [
    "round-t-42.7", "round-T_a.9007199254740991", "bonus-t.1", "table-t", "account-a1", "jackpot-j",
    "freebet-f", "dispute-d", "session-s", "partner-p", "staff-s", "ruleset-my-house@12", "ruleset-r",
]  # fmt: skip
NO_STREAMS = [
    "", "round-t", "round-.1", "round-t.0", "round-t.01", "round-t.1.2", "round-a.b.1", "round-t.1\n",
    "round-t.10000000000000000", "bonus-t", "table-t.1", "table-", "table-a b", "table-a@1", "table-\u00e9",
    "table-" + "x" * 65, "Table-t", "purse-p", "ruleset-r@0",
]  # fmt: skip


@pytest.mark.parametrize("name", STREAMS)
def test_streams_of_the_contract(name: str) -> None:
    assert is_stream(name)
    assert parse_content(content_bytes(replace(CONTENT, stream=name))).stream == name


@pytest.mark.parametrize("name", NO_STREAMS)
def test_other_names_are_no_streams(name: str) -> None:
    assert not is_stream(name)
    with pytest.raises(InvalidContent):
        content_bytes(replace(CONTENT, stream=name))


def test_round_stream_is_named_by_table_and_number() -> None:
    assert round_stream("t-42", 7) == "round-t-42.7"
    for table, number in (("t-42", 0), ("t-42", -1), ("t.42", 7), ("", 7), ("t\n", 7)):
        with pytest.raises(ValueError, match="names no stream"):
            round_stream(table, number)


def test_shard_is_the_first_eight_bytes_of_the_hash_of_the_name_mod_64() -> None:
    # sha256("round-t-42.7") begins 033a34715f6711ce, and 0xce mod 64 is 14.
    assert shard_of("round-t-42.7") == 14
    shards = {shard_of(round_stream("t", number)) for number in range(1, 2000)}
    assert shards == set(range(64))
