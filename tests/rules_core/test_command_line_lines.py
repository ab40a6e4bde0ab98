"""`settle --jsonl`: a line out for each line in, whatever comes in (CONTRACTS.md section 1)."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator
from io import BytesIO, RawIOBase
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_core.canonical import InvalidJson, parse_strict
from rules_core.command_line import settle_command
from rules_core.command_line.json_text import compact_line
from rules_core.command_line.program import main
from rules_core.command_line.quick_json import parse_quickly, result_line
from rules_core.command_line.settle_command import Line, batches
from rules_core.command_line.streams import Streams
from rules_core.settlement.case_json import parse_case
from rules_core.settlement.model import Case, CaseError
from rules_core.settlement.result_json import settlement_object
from rules_core.settlement.settle import settle
from tests.oracle.cases import random_case
from tests.rules_core.commands import call
from tests.rules_core.explained import CASES, settled_case
from tests.rules_core.settling import QUEENS, box, case, outcome_of

GOOD = case("live-shared@1", QUEENS, box("Ah Ad Kc 7s 3d"))
WRONG = case("live-shared@1", QUEENS, box("Ah Ad Kc 7s 3d", insurance=100))


class Trickle(RawIOBase):
    """A source that gives the pieces it was made of, one a read."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self.pieces = iter(pieces)

    def read1(self, size: int = -1) -> bytes:
        piece = next(self.pieces, b"")
        assert len(piece) <= size
        return piece


def line(value: object) -> bytes:
    return json.dumps(value).encode()


def answers(data: bytes) -> list[Any]:
    """The answers to some lines."""
    called = call("settle", "--jsonl", stdin=data)
    assert called.status == 0
    assert called.text == "" or called.text.endswith("\n")
    return [json.loads(answer) for answer in called.text.splitlines()]


def failure(code: str, message: str) -> Any:
    return {"error": {"code": code, "message": message}}


def test_each_line_is_answered_by_one_line_in_order() -> None:
    assert answers(line(GOOD) + b"\n" + line(WRONG) + b"\n" + line(GOOD) + b"\n") == [
        outcome_of(GOOD),
        outcome_of(WRONG),
        outcome_of(GOOD),
    ]


def test_no_line_no_answer() -> None:
    assert answers(b"") == []


def test_the_last_line_may_lack_its_line_feed() -> None:
    assert answers(line(GOOD)) == answers(line(GOOD) + b"\n") == [outcome_of(GOOD)]


def test_lines_may_end_as_on_windows() -> None:
    assert answers(line(GOOD) + b"\r\n" + line(GOOD) + b"\r\n") == [outcome_of(GOOD)] * 2


@pytest.mark.parametrize("blank", [b"", b" ", b"\t", b"\r"])
def test_a_blank_line_is_answered_by_an_error_so_that_lines_correspond(blank: bytes) -> None:
    error = failure("json_invalid", f"Expecting value at byte {len(blank)}")
    assert answers(blank + b"\n" + line(GOOD)) == [error, outcome_of(GOOD)]


@pytest.mark.parametrize("broken", [b"{", b"[" * 1000, b'{"a":1,"a":1}', b'"\xff"', b"1e5", b"9" * 5000])
def test_a_line_that_is_no_json_is_answered_by_an_error_alone(broken: bytes) -> None:
    with pytest.raises(InvalidJson) as wrong:
        parse_strict(broken)
    error = failure("json_invalid", str(wrong.value))
    assert answers(line(GOOD) + b"\n" + broken + b"\n" + line(GOOD)) == [
        outcome_of(GOOD),
        error,
        outcome_of(GOOD),
    ]


# ------------------------------------------------------------------------------------- bounds and batches


@pytest.mark.parametrize("length", [10, 20])
@pytest.mark.parametrize("chunk", [3, 10, 11, 64])
def test_a_line_above_the_bound_is_skipped_to_its_end(
    length: int, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settle_command, "LINE_BYTES_MAX", 10)
    data = b"a\n" + b"x" * length + b"\nb\n" + b"y" * (length + 1) + b"\n" + b"z" * (length + 2)
    pieces = [data[at : at + chunk] for at in range(0, len(data), chunk)]
    expected: list[Line] = [b"a", b"x" * 10 if length == 10 else None, b"b", None, None]
    assert [found for lines in batches(Trickle(pieces)) for found in lines] == expected  # type: ignore[arg-type]  # as much of a file as is needed


def test_a_line_too_long_is_answered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settle_command, "LINE_BYTES_MAX", len(line(GOOD)))
    assert answers(line(GOOD) + b"\n" + b" " + line(GOOD) + b"\n" + line(GOOD)) == [
        outcome_of(GOOD),
        failure("line_too_long", f"longer than {len(line(GOOD))} bytes"),
        outcome_of(GOOD),
    ]


