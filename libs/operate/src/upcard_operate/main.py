"""`upcard`: for people who operate it. A file per group of subcommands, in `upcard_operate.groups`."""

from __future__ import annotations

import importlib
from typing import Final

import typer

GROUPS: Final = {
    "round": "rounds",
    "wallet": "wallet",
    "projections": "projections",
    "parked": "parked",
    "dlt": "dead_letters",
    "relay": "relay",
    "database": "database",
    "check": "checking",
    "audit": "audit",
    "operator": "operators",
    "conformance": "conformance",
    "staff": "staff",
}
"""Name of each group, and the module that has it."""


def program() -> typer.Typer:
    """The program with all its groups."""
    app = typer.Typer(
        name="upcard",
        help="Upcard for people who operate it. Exit status: 0 done, 1 failed or disagreed, 2 misused.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        add_completion=False,
    )
    for name, module in GROUPS.items():
        app.add_typer(importlib.import_module(f"upcard_operate.groups.{module}").app, name=name)
    app.command("secrets")(importlib.import_module("upcard_operate.groups.secret").make)
    return app


def main() -> None:
    """Run the command that the arguments name."""
    program()()
