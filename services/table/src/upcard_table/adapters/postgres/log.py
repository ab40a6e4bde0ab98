"""The owner's log on Postgres: streams with their private parts, batches of one transaction each."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

import asyncpg

from eventstore import (
    Appended,
    AppendFailed,
    EventStoreError,
    Keyring,
    OutcomeUnknown,
    ShardBusy,
    StreamAppend,
)
from eventstore.answers import Answer, AnswerExists, AnswerKey, find_answers, store_answers
from eventstore.checking import MAX_APPEND_EVENTS
from eventstore.coordination.outages import PASSING
from eventstore.faults import reach
from eventstore.postgres import Connection, Pool, PostgresPrivateReader, append_in_transaction
from eventstore.postgres.connections import SESSION_LOST
from eventstore.postgres.reading import read_contents, stream_head
from upcard_table.adapters.postgres.owning import begin_take_over, note, read_hints
from upcard_table.adapters.postgres.states import TableStates
from upcard_table.app.ports import NOTHING_NOTED, Batch, Hints, LogAway, PreviousOwner, StoredStream
from upcard_table.domain.state import TableState
from upcard_table.domain.words import round_stream

PAGE: Final = 1_000
TRIES: Final = 6
_FIRST_PAUSE_S: Final = 0.05
_LONGEST_PAUSE_S: Final = 1.0
_CALL_TIMEOUT_S: Final = 15.0
"""Longest for one try; more than the database's own limits of a statement."""
_WHOLE_STREAM_S: Final = 60.0
"""Longest for a table's stream where no snapshot of it is left."""

_LOST: Final = (
    asyncpg.PostgresConnectionError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.CannotConnectNowError,
    asyncpg.TooManyConnectionsError,
    *SESSION_LOST,
)
"""After one of these in COMMIT nobody knows whether it was done."""
_ROLLED_BACK: Final = (asyncpg.DeadlockDetectedError, asyncpg.SerializationError)


class PostgresTableLog:
    """The port `TableLog`. The pool's role needs membership in `eventstore_private` too."""

    def __init__(self, pool: Pool, keyring: Keyring, announce: Callable[[Sequence[Appended]], None]) -> None:
        self._pool = pool
        self._keyring = keyring
        self._private = PostgresPrivateReader(pool, keyring)
        self._announce = announce
        self._states = TableStates(pool)

    async def load_table(self, table: str) -> tuple[TableState, int]:
        """See `TableLog`."""
        with _away():
            async with asyncio.timeout(_WHOLE_STREAM_S):
                return await self._states.load(table)

    async def load(self, stream: str) -> StoredStream:
        """See `TableLog`. Raises PrivatePartUnreadable, UnknownKey where a face-down card cannot be read."""
        contents: list[bytes] = []
        private: dict[int, bytes] = {}
        async with self._connection() as connection:
            while True:
                page = await read_contents(connection, stream, len(contents), PAGE)
                contents += page
                if len(page) < PAGE:
                    break
        with _away():
            after = 0
            while True:
                part = await self._private.read_private(stream, after=after, limit=PAGE)
                private.update(part)
                if len(part) < PAGE:
                    break
                after = max(part)
        # What was appended between the two reads is not known here, card or event: the next append says so.
        return StoredStream(stream, tuple(contents), private)

    async def take_over(self, table: str, previous: PreviousOwner | None) -> Hints:
        """See `TableLog`."""
        async with self._connection() as connection:
            await begin_take_over(connection, table, previous)
            return await self._probed(connection, table)

    async def hints(self, table: str) -> Hints:
        """See `TableLog`."""
        async with self._connection() as connection:
            return await self._probed(connection, table)

    async def _probed(self, connection: Connection, table: str) -> Hints:
        found = await read_hints(connection, table)
        last = found.last_round
        while (await stream_head(connection, round_stream(table, last + 1))).position:
            last += 1
        return replace(found, last_round=last)

    async def find_answers(self, keys: Sequence[AnswerKey]) -> Mapping[AnswerKey, Answer]:
        """See `TableLog`."""
        if not keys:
            return {}
        async with self._connection() as connection:
            return await find_answers(connection, keys)

    async def store(self, batch: Batch) -> None:
        """See `TableLog`."""
        lost = False
        error: Exception | None = None
        for tried in range(1, TRIES + 1):
            try:
                async with asyncio.timeout(_CALL_TIMEOUT_S):
                    stored = await self._try(batch, again=lost)
            except EventStoreError:
                raise
            except asyncpg.LockNotAvailableError as busy:
                raise ShardBusy(f"table {batch.table}: its shard is held by someone") from busy
            except _LOST as away:
                lost, error = True, away
            except _ROLLED_BACK as blameless:
                error = blameless
            except asyncpg.PostgresError as refused:
                raise AppendFailed(f"table {batch.table}: the database refused") from refused
            else:
                self._announce(stored)
                return
            if tried < TRIES:
                longest_s = min(_FIRST_PAUSE_S * 2.0**tried, _LONGEST_PAUSE_S)
                await asyncio.sleep(longest_s * random.uniform(0.5, 1.0))  # noqa: S311 - spreads tries
        if not lost:
            raise AppendFailed(f"table {batch.table}: the database cannot be used") from error
        ids = [event.event_id for append in batch.appends for event in append.events]
        raise OutcomeUnknown(ids, f"table {batch.table}: the connection was lost") from error

    async def _try(self, batch: Batch, *, again: bool) -> Sequence[Appended]:
        connection = await self._pool.acquire()
        try:
            async with connection.transaction():
                store = _store_again if again else _store
                stored = await store(connection, batch, self._keyring)
        except (asyncio.CancelledError, *SESSION_LOST):
            # Not closed politely: that would wait for a server that may never answer.
            connection.terminate()
            raise
        else:
            reach("table.batch.committed")
            return stored
        finally:
            await self._pool.release(connection)

    @contextlib.asynccontextmanager
    async def _connection(self) -> AsyncIterator[Connection]:
        with _away():
            async with asyncio.timeout(_CALL_TIMEOUT_S), self._pool.acquire() as connection:
                yield connection


