"""The history's own commands: `python -m upcard_history compare`, `… replay-all`."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Sequence
from typing import Final

import asyncpg

from eventstore.command_line.progress import Bar
from eventstore.errors import EventStoreError
from eventstore.postgres import SESSION_LOST, Pool, PostgresEventStore, open_pool
from upcard_history.app.replay_queue import replay_again
from upcard_history.projections import PROJECTIONS
from upcard_history.projections.comparing import Comparison, NeverCaughtUp, compare_projection

DSN_VARIABLE: Final = "UPCARD_DSN"
DONE, DIFFERENT, MISUSED = 0, 1, 2

_ROUNDS_AT_ONCE: Final = 1_000


def parser() -> argparse.ArgumentParser:
    """All commands and their options."""
    top = argparse.ArgumentParser(
        prog="python -m upcard_history",
        description="Without a command the service is started. Commands are for the owner of the database.",
    )
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    compare = commands.add_parser(
        "compare", help="build views anew beside the live ones, and compare them row by row; nothing changes"
    )
    names = [projection.name for projection in PROJECTIONS]
    compare.add_argument("views", nargs="*", metavar="VIEW", help=f"{', '.join(names)}; none: all")
    compare.set_defaults(run=_compare)
    again = commands.add_parser("replay-all", help="have the service replay every round that ended once more")
    again.set_defaults(run=_replay_all)
    for command in (compare, again):
        command.add_argument("--dsn", help=f"the database's address; else the variable {DSN_VARIABLE}")
        command.add_argument("--json", action="store_true", help="one JSON object a line, for programs")
    return top


def main(arguments: Sequence[str]) -> int:
    """Run one command. 0: done, and equal; 1: it differs, or could not be done; 2: misused."""
    wanted = parser().parse_args(arguments)
    dsn = wanted.dsn or os.environ.get(DSN_VARIABLE)
    if not dsn:
        sys.stderr.write(f"Which database? Give --dsn, or set {DSN_VARIABLE}.\n")
        return MISUSED
    try:
        return asyncio.run(_run(wanted, dsn))
    except (NeverCaughtUp, LookupError, ValueError, EventStoreError) as problem:
        sys.stderr.write(f"{problem}\n")
    except (asyncpg.PostgresError, *SESSION_LOST) as problem:
        # Addresses carry passwords: none is repeated.
        sys.stderr.write(f"The database: {type(problem).__name__}: {problem}\n")
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted; nothing has changed.\n")
    return DIFFERENT


async def _run(wanted: argparse.Namespace, dsn: str) -> int:
    async with await open_pool(dsn, application_name="history command line", min_size=1, max_size=4) as pool:
        code: int = await wanted.run(pool, wanted)
        return code


async def _compare(pool: Pool, wanted: argparse.Namespace) -> int:
    known = {projection.name: projection for projection in PROJECTIONS}
    unknown = sorted(set(wanted.views) - set(known))
    if unknown:
        sys.stderr.write(f"There is no view {', '.join(unknown)}; there are {', '.join(known)}.\n")
        return MISUSED
    equal = True
    async with PostgresEventStore(pool) as store:
        for name in wanted.views or known:
            with Bar(sys.stderr, f"building {name}") as bar:
                found = await compare_projection(store, pool, known[name], on_progress=bar.show)
            equal = equal and found.equal
            _show(found, as_json=wanted.json)
    return DONE if equal else DIFFERENT


async def _replay_all(pool: Pool, wanted: argparse.Namespace) -> int:
    total, after = 0, ""
    async with pool.acquire() as connection:
        while True:
            last = await connection.fetchval(
                "SELECT max(round) FROM (SELECT round FROM history.replay_runs WHERE round > $1"
                " ORDER BY round LIMIT $2) AS page",
                after,
                _ROUNDS_AT_ONCE,
            )
            if last is None:
                break
            total += await replay_again(connection, after=after, limit=_ROUNDS_AT_ONCE)
            after = last
    text = json.dumps({"rounds": total}) if wanted.json else f"{total} rounds will be replayed again."
    sys.stdout.write(f"{text}\n")
    return DONE


def _show(found: Comparison, *, as_json: bool) -> None:
    if as_json:
        rows = [
            {"table": one.table, "side": one.side, "row": json.loads(one.row)} for one in found.differences
        ]
        line = {
            "view": found.name,
            "equal": found.equal,
            "events": found.events,
            "rows": dict(found.tables),
            "differences": rows,
            "parked": list(found.parked),
        }
        sys.stdout.write(json.dumps(line) + "\n")
        return
    rows_in_all = sum(found.tables.values())
    verdict = "equal" if found.equal else "DIFFERENT"
    sys.stdout.write(f"{found.name}: {verdict}; {rows_in_all:,} rows made of {found.events:,} events\n")
    for one in found.differences:
        sys.stdout.write(f"  {one.table}, {one.side}: {one.row}\n")
    for stream in found.parked:
        sys.stdout.write(f"  {stream} is parked in one of both\n")
