"""What a command shows: tables and sentences for people, one JSON object a line for programs."""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeAlias
from uuid import UUID

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from eventstore.command_line.session import table

Row: TypeAlias = Mapping[str, object]

_NOTHING: Final = "-"


class CommandFailed(Exception):
    """Why a command could not be done, as a sentence for who gave it. The exit status is 1."""


class Misused(Exception):
    """What is missing or wrong in how the command was given, and what to do. The exit status is 2."""


class Output:
    """Where one command's results go. With `as_json` nothing but JSON reaches standard output."""

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json

    def rows(self, rows: Sequence[Row], nothing: str, *, title: str | None = None) -> None:
        """A table under the names of the first row's columns; `nothing` is said where there are no rows."""
        if self.as_json:
            for row in rows:
                self.record(row)
        elif rows:
            if title is not None:
                self.say(title)
            sys.stdout.write(table([{name: cell(value) for name, value in row.items()} for row in rows]))
        else:
            self.say(nothing)

    def record(self, row: Row) -> None:
        """One object: a JSON line, or its fields a line each."""
        if self.as_json:
            sys.stdout.write(json.dumps(dict(row), default=plain, ensure_ascii=False) + "\n")
            return
        width = max(map(len, row), default=0)
        for name, value in row.items():
            self.say(f"{name:<{width}}  {cell(value)}")

    def say(self, sentence: str) -> None:
        """A sentence for people; programs do not get it."""
        if not self.as_json:
            sys.stdout.write(f"{sentence}\n")

    @contextmanager
    def progress(self, what: str, total: int | None) -> Iterator[Advance]:
        """A bar on standard error while something long runs; the value is called with how much is done."""
        bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=Console(file=sys.stderr),
            disable=self.as_json,
        )
        with bar:
            yield Advance(bar, what, total)


class Advance:
    """Moves a bar on."""

    def __init__(self, bar: Progress, what: str, total: int | None) -> None:
        self._bar = bar
        self._task = bar.add_task(what, total=total)

    def __call__(self, done: int, total: int | None = None) -> None:
        """So much is done in all, of so much."""
        if total is None:
            self._bar.update(self._task, completed=done)
        else:
            self._bar.update(self._task, completed=done, total=total)


def row_of(value: Any, *leave_out: str) -> dict[str, object]:  # noqa: ANN401 - any dataclass
    """The fields of a dataclass, but for some."""
    names = [field.name for field in dataclasses.fields(value) if field.name not in leave_out]
    return {name: getattr(value, name) for name in names}


def plain(value: object) -> str:
    """A value that JSON does not know, as a text."""
    if isinstance(value, dt.datetime):
        return value.astimezone(dt.UTC).isoformat()
    if isinstance(value, bytes):
        return value.hex()
    return str(value)


def cell(value: object) -> str:
    """A value as people read it, on one line."""
    if value is None or value == "":
        return _NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dt.datetime):
        return value.astimezone(dt.UTC).strftime("%Y-%m-%d %H:%M:%SZ")
    if isinstance(value, (dict, list, tuple)):
        return json.dumps(value, default=plain, ensure_ascii=False)
    if isinstance(value, (bytes, UUID)):
        return plain(value)
    # What others wrote must not move the cursor or change colours.
    return "".join(char if char.isprintable() else " " for char in str(value))
