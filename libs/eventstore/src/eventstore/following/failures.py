"""Which errors are the database's, and which are an event's."""

import enum
from typing import Final

import asyncpg

from eventstore.errors import VersionConflict
from eventstore.postgres.connections import SESSION_LOST, Connection


class Kind(enum.Enum):
    """What to do about an error."""

    AWAY = "away"
    """The database says that it cannot now. Wait; never an event's fault."""
    LOST = "lost"
    """The connection was lost, or did not answer in time. Wait; if it happens each time, an event's fault."""
    CLASH = "clash"
    """Others were in the way, or it took too long. Try again; if it happens each time, an event's fault."""
    FAULT = "failed"
    """Anything else."""


_AWAY: Final = (
    asyncpg.LockNotAvailableError,
    asyncpg.InsufficientResourcesError,  # class 53: connections, memory, disk
    asyncpg.ReadOnlySQLTransactionError,  # a primary that is one no more
    asyncpg.CannotConnectNowError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.PostgresConnectionError,  # class 08
)
_CLASH: Final = (
    asyncpg.TransactionRollbackError,  # class 40: deadlock, serialization
    asyncpg.QueryCanceledError,  # statement_timeout
    asyncpg.InvalidCachedStatementError,  # a table was changed or exchanged
    VersionConflict,  # what the handler decided upon has moved on
)


def kind_of(error: BaseException, *, lost: bool) -> Kind:
    """The kind of an error, given whether the connection was lost with it."""
    if isinstance(error, _AWAY) and not (lost and isinstance(error, asyncpg.PostgresConnectionError)):
        return Kind.AWAY
    # A session that was cut in the middle of an answer may say so in this way alone.
    if lost or isinstance(error, asyncpg.InternalClientError):
        return Kind.LOST
    return Kind.CLASH if isinstance(error, _CLASH) else Kind.FAULT


def passes(error: BaseException) -> bool:
    """Whether an error met while reading is one that passes by itself."""
    if isinstance(error, SESSION_LOST):
        return True
    return kind_of(error, lost=False) is not Kind.FAULT


def is_lost(connection: Connection) -> bool:
    """Whether a connection is of no more use."""
    try:
        return connection.is_closed()
    except asyncpg.InterfaceError:
        return True  # the pool has seen it, and taken it back


def reason_of(error: BaseException) -> str:
    """A short name of an error, for lists: its slug or its class."""
    slug = getattr(error, "slug", None)
    return slug if isinstance(slug, str) and slug else type(error).__name__[:100]


def text_of(error: BaseException, limit: int = 2_000) -> str:
    """An error in words, short enough to be kept, and of characters that the database takes."""
    text = f"{type(error).__name__}: {error}"
    return text[:limit].encode("utf-8", "replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")
