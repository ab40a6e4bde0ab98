"""Running one command's asynchronous work, and turning what goes wrong into a sentence and a status."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Coroutine
from typing import Any, Final, TypeVar

import asyncpg
import grpc.aio
import typer
from aiokafka.errors import KafkaError

from eventstore.errors import EventStoreError
from eventstore.postgres import SESSION_LOST, Connection, Pool, open_pool
from servicekit.grpc import NotServing, failure_of
from upcard_operate.output import CommandFailed, Misused

T = TypeVar("T")

FAILED: Final = 1
MISUSED: Final = 2
_CONNECT_S: Final = 10.0
_STATEMENT_S: Final = 60.0


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run to the end. Raises typer.Exit with the status after saying on standard error what went wrong."""
    try:
        return asyncio.run(work)
    except Misused as problem:
        _say(f"{problem}.")
        raise typer.Exit(MISUSED) from None
    except (CommandFailed, LookupError, ValueError, EventStoreError) as problem:
        _say(str(problem))
    except grpc.aio.AioRpcError as error:
        failure = failure_of(error)
        _say(f"the service refused: {failure.reason or failure.code.name}: {failure.message}")
    except (NotServing, KafkaError) as problem:
        _say(f"{type(problem).__name__}: {problem}")
    except (asyncpg.PostgresError, *SESSION_LOST) as problem:
        # Addresses carry passwords: none is repeated.
        _say(f"the database: {type(problem).__name__}: {problem}")
    except KeyboardInterrupt:
        _say("interrupted; what was committed stays")
    raise typer.Exit(FAILED)


def _say(sentence: str) -> None:
    sys.stderr.write(f"{sentence}\n")


@contextlib.asynccontextmanager
async def connected(dsn: str) -> AsyncIterator[Connection]:
    """One connection, closed at the end."""
    connection = await asyncpg.connect(dsn, timeout=_CONNECT_S, command_timeout=_STATEMENT_S)
    try:
        yield connection
    finally:
        await connection.close(timeout=_CONNECT_S)


@contextlib.asynccontextmanager
async def pooled(dsn: str) -> AsyncIterator[Pool]:
    """A few connections, closed at the end."""
    async with await open_pool(dsn, application_name="upcard", min_size=1, max_size=6) as pool:
        yield pool
