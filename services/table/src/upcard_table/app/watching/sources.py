"""What watching reads: the committed log, private parts of it, and where a table stands about now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from eventstore.port import PrivateReader, Reader
from upcard_table.domain.state import NEW_TABLE, TableState
from upcard_table.domain.words import round_stream


@dataclass(frozen=True, slots=True)
class KnownTable:
    """A table as it was not long ago. Nothing is wrong with an old one but the reading that it costs."""

    table: str = ""
    """Empty: nothing is known of it."""
    state: TableState = NEW_TABLE
    position: int = 0
    """In the table's stream, up to which the state has it."""
    last_round: int = 0
    step: str = ""
    """Of the last round; empty: none."""


class TableIndex(Protocol):
    """Where tables stand about now."""

    async def find(self, table: str) -> KnownTable:
        """A table; a new one where nothing is known of it."""
        ...

    async def page(self, *, after: str, limit: int, open_only: bool) -> list[KnownTable]:
        """At most so many tables after this id, by id."""
        ...


@dataclass(frozen=True, slots=True)
class Sources:
    """What a hub reads from."""

    log: Reader
    private: PrivateReader
    index: TableIndex


async def last_round(log: Reader, table: str, known: int) -> int:
    """Number of a table's last round: rounds are numbered without a gap, so it is looked for by halving."""
    step = 1
    while await _is_there(log, table, known + step):
        known += step
        step *= 2
    while step > 1:
        step //= 2
        if await _is_there(log, table, known + step):
            known += step
    return known


async def _is_there(log: Reader, table: str, number: int) -> bool:
    return (await log.stream_head(round_stream(table, number))).position > 0
