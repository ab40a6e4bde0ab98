"""The hash chain: CONTRACTS.md section 2. The digests written out here were made with sha256sum and xxd."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_core.log.chain import (
    ChainDifference,
    Chained,
    Withheld,
    chain,
    check_chain,
    content_hash,
    first_prev_hash,
    next_hash,
)
from tests.rules_core.test_log_content import BYTES

STREAM = "round-t-42.7"
FIRST_PREV_HASH = bytes.fromhex("033a34715f6711ce9524c103af60429289b79651538216e8adb003bbec6dbd08")
CONTENT_HASH = bytes.fromhex("689ee1d2ddbaf105890ceeba5da0a43b746eab5e0aab1023e127b5143a0ca595")
HASH_1 = bytes.fromhex("1ead6e75d8cfcc8a0935bc48e3a141ea153cc82b39d0a8992f7d1cb442dd7d83")
HASH_2 = bytes.fromhex("de52adc2e391854b68548d573b06f1de6a911bc2e4af242f01247a903dd5a8dd")


def test_digests_are_those_made_with_other_tools() -> None:
    assert first_prev_hash(STREAM) == FIRST_PREV_HASH
    assert content_hash(BYTES) == CONTENT_HASH
    assert next_hash(FIRST_PREV_HASH, 1, CONTENT_HASH) == HASH_1
    assert next_hash(HASH_1, 2, b"\xab" * 32) == HASH_2


def test_position_is_eight_bytes_big_endian() -> None:
    assert next_hash(bytes(32), 2**40 + 1, bytes(32)) == sha256(
        bytes(32) + bytes([0, 0, 1, 0, 0, 0, 0, 1]) + bytes(32)
    ).digest()  # fmt: skip


def test_a_withheld_event_is_stood_for_by_the_hash_of_its_content() -> None:
    shown = chain(FIRST_PREV_HASH, 1, [BYTES, b"{}"])
    withheld = chain(FIRST_PREV_HASH, 1, [Withheld(CONTENT_HASH), b"{}"])
    assert withheld == [
        Chained(1, None, CONTENT_HASH, HASH_1),
        Chained(2, b"{}", content_hash(b"{}"), shown[1].hash),
    ]
    assert check_chain(STREAM, 1, FIRST_PREV_HASH, withheld) == check_chain(STREAM, 1, FIRST_PREV_HASH, shown)


items = st.lists(st.binary(max_size=4) | st.binary(min_size=32, max_size=32).map(Withheld), max_size=8)


@given(items, st.integers(1, 2**60), st.integers(0, 8))
def test_what_is_chained_passes_the_check_whole_and_in_parts(
    contents: list[bytes | Withheld], first: int, cut: int
) -> None:
    start = first_prev_hash(STREAM) if first == 1 else b"\x01" * 32
    events = chain(start, first, contents)
    hashes = [event.hash for event in events]
    assert check_chain(STREAM, first, start, events) == hashes
    at = min(cut, len(events))
    between = hashes[at - 1] if at else start
    assert check_chain(STREAM, first + at, between, events[at:]) == hashes[at:]


EVENTS = chain(first_prev_hash(STREAM), 1, [b"a", Withheld(b"\x07" * 32), b"b"])


@pytest.mark.parametrize(
    ("index", "change", "difference"),
    [
        (0, {"content": b"A"}, ChainDifference(1, "content_hash")),
        (0, {"content_hash": b"\x01" * 32}, ChainDifference(1, "content_hash")),
        (0, {"content": None, "content_hash": b"\x01" * 32}, ChainDifference(1, "hash")),
        (0, {"position": 2}, ChainDifference(1, "position")),
        (1, {"content_hash": b"\x08" * 32}, ChainDifference(2, "hash")),
        (1, {"position": 3}, ChainDifference(2, "position")),
        (1, {"hash": bytes(32)}, ChainDifference(2, "hash")),
        (2, {"content": b"B", "content_hash": content_hash(b"B")}, ChainDifference(3, "hash")),
    ],
)
def test_the_first_difference_is_named(
    index: int, change: dict[str, Any], difference: ChainDifference
) -> None:
    changed = list(EVENTS)
    changed[index] = replace(changed[index], **change)
    assert check_chain(STREAM, 1, first_prev_hash(STREAM), changed) == difference


def test_events_cannot_be_dropped_doubled_or_swapped() -> None:
    one, two, three = EVENTS
    start = first_prev_hash(STREAM)
    assert check_chain(STREAM, 1, start, [two, three]) == ChainDifference(1, "position")
    assert check_chain(STREAM, 1, start, [one, three]) == ChainDifference(2, "position")
    assert check_chain(STREAM, 1, start, [one, one, two]) == ChainDifference(2, "position")
    assert check_chain(STREAM, 1, start, [two, one, three]) == ChainDifference(1, "position")
    renumbered = [replace(event, position=at) for at, event in enumerate([one, three], 1)]
    assert check_chain(STREAM, 1, start, renumbered) == ChainDifference(2, "hash")


def test_a_chain_belongs_to_its_stream() -> None:
    assert check_chain("round-t-42.8", 1, first_prev_hash(STREAM), EVENTS) == ChainDifference(1, "prev_hash")
    other = first_prev_hash("round-t-42.8")
    assert check_chain("round-t-42.8", 1, other, EVENTS) == ChainDifference(1, "hash")


def test_a_difference_reads_as_a_sentence() -> None:
    assert str(ChainDifference(3, "content_hash")) == "content_hash is wrong at position 3"
