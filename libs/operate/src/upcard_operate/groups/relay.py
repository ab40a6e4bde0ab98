"""`upcard relay`: what publishes a service's log to Kafka, and publishing again."""

from __future__ import annotations

from typing import Annotated

import typer

from eventstore import SHARDS
from eventstore.coordination import lease_holders
from messaging.relay.positions import NothingToRepublish, relay_positions, republish
from messaging.relay.relay import lease_of
from messaging.topics import topic_of
from upcard_operate.options import AsJson, By, Dsn, Service, Why, dsn_of
from upcard_operate.output import CommandFailed, Misused, Output
from upcard_operate.running import connected, run

app = typer.Typer(no_args_is_help=True, help="What publishes a service's log to Kafka.")

Topic = Annotated[str | None, typer.Option("--topic", help="A topic of another name than upcard.SERVICE.v1.")]


@app.command()
def status(
    service: Service,
    topic: Topic = None,
    every: Annotated[bool, typer.Option("--all", help="Also the shards without lag.")] = False,
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """Who is active, and how far each shard is published."""

    async def work() -> None:
        name = topic or topic_of(service)
        async with connected(dsn_of(service, dsn)) as connection:
            positions = await relay_positions(connection, name)
            holders = await lease_holders(connection, lease_of(name))
        active = next((one.holder for one in holders if one.held), None)
        output = Output(as_json=as_json)
        output.record({"topic": name, "active": active, "lag": sum(one.lag for one in positions)})
        rows = [
            {
                "shard": one.shard,
                "published": one.position,
                "head": one.head,
                "lag": one.lag,
                "moved_at": one.moved_at,
            }
            for one in positions
            if one.lag or every
        ]
        output.rows(rows, "Every shard is published to its end.")

    run(work())


@app.command("republish")
def publish_again(
    service: Service,
    from_position: Annotated[int, typer.Option("--from", min=1, help="First position of each shard.")],
    by: By,
    why: Why,
    shard: Annotated[
        list[int] | None, typer.Option(min=0, max=SHARDS - 1, help="A shard; repeatable.")
    ] = None,
    all_shards: Annotated[bool, typer.Option("--all-shards", help="All 64 shards.")] = False,
    topic: Topic = None,
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """Publish shards again, from a position to the end. Consumers pass over what they know."""

    async def work() -> None:
        if bool(shard) == all_shards:
            raise Misused("which shards? Give --shard (more than once if need be), or --all-shards")
        shards = list(range(SHARDS)) if all_shards else list(shard or ())
        async with connected(dsn_of(service, dsn)) as connection:
            try:
                done = await republish(
                    connection,
                    topic or topic_of(service),
                    shards,
                    from_position=from_position,
                    asked_by=by,
                    reason=why,
                )
            except NothingToRepublish as problem:
                raise CommandFailed(str(problem)) from None
        rows = [
            {
                "shard": one.shard,
                "from": one.from_position,
                "events": one.position_before - one.from_position + 1,
            }
            for one in done
        ]
        Output(as_json=as_json).rows(rows, "Nothing is published that far.")

    run(work())
