"""Options that many commands share."""

from __future__ import annotations

import os
from typing import Annotated, Final

import typer

from upcard_operate.output import Misused

SERVICES: Final = ("table", "wallet", "bonus", "history", "gateway")
"""The services, each with a database of its own."""

AsJson = Annotated[bool, typer.Option("--json", help="One JSON object a line, for programs.")]
Service = Annotated[str, typer.Option("--service", help=f"Whose database: {', '.join(SERVICES)}.")]
Dsn = Annotated[
    str | None,
    typer.Option("--dsn", help="The database; else the variable UPCARD_<SERVICE>_DSN.", show_default=False),
]
By = Annotated[str, typer.Option("--by", help="Who decides this; it is kept.")]
Why = Annotated[str, typer.Option("--why", help="For what reason; it is kept.")]


def dsn_of(service: str, given: str | None) -> str:
    """The address of a service's database. Raises Misused."""
    if service not in SERVICES:
        raise Misused(f"there is no service {service!r}; name one of {', '.join(SERVICES)}")
    variable = f"UPCARD_{service.upper()}_DSN"
    found = given or os.environ.get(variable)
    if not found:
        raise Misused(f"which database? Give --dsn, or set {variable}")
    return found


def address_of(service: str) -> str:
    """Where a service takes calls, host:port. Raises Misused."""
    variable = f"UPCARD_{service.upper()}_ADDRESS"
    found = os.environ.get(variable)
    if not found:
        raise Misused(f"where is the {service} service? Set {variable} to its host:port")
    return found
