"""`upcard parked`: streams whose event could not be applied, and what waits behind it."""

from __future__ import annotations

from typing import Annotated

import typer

from eventstore.following import list_parked, request_retry, skip_parked
from upcard_operate.options import AsJson, By, Dsn, Service, Why, dsn_of
from upcard_operate.output import CommandFailed, Misused, Output, row_of
from upcard_operate.running import connected, run

app = typer.Typer(no_args_is_help=True, help="Streams whose event could not be applied.")

Follower = Annotated[str, typer.Option("--follower", help="The consumer's or projection's name.")]
Source = Annotated[str, typer.Option("--source", help="The service whose events it applies.")]


@app.command("list")
def list_(
    service: Service,
    follower: Annotated[str | None, typer.Option(help="Of this one only.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="At most so many.")] = 1_000,
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """Which streams are parked in a service's database, since when, and why."""

    async def work() -> None:
        async with connected(dsn_of(service, dsn)) as connection:
            found = await list_parked(connection, follower, limit=limit)
        Output(as_json=as_json).rows([row_of(one) for one in found], "Nothing is parked.")

    run(work())


@app.command()
def retry(
    service: Service,
    follower: Follower,
    source: Source,
    stream: Annotated[str | None, typer.Option(help="This stream.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Every parked stream of the follower.")] = False,
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """Ask the running follower to try parked streams again; it does within seconds."""

    async def work() -> None:
        if (stream is None) != every:
            raise Misused("which streams? Give --stream, or --all")
        async with connected(dsn_of(service, dsn)) as connection:
            streams = await request_retry(connection, follower, source, stream)
        if not streams:
            raise CommandFailed(f"{follower} of {source} has parked no such stream.")
        Output(as_json=as_json).record({"asked_for": streams})

    run(work())


@app.command()
def skip(
    service: Service,
    follower: Follower,
    source: Source,
    stream: Annotated[str, typer.Option(help="The parked stream.")],
    by: By,
    why: Why,
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """Leave out a stream's first parked event for good, and try what waits behind it."""

    async def work() -> None:
        async with connected(dsn_of(service, dsn)) as connection:
            event = await skip_parked(connection, follower, source, stream, skipped_by=by, why=why)
        Output(as_json=as_json).record(
            {"skipped": event.stream, "position": event.stream_position, "type": event.type}
        )

    run(work())
