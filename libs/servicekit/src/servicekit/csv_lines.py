"""A line of CSV that no spreadsheet takes for more than data.

A cell that begins with `=`, `+`, `-` or `@` is a formula to a spreadsheet: it may call programs, or send what
is in other cells elsewhere. What stands in our rows comes from many hands, so every text is made harmless,
whatever its column should hold. Numbers stay numbers: one of ours is no more than a sign and digits.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from typing import Final, TypeAlias
from uuid import UUID

Cell: TypeAlias = "str | int | dt.datetime | UUID | bool | None"

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]+")
"""Tabs and ends of lines split cells in some spreadsheets; the rest is no text."""

_FORMULA: Final = re.compile(r"""(^|[,;|])([\s"'\u200b-\u200f\u2060]*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])""")
"""Where a formula may begin: at the cell's beginning, or, for a spreadsheet that separates by something else,
after that; also behind blanks and quotes, which some take off; also in the wide forms of Asia's keyboards."""


def harmless(text: str) -> str:
    """The text with an apostrophe before whatever could begin a formula, and without control characters.

    A spreadsheet shows the apostrophe in a file that it opens; programs that read the file take it off.
    """
    return _FORMULA.sub(r"\1'\2", _CONTROL.sub(" ", text))


def csv_line(cells: Sequence[Cell]) -> bytes:
    """One line with its end (CRLF), UTF-8. Texts are quoted, numbers are not, nothing is nothing at all."""
    return (",".join(map(_written, cells)) + "\r\n").encode("utf-8", "replace")


def _written(cell: Cell) -> str:
    match cell:
        case None:
            return ""
        case bool():
            return "true" if cell else "false"
        case int():
            return str(cell)
        case dt.datetime():
            return cell.astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        case UUID():
            return str(cell)
        case _:
            return '"' + harmless(cell).replace('"', '""') + '"'
