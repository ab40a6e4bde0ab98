"""What each command has: the database, and a way to show what it found."""

import dataclasses
import datetime as dt
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from eventstore.postgres.connections import Pool

DSN_VARIABLE: Final = "UPCARD_DSN"

_LONGEST_CELL: Final = 60

Row: TypeAlias = Mapping[str, object]


class CommandFailed(Exception):
    """Why a command could not be done, as a sentence for who called it."""


@dataclass(frozen=True, slots=True)
class Session:
    """One call of the command line."""

    pool: Pool
    as_json: bool

    def show(self, rows: Sequence[Row], nothing: str) -> None:
        """A table, or a JSON object a line; `nothing` is said where there are no rows."""
        if self.as_json:
            for row in rows:
                sys.stdout.write(json.dumps(dict(row), default=_plain) + "\n")
        elif rows:
            sys.stdout.write(table(rows))
        else:
            self.say(nothing)

    def say(self, sentence: str) -> None:
        """A sentence for people."""
        if not self.as_json:
            sys.stdout.write(f"{sentence}\n")


def table(rows: Sequence[Row]) -> str:
    """Rows of the same keys as columns, under their names."""
    cells = [list(rows[0]), *[[_cell(value) for value in row.values()] for row in rows]]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in cells
    ]
    return "\n".join(lines) + "\n"


def row_of(value: Any, *leave_out: str) -> dict[str, object]:  # noqa: ANN401 - any dataclass
    """The fields of a dataclass, but for some."""
    return {
        field.name: getattr(value, field.name)
        for field in dataclasses.fields(value)
        if field.name not in leave_out
    }


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, dt.datetime):
        return value.astimezone(dt.UTC).strftime("%Y-%m-%d %H:%M:%SZ")
    if isinstance(value, bytes):
        return value.hex()[:16]
    text = " ".join(str(value).split())
    return text if len(text) <= _LONGEST_CELL else text[: _LONGEST_CELL - 1] + "…"


def _plain(value: object) -> str:
    if isinstance(value, dt.datetime):
        return value.astimezone(dt.UTC).isoformat()
    return value.hex() if isinstance(value, bytes) else str(value)
