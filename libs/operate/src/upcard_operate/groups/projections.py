"""`upcard projections`: views of a log, building them anew, and proving that they are what the log says."""

from __future__ import annotations

import importlib
from typing import Annotated, Final

import typer

from eventstore.postgres import PostgresEventStore
from eventstore.projections import Progress, Projection, projection_status, rebuild_projection
from upcard_history.projections.comparing import compare_projection
from upcard_operate.options import AsJson, Dsn, Service, dsn_of
from upcard_operate.output import Misused, Output, row_of
from upcard_operate.preparing import database_of
from upcard_operate.running import FAILED, connected, pooled, run

app = typer.Typer(no_args_is_help=True, help="Views of a log: how far they are, rebuilding, comparing.")

_OF_SERVICES: Final = {"history": "upcard_history.projections"}
"""Where each service that has views names them, as PROJECTIONS."""

Names = Annotated[list[str] | None, typer.Argument(help="Which; without any: all of the service.")]


@app.command("list")
def list_(service: Service = "history", dsn: Dsn = None, as_json: AsJson = False) -> None:
    """How far each view is, and what is wrong with it."""

    async def work() -> None:
        async with connected(dsn_of(service, dsn)) as connection:
            found = await projection_status(connection)
        Output(as_json=as_json).rows([row_of(one) for one in found], "There is no projection here.")

    run(work())


@app.command()
def rebuild(
    names: Names = None,
    service: Service = "history",
    role: Annotated[str | None, typer.Option(help="The role that the service logs in as.")] = None,
    go_on: Annotated[bool, typer.Option("--continue", help="Go on with one that was interrupted.")] = False,
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """Build views anew beside the live ones, then exchange them; nobody notices. Run it as the owner."""

    async def work() -> None:
        output = Output(as_json=as_json)
        async with pooled(dsn_of(service, dsn)) as pool, PostgresEventStore(pool) as store:
            rows = []
            for projection in chosen(service, names):
                with output.progress(f"rebuilding {projection.name}", None) as bar:

                    def moved(progress: Progress) -> None:
                        bar(progress.done, progress.total)

                    done = await rebuild_projection(
                        store,
                        pool,
                        projection,
                        on_progress=moved,
                        go_on=go_on,
                        grant_to=role or database_of(service),
                    )
                rows.append(row_of(done))
        output.rows(rows, "")

    run(work())


@app.command()
def compare(
    names: Names = None, service: Service = "history", dsn: Dsn = None, as_json: AsJson = False
) -> None:
    """Build views anew and compare them with the live ones, row by row; exit status 1 when they differ."""

    async def work() -> bool:
        output = Output(as_json=as_json)
        async with pooled(dsn_of(service, dsn)) as pool, PostgresEventStore(pool) as store:
            found = []
            for projection in chosen(service, names):
                with output.progress(f"comparing {projection.name}", None) as bar:

                    def moved(progress: Progress) -> None:
                        bar(progress.done, progress.total)

                    found.append(await compare_projection(store, pool, projection, on_progress=moved))
        rows = [
            {
                "projection": one.name,
                "equal": one.equal,
                "events": one.events,
                "rows": sum(one.tables.values()),
                "differences": [f"{each.table}, {each.side}: {each.row}" for each in one.differences],
            }
            for one in found
        ]
        output.rows(rows, "")
        return all(one.equal for one in found)

    if not run(work()):
        raise typer.Exit(FAILED)


def chosen(service: str, names: list[str] | None) -> list[Projection]:
    """The service's views of these names. Raises Misused."""
    if service not in _OF_SERVICES:
        raise Misused(f"the {service} service has no views; name one of {', '.join(_OF_SERVICES)}")
    known: dict[str, Projection] = {
        one.name: one for one in importlib.import_module(_OF_SERVICES[service]).PROJECTIONS
    }
    unknown = [name for name in names or () if name not in known]
    if unknown:
        raise Misused(f"there is no view {unknown[0]!r}; name one of {', '.join(known)}")
    return [known[name] for name in names or known]
