"""A log that fails as a test says: before a batch is stored, or after it, when nobody knows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from eventstore.answers import Answer, AnswerKey
from upcard_table.app.ports import Batch, Hints, PreviousOwner, StoredStream, TableLog
from upcard_table.domain.state import TableState

Failure = Callable[[Batch], Exception | None]


def _never(_: Batch) -> Exception | None:
    return None


@dataclass
class ShakyLog:
    """The real log behind it does what is asked; these say what is raised before and after a batch."""

    log: TableLog
    before: Failure = _never
    after: Failure = _never
    stored: list[Batch] = field(default_factory=list)

    async def load_table(self, table: str) -> tuple[TableState, int]:
        """See `TableLog`."""
        return await self.log.load_table(table)

    async def load(self, stream: str) -> StoredStream:
        """See `TableLog`."""
        return await self.log.load(stream)

    async def take_over(self, table: str, previous: PreviousOwner | None) -> Hints:
        """See `TableLog`."""
        return await self.log.take_over(table, previous)

    async def hints(self, table: str) -> Hints:
        """See `TableLog`."""
        return await self.log.hints(table)

    async def find_answers(self, keys: Sequence[AnswerKey]) -> Mapping[AnswerKey, Answer]:
        """See `TableLog`."""
        return await self.log.find_answers(keys)

    async def store(self, batch: Batch) -> None:
        """See `TableLog`."""
        error = self.before(batch)
        if error is not None:
            raise error
        await self.log.store(batch)
        self.stored.append(batch)
        error = self.after(batch)
        if error is not None:
            raise error


def once(error: Exception) -> Failure:
    """Raise this the first time that a batch holds events of a round."""
    left = [error]

    def fail(batch: Batch) -> Exception | None:
        if left and any(append.stream.startswith("round-") for append in batch.appends):
            return left.pop()
        return None

    return fail