def test_a_line_without_end_takes_no_more_memory_than_the_bound() -> None:
    largest = 0

    def endless() -> Iterator[bytes]:
        for _ in range(200):
            yield b"x" * settle_command.CHUNK_BYTES

    found = []
    for lines in batches(Trickle(endless())):  # type: ignore[arg-type]  # as much of a file as is needed
        found += lines
        largest = max(largest, *(len(one or b"") for one in lines), 0)
    assert (found, largest) == ([None], 0)


@given(st.binary(max_size=60), st.data())
def test_however_the_input_is_cut_the_lines_are_the_same(data: bytes, cuts: st.DataObject) -> None:
    data = data.replace(b"\x00", b"\n").replace(b"\x01", b"\n")
    pieces = []
    rest = data
    while rest:
        size = cuts.draw(st.integers(1, len(rest)))
        pieces.append(rest[:size])
        rest = rest[size:]
    expected = data.split(b"\n")
    if not expected[-1]:
        expected.pop()
    assert [found for lines in batches(Trickle(pieces)) for found in lines] == expected  # type: ignore[arg-type]  # as much of a file as is needed


def test_what_has_come_in_is_answered_before_more_is_waited_for() -> None:
    output = BytesIO()
    seen = []

    def slow() -> Iterator[bytes]:
        yield line(GOOD) + b"\n" + line(WRONG)[:50]
        seen.append(output.getvalue().count(b"\n"))
        yield line(WRONG)[50:] + b"\n"
        seen.append(output.getvalue().count(b"\n"))

    assert main(["settle", "--jsonl"], Streams(Trickle(slow()), output)) == 0  # type: ignore[arg-type]  # as much of a file as is needed
    assert seen == [1, 2]


def test_input_that_breaks_off_ends_with_an_error_after_the_answers() -> None:
    def broken() -> Iterator[bytes]:
        yield line(GOOD) + b"\n" + line(GOOD)
        raise OSError(5, "Input/output error")

    output = BytesIO()
    assert main(["settle", "--jsonl"], Streams(Trickle(broken()), output)) == 2  # type: ignore[arg-type]  # as much of a file as is needed
    assert list(map(json.loads, output.getvalue().splitlines())) == [
        outcome_of(GOOD),
        failure("file_unreadable", "standard input cannot be read: Input/output error"),
    ]


def test_no_standard_input_is_an_error() -> None:
    called = call("settle", "--jsonl", stdin=None)
    assert (called.status, called.value) == (2, failure("file_unreadable", "there is no standard input"))


# --------------------------------------------------------------------------------- the quick ways are true


def read(how: Any, data: bytes) -> object:
    try:
        return how(data)
    except InvalidJson as error:
        return f"InvalidJson: {error}"


ODD_TEXTS = [
    b"",
    b"{}",
    b"[]x",
    b"\xef\xbb\xbf{}",
    b"\xff",
    b'{"a":1,"a":2}',
    b'{"a":{"b":1,"b":1}}',
    b"1.0",
    b"1e5",
    b"-0",
    b"NaN",
    b"-Infinity",
    b"9007199254740991",
    b"-9007199254740991",
    b"9007199254740992",
    b"999999999999999",
    b"[" * 64 + b"]" * 64,
    b"[" * 65 + b"]" * 65,
    b'"\\ud800"',
    b'"\\ud83d\\ude00"',
    b'"\\\\u0041"',
    b'"\xf0\x9f\x98\x80"',
    b"[1, 2",
]


@pytest.mark.parametrize("data", ODD_TEXTS)
def test_text_is_read_quickly_as_it_is_read_strictly(data: bytes) -> None:
    quick, strict = read(parse_quickly, data), read(parse_strict, data)
    assert (type(quick), quick) == (type(strict), strict)


@given(st.binary(), st.integers(0, 400), st.integers(0, 3))
def test_a_damaged_case_is_read_quickly_as_it_is_read_strictly(patch: bytes, at: int, cut: int) -> None:
    data = line(GOOD)
    data = data[:at] + patch + data[at + cut :]
    assert read(parse_quickly, data) == read(parse_strict, data)


def check_written(settlement: Any) -> None:
    assert result_line(settlement) == compact_line(settlement_object(settlement))


@pytest.mark.parametrize("about", CASES)
def test_a_result_is_written_quickly_as_it_is_written_by_the_rules(about: str) -> None:
    check_written(settled_case(about)[1])


@pytest.mark.parametrize("name", ['"', "\\", "\n", "\x7f", "é", "\u2028", "😀"])
def test_names_are_escaped_in_a_result(name: str) -> None:
    free = {"stake": 100, "funding": name}
    one = box("Ah Ad Kc 7s 3d", player=name, wagers={"ante": free, "bonus_player": 0, "bonus_dealer": 0})
    parsed = parse_case(case("live-shared@1", QUEENS, one))
    assert isinstance(parsed, Case)
    check_written(settle(parsed))


def test_random_results_are_written_quickly_as_by_the_rules() -> None:
    rng = random.Random(20_261_201)
    for _ in range(300):
        parsed = parse_case(random_case(rng))
        assert isinstance(parsed, Case)
        result = settle(parsed)
        if not isinstance(result, CaseError):
            check_written(result)
