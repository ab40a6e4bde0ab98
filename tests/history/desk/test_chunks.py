"""Exports in pieces: whole lines, bounded memory, and going on where one broke off."""

from __future__ import annotations

import tracemalloc
from collections.abc import AsyncIterator, Sequence

import pytest

from upcard_history.entrypoints.exports import CHUNK_BYTES, Chunk, Sheet, in_chunks

SHEET: Sheet[int] = Sheet((("number", lambda row: row), ("text", lambda row: f"={row}")), token=str)


async def pages(first: int, last: int, size: int = 100) -> AsyncIterator[Sequence[int]]:
    """Numbers in pages."""
    for begin in range(first, last + 1, size):
        yield range(begin, min(begin + size, last + 1))


async def whole(first: int, last: int, *, header: bool = True, chunk_bytes: int = 200) -> list[Chunk]:
    """All pieces."""
    found = in_chunks(SHEET, pages(first, last), header=header, chunk_bytes=chunk_bytes)
    return [chunk async for chunk in found]


async def test_pieces_have_whole_lines_and_make_the_file() -> None:
    found = await whole(1, 1_000)
    assert all(chunk.data.endswith(b"\r\n") for chunk in found if chunk.data)
    assert all(len(chunk.data) < 250 for chunk in found)
    lines = b"".join(chunk.data for chunk in found).decode().split("\r\n")
    assert lines[0] == '"number","text"'
    assert lines[1:-1] == [f'{number},"\'={number}"' for number in range(1, 1_001)]
    assert [chunk.last for chunk in found] == [False] * (len(found) - 1) + [True]
    assert found[-1].rows == 1_000


async def test_nothing_is_a_header_and_an_end() -> None:
    assert await whole(1, 0) == [Chunk(b'"number","text"\r\n', "", 0, last=True)]


@pytest.mark.parametrize("broken_at", [0, 3, 20])
async def test_it_goes_on_where_it_broke_off(broken_at: int) -> None:
    all_of_it = await whole(1, 500)
    first = all_of_it[: broken_at + 1]
    rest = await whole(int(first[-1].after) + 1, 500, header=False)
    both = b"".join(chunk.data for chunk in (*first, *rest))
    assert both == b"".join(chunk.data for chunk in all_of_it)


async def test_memory_does_not_grow_with_the_file() -> None:
    tracemalloc.start()
    try:
        sizes = [len(chunk.data) async for chunk in in_chunks(SHEET, pages(1, 50_000))]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert sum(sizes) > 10 * CHUNK_BYTES
    assert peak < 8 * CHUNK_BYTES, peak


async def test_nothing_is_read_ahead() -> None:
    asked: list[int] = []

    async def watched() -> AsyncIterator[Sequence[int]]:
        for number in range(100):
            asked.append(number)
            yield range(number * 100, number * 100 + 100)

    async for chunk in in_chunks(SHEET, watched(), chunk_bytes=100):
        assert len(asked) == (chunk.rows + 99) // 100
        if chunk.rows > 500:
            break
