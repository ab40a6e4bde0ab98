"""Words to commands: the parser, and running what it found."""

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence

import asyncpg

from eventstore.command_line import followers, parked, projections
from eventstore.command_line.session import DSN_VARIABLE, CommandFailed, Session
from eventstore.errors import EventStoreError
from eventstore.postgres.connections import SESSION_LOST, open_pool

_DONE, _FAILED, _MISUSED = 0, 1, 2


def parser() -> argparse.ArgumentParser:
    """All commands and their options."""
    top = argparse.ArgumentParser(
        prog="python -m eventstore",
        description="Followers and projections: how far they are, what is parked or stopped, and what to do.",
    )
    top.add_argument("--dsn", help=f"the database's address; else the variable {DSN_VARIABLE}")
    top.add_argument("--json", action="store_true", help="one JSON object a line, for programs")
    groups = top.add_subparsers(required=True, metavar="COMMAND")
    followers.add_to(groups)
    parked.add_to(groups)
    projections.add_to(groups)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command. 0: done; 1: it could not be done, said in a sentence; 2: misused."""
    wanted = parser().parse_args(arguments)
    dsn = wanted.dsn or os.environ.get(DSN_VARIABLE)
    if not dsn:
        sys.stderr.write(f"Which database? Give --dsn, or set {DSN_VARIABLE}.\n")
        return _MISUSED
    try:
        asyncio.run(_run(wanted, dsn))
    except (CommandFailed, LookupError, ValueError, EventStoreError) as problem:
        sys.stderr.write(f"{problem}\n")
        return _FAILED
    except (asyncpg.PostgresError, *SESSION_LOST) as problem:
        # Addresses carry passwords: none is repeated.
        sys.stderr.write(f"The database: {type(problem).__name__}: {problem}\n")
        return _FAILED
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted; what was committed stays.\n")
        return _FAILED
    return _DONE


async def _run(wanted: argparse.Namespace, dsn: str) -> None:
    async with await open_pool(
        dsn, application_name="eventstore command line", min_size=1, max_size=4
    ) as pool:
        await wanted.run(Session(pool, as_json=wanted.json), wanted)
