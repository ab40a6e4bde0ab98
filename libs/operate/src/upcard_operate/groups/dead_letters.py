"""`upcard dlt`: copies of events that could not be applied, as they lie in Kafka."""

from __future__ import annotations

import os
from typing import Annotated, Final

import typer

from eventstore.following import request_retry
from messaging.broker import BrokerSettings
from messaging.dead_letters.letters import Failure
from messaging.dead_letters.reading import read_dead_letters
from messaging.topics import topic_of
from upcard_operate.options import SERVICES, AsJson, Dsn, Service, dsn_of
from upcard_operate.output import CommandFailed, Misused, Output, row_of
from upcard_operate.running import connected, run

app = typer.Typer(no_args_is_help=True, help="Dead letters: copies of events that could not be applied.")

_KAFKA: Final = "UPCARD_KAFKA_BOOTSTRAP"

Source = Annotated[str, typer.Option("--source", help="The service whose events they are.")]
Kafka = Annotated[
    str | None, typer.Option("--kafka", help=f"host:port of a broker; else {_KAFKA}.", show_default=False)
]
Topic = Annotated[str | None, typer.Option("--topic", help="Topic of the events, if not upcard.SOURCE.v1.")]
Limit = Annotated[int, typer.Option(min=1, max=1_000_000, help="Read at most so many.")]


@app.command("list")
def list_(
    source: Source,
    follower: Annotated[str | None, typer.Option(help="Of this consumer only.")] = None,
    kafka: Kafka = None,
    topic: Topic = None,
    limit: Limit = 1_000,
    as_json: AsJson = False,
) -> None:
    """Which there are, the oldest first."""

    async def work() -> None:
        found, unreadable = await _read(source, follower, kafka, topic, limit)
        output = Output(as_json=as_json)
        output.rows([row_of(one) for one in found], "There are no dead letters.")
        if unreadable:
            output.say(f"{unreadable} records of the topic are no dead letters.")

    run(work())


@app.command()
def replay(
    service: Service,
    source: Source,
    follower: Annotated[str, typer.Option(help="The consumer's name.")],
    stream: Annotated[str | None, typer.Option(help="This stream only.")] = None,
    kafka: Kafka = None,
    topic: Topic = None,
    limit: Limit = 1_000,
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """Have the running consumer try again the streams that dead letters name and that are still parked."""

    async def work() -> None:
        found, _ = await _read(source, follower, kafka, topic, limit)
        streams = sorted({one.stream for one in found if stream in {None, one.stream}})
        if not streams:
            raise CommandFailed(f"No dead letter names {stream or 'a stream'} for {follower}.")
        rows = []
        async with connected(dsn_of(service, dsn)) as connection:
            for name in streams:
                parked = await request_retry(connection, follower, source, name)
                rows.append({"stream": name, "tried_again": bool(parked)})
        Output(as_json=as_json).rows(rows, "")

    run(work())


async def _read(
    source: str, follower: str | None, kafka: str | None, topic: str | None, limit: int
) -> tuple[list[Failure], int]:
    if source not in SERVICES:
        raise Misused(f"there is no service {source!r}; name one of {', '.join(SERVICES)}")
    bootstrap = kafka or os.environ.get(_KAFKA)
    if not bootstrap:
        raise Misused(f"which broker? Give --kafka, or set {_KAFKA}")
    found = await read_dead_letters(BrokerSettings(bootstrap), topic or topic_of(source), source, limit=limit)
    return [one for one in found.failures if follower in {None, one.follower}], found.unreadable
