"""Calls to a database that may be away, frozen or full: bounded in time, and which errors will pass."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar

import asyncpg

from eventstore.postgres.connections import SESSION_LOST, Connection, Pool

T = TypeVar("T")

PASSING: Final = (
    asyncpg.PostgresConnectionError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.CannotConnectNowError,
    asyncpg.TooManyConnectionsError,
    asyncpg.IdleInTransactionSessionTimeoutError,
    asyncpg.TransactionTimeoutError,
    asyncpg.LockNotAvailableError,
    asyncpg.QueryCanceledError,
    asyncpg.DeadlockDetectedError,
    asyncpg.SerializationError,
    asyncpg.ReadOnlySQLTransactionError,  # it is a standby for the moment: a fail-over is under way
    *SESSION_LOST,
)
"""The database is away, or too busy just now. Anything else is a mistake that trying again does not mend."""


async def bounded_call(
    pool: Pool, timeout_s: float, work: Callable[[Connection], Coroutine[Any, Any, T]]
) -> T:
    """Do something over a connection of the pool, within this time and never longer. Raises TimeoutError.

    A connection whose answer did not come is cut, not waited for: the server may be frozen, the network gone.
    What became of the work is then not known.
    """
    async with asyncio.timeout(timeout_s):
        connection = await pool.acquire()
        try:
            return await work(connection)
        except (asyncio.CancelledError, *SESSION_LOST):
            connection.terminate()
            raise
        finally:
            await pool.release(connection)
