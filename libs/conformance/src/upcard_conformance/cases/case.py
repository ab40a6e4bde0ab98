"""What a case is, and how it gets its name and its words."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final, TypeAlias

from upcard_conformance.stage import Stage
from upcard_seamless.decisions import ROWS

Play: TypeAlias = Callable[[Stage], Awaitable[None]]

NOT_PLAYED: Final = {
    "not_asked": "Upcard's circuit is open: nothing is sent",
    "not_sent": "no connection could be made: nothing arrives",
}
"""Answers of the decision table that no wallet gives: Upcard's own words for having none."""


@dataclass(frozen=True, slots=True)
class Case:
    """One thing that a wallet has to do right."""

    name: str
    """Stable: partners' build servers know it."""
    title: str
    patterns: tuple[str, ...]
    """Of the names of rows: `win/duplicate`, `rollback/*/win`."""
    why: str
    mend: str
    play: Play

    @property
    def rows(self) -> tuple[str, ...]:
        """The rows of the decision table that it plays, by their names."""
        return tuple(row.name for row in ROWS if any(fnmatchcase(row.name, one) for one in self.patterns))


def case(*patterns: str, title: str, why: str, mend: str) -> Callable[[Play], Case]:
    """Make a case of a function, under the function's name. It raises Failed or NotRun."""

    def made(play: Play) -> Case:
        return Case(getattr(play, "__name__", ""), title, patterns, why, mend, play)

    return made