@contextlib.contextmanager
def _away() -> Iterator[None]:
    try:
        yield
    except PASSING as error:
        raise LogAway(type(error).__name__) from error


async def _store(connection: Connection, batch: Batch, keyring: Keyring) -> Sequence[Appended]:
    """The shard's lock comes last: it is held to the commit."""
    await store_answers(connection, batch.answers)
    if batch.notes != NOTHING_NOTED:
        await note(connection, batch.table, batch.notes)
    stored = await _append(connection, batch.appends, keyring)
    reach("table.batch.before_commit")
    return stored


async def _append(
    connection: Connection, appends: Sequence[StreamAppend], keyring: Keyring
) -> Sequence[Appended]:
    """Append in as many steps as the log's bound asks for: the platform may choose for 10,000 at once."""
    stored: list[Appended] = []
    step: list[StreamAppend] = []
    room = MAX_APPEND_EVENTS
    for append in appends:
        expected = append.expected
        assert isinstance(expected, int)  # noqa: S101 - the owner always knows
        for start in range(0, len(append.events), MAX_APPEND_EVENTS):
            part = append.events[start : start + MAX_APPEND_EVENTS]
            if len(part) > room or any(one.stream == append.stream for one in step):
                stored += await append_in_transaction(connection, step, keyring)
                step, room = [], MAX_APPEND_EVENTS
            step.append(StreamAppend(append.stream, expected + start, part))
            room -= len(part)
    if step:
        stored += await append_in_transaction(connection, step, keyring)
    return stored


async def _store_again(connection: Connection, batch: Batch, keyring: Keyring) -> Sequence[Appended]:
    """After a try whose outcome is not known: under the shard's lock it is seen whether it was committed.

    Its events and answers were one transaction, so what is there says it of all.
    """
    if batch.appends:
        stored = await _append(connection, batch.appends, keyring)
        if all(one.already for one in stored):
            return stored
        await store_answers(connection, batch.answers)
        await note(connection, batch.table, batch.notes)
        return stored
    found = await find_answers(connection, [one.key for one in batch.answers])
    if found:
        ours = all(found.get(one.key) == Answer(one.answer, one.body_digest) for one in batch.answers)
        if not ours:
            raise AnswerExists(sorted(found))
        return ()
    await store_answers(connection, batch.answers)
    await note(connection, batch.table, batch.notes)
    return ()
