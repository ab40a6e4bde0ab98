"""Figures for metrics, each counted up to a bound."""

from __future__ import annotations

from typing import Final, NamedTuple

from eventstore.postgres import Connection

COUNTED_UP_TO: Final = 100_000

_FIGURES: Final = """
SELECT (SELECT count(*) FROM (SELECT FROM bonus.fences LIMIT $1) AS f) AS fences,
       (SELECT count(*) FROM (SELECT FROM bonus.waiting_rounds LIMIT $1) AS w) AS waiting
"""


class Figures(NamedTuple):
    """What stands still now."""

    fences: int
    waiting: int


async def figures(connection: Connection) -> Figures:
    """Count fences and rounds that wait."""
    row = await connection.fetchrow(_FIGURES, COUNTED_UP_TO)
    assert row is not None, "it has one row always"  # noqa: S101 - an invariant of SQL
    return Figures(*row)
