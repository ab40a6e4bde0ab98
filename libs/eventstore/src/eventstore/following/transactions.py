"""One transaction, tried until it is committed or until it is known why not."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, TypeAlias, TypeVar

import asyncpg
from asyncpg.transaction import Transaction

from eventstore.faults import reach
from eventstore.following.errors import DatabaseAway, FollowingError
from eventstore.following.failures import Kind, is_lost, kind_of
from eventstore.following.observer import Observer
from eventstore.following.policy import Policy
from eventstore.postgres.connections import SESSION_LOST, Connection, Pool

T = TypeVar("T")

ROLLBACK_TIMEOUT_S: Final = 2.0
_UNREACHABLE: Final = (asyncpg.PostgresError, *SESSION_LOST)


class Fault(Exception):
    """The work itself failed, in a transaction that was rolled back: `error` is what it raised."""

    def __init__(self, error: BaseException) -> None:
        self.error = error
        super().__init__(repr(error))


@dataclass(slots=True)
class Progress:
    """How far a transaction came: from `handling` on, whatever goes wrong may be its events' fault."""

    handling: bool = False
    reads: bool = False
    """Set by work that only reads: dying at its commit is of no interest."""


Work: TypeAlias = Callable[[Connection, Progress], Awaitable[T]]


class Failure(Exception):
    """Why a transaction did not come about; its outcome is unknown only if the connection was lost in it."""

    def __init__(self, error: BaseException, kind: Kind, *, handling: bool) -> None:
        self.error = error
        self.kind = kind
        self.handling = handling
        super().__init__(repr(error))


async def in_transaction(pool: Pool, work: Work[T], timeout_s: float) -> T:
    """The result of the work, committed. Raises Failure, or a FollowingError of the work as it is."""
    progress = Progress()
    try:
        async with asyncio.timeout(timeout_s):
            connection = await pool.acquire()
    except _UNREACHABLE as error:
        raise Failure(error, Kind.AWAY, handling=False) from error
    try:
        return await _committed(connection, work, progress, timeout_s)
    finally:
        await pool.release(connection)


async def _committed(connection: Connection, work: Work[T], progress: Progress, timeout_s: float) -> T:
    transaction = connection.transaction()
    deadline = asyncio.timeout(timeout_s)
    try:
        async with deadline:
            await transaction.start()
            result = await work(connection, progress)
            if not progress.reads:
                reach("follow.before_commit")
            await transaction.commit()
    except FollowingError:
        await _leave(connection, transaction, interrupted=False)
        raise
    except Exception as error:
        lost = deadline.expired() or is_lost(connection)
        await _leave(connection, transaction, interrupted=deadline.expired())
        raise Failure(error, kind_of(error, lost=lost), handling=progress.handling) from error
    except BaseException:
        await _leave(connection, transaction, interrupted=True)
        raise
    if not progress.reads:
        reach("follow.committed")
    return result


async def _leave(connection: Connection, transaction: Transaction, *, interrupted: bool) -> None:
    # Interrupted in the middle of an exchange, asyncpg asks the server to stop what it is doing, and waits.
    # A connection that was merely cut would hold its locks for as long as the statement runs.
    if is_lost(connection):
        return
    if not connection.is_in_transaction():
        if interrupted:
            connection.terminate()  # in its BEGIN
        return  # the commit was refused: the server has rolled back already
    try:
        async with asyncio.timeout(ROLLBACK_TIMEOUT_S):
            await transaction.rollback()
    except BaseException as error:
        if not is_lost(connection):
            connection.terminate()
        if not isinstance(error, _UNREACHABLE):
            raise


@dataclass(frozen=True, slots=True)
class Transactions:
    """Transactions of one follower, tried with patience."""

    pool: Pool
    follower: str
    source: str
    policy: Policy
    observer: Observer

    async def run(self, work: Work[T]) -> T:
        """The result of the work, committed; it may be done several times, and is committed once.

        But if a connection is lost in the commit: then it may be done again after it was committed, and has
        to find that out itself, from the position it locks. Raises Fault, DatabaseAway, or a FollowingError
        of the work.
        """
        away = clashes = lost_in_handling = 0
        while True:
            try:
                return await in_transaction(self.pool, work, self.policy.transaction_timeout_s)
            except Failure as failure:
                kind = failure.kind
                if kind is Kind.FAULT or (kind is Kind.CLASH and failure.handling):
                    clashes += 1
                    if kind is Kind.FAULT or clashes >= self.policy.clash_tries:
                        raise _verdict(failure) from failure.error
                else:
                    away += 1
                    lost_in_handling += kind is Kind.LOST and failure.handling
                    if away >= self.policy.away_tries or self.pool.is_closing():
                        if lost_in_handling == away:
                            raise Fault(failure.error) from failure.error
                        raise DatabaseAway(
                            f"{self.follower} of {self.source}: {away} tries, the last: {failure.error!r}"
                        ) from failure.error
            self.observer.retried(self.follower, self.source, kind.value)
            await asyncio.sleep(self.policy.pause_s(away + clashes))


def _verdict(failure: Failure) -> BaseException:
    # Before the handler was called nothing can be an event's fault: what went wrong is ours, raised as it is.
    return Fault(failure.error) if failure.handling else failure.error
