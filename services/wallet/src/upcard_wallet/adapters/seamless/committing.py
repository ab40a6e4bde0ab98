"""Many small results, few transactions: what queued during one commit goes into the next."""

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from types import TracebackType
from typing import Final, Generic, Self, TypeVar

import asyncpg

from eventstore.postgres import SESSION_LOST

Item = TypeVar("Item")
Result = TypeVar("Result")

_TRIES: Final = 4
_FIRST_PAUSE_S: Final = 0.05


class CommitterClosed(Exception):
    """It is stopping and takes nothing more."""


class CommitterFull(Exception):
    """More waits than may wait."""


class GroupCommitter(Generic[Item, Result]):
    """Gives items to `commit`, up to `batch_max` at once, one call at a time; an async context manager.

    `commit` is one transaction and gives a result an item. When the database fails, the same items are tried
    again, a few times; then each half apart, so that one bad item fails alone. So `commit` has to be
    idempotent: a try whose answer was lost may have committed.
    """

    def __init__(
        self,
        commit: Callable[[Sequence[Item]], Awaitable[Sequence[Result]]],
        *,
        batch_max: int = 200,
        waiting_max: int = 20_000,
    ) -> None:
        """Bounds: items a transaction, and items that wait."""
        self._commit = commit
        self._batch_max = batch_max
        self._waiting_max = waiting_max
        self._waiting: deque[tuple[Item, asyncio.Future[Result]]] = deque()
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._run(), name="group committer")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        while self._waiting:
            _, future = self._waiting.popleft()
            if not future.done():
                future.set_exception(CommitterClosed())
                future.exception()  # whoever waited may be gone

    async def put(self, item: Item) -> Result:
        """Wait until it is committed. Raises what the database said, CommitterFull or CommitterClosed."""
        if self._task is None:
            raise CommitterClosed
        if len(self._waiting) >= self._waiting_max:
            raise CommitterFull
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, future))
        self._wake.set()
        # Whoever goes away leaves their item in: what it tells of has happened.
        return await asyncio.shield(future)

    async def _run(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._waiting:
                batch = [self._waiting.popleft() for _ in range(min(len(self._waiting), self._batch_max))]
                try:
                    await self._commit_batch(batch)
                finally:
                    for _, future in batch:  # cancelled in the middle: nobody waits for ever
                        if not future.done():
                            future.set_exception(CommitterClosed())
                            future.exception()

    async def _commit_batch(self, batch: list[tuple[Item, "asyncio.Future[Result]"]]) -> None:
        try:
            results = await self._commit_patiently([item for item, _ in batch])
        except Exception as error:  # noqa: BLE001 - whatever it is, those who wait for it are told
            if len(batch) == 1:
                _, future = batch[0]
                if not future.done():
                    future.set_exception(error)
                    future.exception()  # whoever waited may be gone
                return
            middle = len(batch) // 2
            await self._commit_batch(batch[:middle])
            await self._commit_batch(batch[middle:])
            return
        for (_, future), result in zip(batch, results, strict=True):
            if not future.done():
                future.set_result(result)

    async def _commit_patiently(self, items: Sequence[Item]) -> Sequence[Result]:
        pause_s = _FIRST_PAUSE_S
        for _ in range(_TRIES - 1):
            try:
                return await self._commit(items)
            except (asyncpg.DeadlockDetectedError, asyncpg.LockNotAvailableError):
                if len(items) > 1:
                    raise  # one of them waits for somebody: the others need not
                await asyncio.sleep(pause_s)
                pause_s *= 2
            except (asyncpg.PostgresConnectionError, asyncpg.OperatorInterventionError, *SESSION_LOST):
                await asyncio.sleep(pause_s)
                pause_s *= 2
        return await self._commit(items)
