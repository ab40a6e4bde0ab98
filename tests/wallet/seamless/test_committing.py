"""Many results, few transactions: nobody waits for ever, and one bad item fails alone."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import asyncpg
import pytest

from upcard_wallet.adapters.seamless.committing import CommitterClosed, CommitterFull, GroupCommitter


async def test_what_comes_during_a_commit_goes_into_the_next() -> None:
    batches: list[list[int]] = []
    gate = asyncio.Event()

    async def commit(items: Sequence[int]) -> Sequence[int]:
        batches.append(list(items))
        await gate.wait()
        return [10 * item for item in items]

    async with GroupCommitter(commit, batch_max=5) as committer:
        first = asyncio.create_task(committer.put(0))
        async with asyncio.timeout(10):
            while not batches:  # noqa: ASYNC110 - one turn of the loop is all that it takes
                await asyncio.sleep(0)
        rest = [asyncio.create_task(committer.put(number)) for number in range(1, 8)]
        await asyncio.sleep(0)
        gate.set()
        assert await asyncio.gather(first, *rest) == [10 * number for number in range(8)]
    assert batches == [[0], [1, 2, 3, 4, 5], [6, 7]]


async def test_one_bad_item_fails_alone() -> None:
    async def commit(items: Sequence[int]) -> Sequence[int]:
        if 3 in items:
            raise ValueError("three")
        return list(items)

    async with GroupCommitter(commit) as committer:
        answers = await asyncio.gather(
            *(committer.put(number) for number in range(8)), return_exceptions=True
        )
    assert [answer for answer in answers if not isinstance(answer, Exception)] == [0, 1, 2, 4, 5, 6, 7]
    assert isinstance(answers[3], ValueError)


async def test_a_database_that_is_away_for_a_moment_is_tried_again() -> None:
    tries = 0

    async def commit(items: Sequence[int]) -> Sequence[int]:
        nonlocal tries
        tries += 1
        if tries < 3:
            raise asyncpg.ConnectionDoesNotExistError
        return list(items)

    async with GroupCommitter(commit) as committer:
        assert await committer.put(1) == 1
    assert tries == 3


async def test_when_it_stops_those_who_wait_are_told() -> None:
    async def commit(items: Sequence[int]) -> Sequence[int]:
        await asyncio.Event().wait()
        return items

    async with GroupCommitter(commit, batch_max=1) as committer:
        waiting = [asyncio.create_task(committer.put(number)) for number in range(3)]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    answers = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(answer) for answer in answers] == [CommitterClosed] * 3
    with pytest.raises(CommitterClosed):
        await committer.put(4)


async def test_no_more_wait_than_may() -> None:
    async def commit(items: Sequence[int]) -> Sequence[int]:
        await asyncio.Event().wait()
        return items

    async with GroupCommitter(commit, batch_max=1, waiting_max=2) as committer:
        tasks = [asyncio.create_task(committer.put(number)) for number in range(5)]
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        assert {type(task.exception()) for task in done} == {CommitterFull}
    await asyncio.gather(*tasks, return_exceptions=True)
