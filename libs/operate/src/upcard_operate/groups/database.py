"""`upcard database`: making databases and migrating them, as their owner and never as a service."""

from __future__ import annotations

import os
from typing import Annotated, Final

import typer

from upcard_operate.options import SERVICES, AsJson, Dsn, Service, dsn_of
from upcard_operate.output import Misused, Output
from upcard_operate.preparing import create_database, database_of, prepare_database
from upcard_operate.running import connected, run

app = typer.Typer(no_args_is_help=True, help="Databases of services: making them, bringing them up to date.")

_ADMIN: Final = "UPCARD_ADMIN_DSN"


@app.command()
def prepare(
    service: Service,
    role: Annotated[
        str | None, typer.Option(help="The role that the service logs in as; it has to exist.")
    ] = None,
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """Apply the migrations that are missing. Run it as the database's owner; it is safe to repeat."""

    async def work() -> None:
        async with connected(dsn_of(service, dsn)) as connection:
            applied = await prepare_database(connection, service, service_role=role)
        Output(as_json=as_json).record({"service": service, "applied": applied})

    run(work())


@app.command()
def create(
    services: Annotated[
        list[str] | None, typer.Argument(help=f"Which; without any: {' '.join(SERVICES)}.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make each service's role and database where missing, and migrate them; it is safe to repeat.

    UPCARD_ADMIN_DSN names a role that may make roles and databases; UPCARD_<SERVICE>_DATABASE_PASSWORD is
    what the service's role logs in with.
    """

    async def work() -> None:
        admin = os.environ.get(_ADMIN)
        if not admin:
            raise Misused(f"which server? Set {_ADMIN} to a role that may make roles and databases")
        wanted = {service: _password_of(service) for service in services or SERVICES}
        rows = []
        for service, password in wanted.items():
            applied = await create_database(admin, service, password)
            rows.append({"service": service, "database": database_of(service), "applied": applied})
        Output(as_json=as_json).rows(rows, "")

    run(work())


def _password_of(service: str) -> str:
    if service not in SERVICES:
        raise Misused(f"there is no service {service!r}; name one of {', '.join(SERVICES)}")
    variable = f"UPCARD_{service.upper()}_DATABASE_PASSWORD"
    found = os.environ.get(variable)
    if not found:
        raise Misused(f"set {variable} to the password of the {service} service's role")
    return found
