"""Connections with the limits that keep one stuck session from stopping everyone."""

from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import asyncpg
from asyncpg.pool import PoolConnectionProxy

# In quotes: to the running program these classes are not generic.
Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record] | PoolConnectionProxy[asyncpg.Record]"
"""A connection, from a pool or not."""

Pool: TypeAlias = "asyncpg.Pool[asyncpg.Record]"


SESSION_LOST: Final = (
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,  # cut in the middle of an answer
    OSError,
    TimeoutError,
)
"""What a client may meet when its session is lost or cannot be had, beside what the server says of it.

One list, since each of them was once forgotten somewhere. An InterfaceError may also be a mistake in a call.
"""


@dataclass(frozen=True, slots=True)
class SessionLimits:
    """What the server allows one session; in milliseconds.

    A shard's lock is never held for longer than these.
    """

    lock_timeout_ms: int = 2_000
    """Longest wait for one lock, a shard's included."""
    statement_timeout_ms: int = 10_000
    """Longest single statement."""
    idle_in_transaction_timeout_ms: int = 5_000
    """Longest pause inside a transaction: a process that hangs there loses its session.

    And its locks with it.
    """
    transaction_timeout_ms: int = 20_000
    """Longest transaction."""

    def server_settings(self, application_name: str) -> dict[str, str]:
        """The settings of a session, as the server names them."""
        return {
            "application_name": application_name,
            "lock_timeout": f"{self.lock_timeout_ms}ms",
            "statement_timeout": f"{self.statement_timeout_ms}ms",
            "idle_in_transaction_session_timeout": f"{self.idle_in_transaction_timeout_ms}ms",
            "transaction_timeout": f"{self.transaction_timeout_ms}ms",
            # "Yes" means durable, and on the quorum where there is one; whatever the server's default is.
            "synchronous_commit": "on",
            "default_transaction_isolation": "read committed",
            # Compiling costs more than any of the statements here, and begins just where a plan has many
            # partitions.
            "jit": "off",
        }


DEFAULT_LIMITS = SessionLimits()


async def _reset(connection: Connection) -> None:
    # asyncpg would send a resetting query each time a connection comes back: a round trip more for each read.
    # Nothing here leaves anything behind in a session; only an open transaction has to go.
    if connection.is_in_transaction():
        await connection.reset()


async def open_pool(
    dsn: str,
    *,
    application_name: str,
    min_size: int = 2,
    max_size: int = 16,
    limits: SessionLimits = DEFAULT_LIMITS,
    **more: Any,  # noqa: ANN401 - whatever asyncpg.create_pool takes besides
) -> Pool:
    """A pool whose sessions have these limits; `application_name` is what an alarm names as a shard's holder.

    A store keeps four of its connections (two lanes of the appender, wake-ups, listening); readers share the
    rest. A connection that comes back is not reset: whoever changes a session's settings undoes it.
    """
    return await asyncpg.create_pool(
        dsn,
        min_size=min_size,
        max_size=max_size,
        server_settings=limits.server_settings(application_name),
        reset=_reset,
        **more,
    )
