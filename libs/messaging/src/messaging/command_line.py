"""The command line: each group of commands is a module that adds itself to it.

Such a module has `register(groups, shared)`: it adds parsers to `groups`, with `shared` among their parents
(it has `--dsn`), and gives each a coroutine function by `set_defaults(run=…)`: from the arguments to the exit
status. A refusal is raised as CommandRefused; what there is to say is said with `say`.
"""

import argparse
import asyncio
import importlib
import importlib.util
import os
import sys
from collections.abc import Sequence
from typing import Final

import asyncpg

from eventstore.errors import EventStoreError
from eventstore.postgres import SESSION_LOST

GROUPS: Final = (
    "messaging.relay.commands",
    "messaging.consumer.commands",
    "messaging.dead_letters.commands",
)
"""The modules with commands, in the order in which help lists them."""

DSN_SETTING: Final = "UPCARD_DSN"


class CommandRefused(Exception):
    """A command cannot be carried out; the sentence is for the person who gave it."""


def say(line: str) -> None:
    """A line on standard output."""
    sys.stdout.write(f"{line}\n")


def parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    whole = argparse.ArgumentParser(prog="python -m messaging", description="Relay, consumers, dead letters.")
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument(
        "--dsn",
        default=os.environ.get(DSN_SETTING),
        help=f"address of the service's database (default: the variable {DSN_SETTING})",
    )
    groups = whole.add_subparsers(required=True, metavar="GROUP")
    for name in GROUPS:
        if importlib.util.find_spec(name) is not None:
            importlib.import_module(name).register(groups, shared)
    return whole


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out one command; its exit status: 0 done, 1 refused or failed, 2 not understood."""
    named = parser().parse_args(arguments)
    if not named.dsn:
        sys.stderr.write(f"which database? Name it with --dsn or the variable {DSN_SETTING}\n")
        return 2
    try:
        status: int = asyncio.run(named.run(named))
    except (CommandRefused, EventStoreError, asyncpg.PostgresError, *SESSION_LOST) as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        return 1
    return status
