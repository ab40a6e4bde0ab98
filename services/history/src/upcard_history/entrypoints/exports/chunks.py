"""From pages of rows to pieces of a file: one page is in memory, and one piece."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from servicekit.csv_lines import Cell, csv_line

CHUNK_BYTES: Final = 64 * 1024
"""A piece is sent as soon as it has so many bytes; it has whole lines only, so it may have a line more."""

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Sheet(Generic[R]):
    """The columns of an export, each with its value of a row, and what a row is found again by."""

    columns: tuple[tuple[str, Callable[[R], Cell]], ...]
    token: Callable[[R], str | None]
    """Where an export that broke off goes on after this row; empty: nowhere, it begins anew. None: no piece
    may end here."""

    def header(self) -> bytes:
        """The first line."""
        return csv_line([name for name, _ in self.columns])

    def line(self, row: R) -> bytes:
        """The line of a row."""
        return csv_line([value(row) for _, value in self.columns])


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a file: whole lines."""

    data: bytes
    after: str
    """Where to go on if nothing comes after this piece; empty: anew."""
    rows: int
    """Rows so far, the header not counted."""
    last: bool = False
    """Whether the file ends here: one without a last piece is not whole."""


async def in_chunks(
    sheet: Sheet[R], pages: AsyncIterator[Sequence[R]], *, header: bool = True, chunk_bytes: int = CHUNK_BYTES
) -> AsyncGenerator[Chunk, None]:
    """The file in pieces, as fast as they are taken: the next page is asked for when it is needed.

    `header` is False where an export goes on that broke off. There is always a last piece, empty perhaps.
    """
    data = bytearray(sheet.header() if header else b"")
    rows, after = 0, ""
    async for page in pages:
        for row in page:
            data += sheet.line(row)
            rows += 1
            token = sheet.token(row)
            if token is not None:
                after = token
                if len(data) >= chunk_bytes:
                    yield Chunk(bytes(data), after, rows)
                    data.clear()
    yield Chunk(bytes(data), after, rows, last=True)
