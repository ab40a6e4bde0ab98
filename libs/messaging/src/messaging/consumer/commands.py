"""Commands about consumers: where they stand, what is parked or stopped, and having events applied again."""

import argparse
import contextlib
from collections.abc import AsyncIterator

import asyncpg

from eventstore import SHARDS
from eventstore.command_line.session import row_of, table
from eventstore.following import (
    OWN,
    all_positions,
    list_parked,
    list_stopped,
    request_retry,
    reset_position,
    resume,
    skip_parked,
)
from messaging.command_line import CommandRefused, say

WARNING = (
    "Applying events again is only right for a handler that bears it: one whose effect is the same the second"
    " time, or whose effects have been taken away before. Money that was paid is paid again."
)


def register(
    groups: "argparse._SubParsersAction[argparse.ArgumentParser]", shared: argparse.ArgumentParser
) -> None:
    """Add `consumer positions`, `parked list|retry|skip`, `stopped list|resume` and `replay`."""
    consumer = groups.add_parser("consumer", help="what applies other services' events in this database")
    commands = consumer.add_subparsers(required=True, metavar="COMMAND")

    positions = commands.add_parser("positions", parents=[shared], help="how far each consumer is")
    positions.add_argument("--follower", help="of this one only")
    positions.set_defaults(run=_positions)

    parked = commands.add_parser("parked", help="streams whose event could not be applied")
    _register_parked(parked.add_subparsers(required=True, metavar="COMMAND"), shared)

    stopped = commands.add_parser("stopped", help="consumers, or shards of them, that stand still")
    of_stopped = stopped.add_subparsers(required=True, metavar="COMMAND")
    which = of_stopped.add_parser("list", parents=[shared], help="which, where, and why")
    which.set_defaults(run=_list_stopped)
    again = of_stopped.add_parser("resume", parents=[shared], help="let it go on: what stopped it is mended")
    _name_consumer(again)
    again.add_argument("--shard", type=int, metavar="N", help="this shard only")
    again.set_defaults(run=_resume)

    replay = commands.add_parser(
        "replay",
        parents=[shared],
        help="apply events again, from a position on",
        description="Set the position of a consumer back; it applies everything from there on once more, read"
        f" over the feed. {WARNING}",
    )
    _name_consumer(replay)
    shards = replay.add_mutually_exclusive_group(required=True)
    shards.add_argument("--shard", type=int, action="append", metavar="N", help="a shard; may be repeated")
    shards.add_argument("--all-shards", action="store_true", help="all 64 shards")
    replay.add_argument(
        "--from", type=int, required=True, dest="from_position", metavar="P", help="first position"
    )
    replay.add_argument("--yes", action="store_true", help="it is known what this does")
    replay.set_defaults(run=_replay)


def _register_parked(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]", shared: argparse.ArgumentParser
) -> None:
    which = commands.add_parser("list", parents=[shared], help="which, why, and how many events wait")
    which.add_argument("--follower", help="of this one only")
    which.set_defaults(run=_list_parked)
    retry = commands.add_parser("retry", parents=[shared], help="have the running consumer try again")
    _name_consumer(retry)
    streams = retry.add_mutually_exclusive_group(required=True)
    streams.add_argument("--stream", help="this stream")
    streams.add_argument("--all", action="store_true", help="every parked stream")
    retry.set_defaults(run=_retry)
    skip = commands.add_parser("skip", parents=[shared], help="leave out a stream's first parked event")
    _name_consumer(skip)
    skip.add_argument("--stream", required=True)
    skip.add_argument("--by", required=True, help="who decides this")
    skip.add_argument("--why", required=True, help="for what reason")
    skip.set_defaults(run=_skip)


def _name_consumer(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--follower", required=True, help="the consumer's name")
    parser.add_argument("--source", required=True, help="the service whose events it applies")


@contextlib.asynccontextmanager
async def _connected(named: argparse.Namespace) -> AsyncIterator["asyncpg.Connection[asyncpg.Record]"]:
    connection = await asyncpg.connect(named.dsn)
    try:
        yield connection
    finally:
        await connection.close()


async def _positions(named: argparse.Namespace) -> int:
    async with _connected(named) as connection:
        found = [one for one in await all_positions(connection, named.follower) if one.source != OWN]
    rows = [
        {
            "follower": one.follower,
            "source": one.source,
            "shard": one.position.shard,
            "position": one.position.position,
            "epoch": one.position.epoch,
            "parked": one.position.parked,
            "stopped": one.position.stopped,
            "moved at": one.position.updated_at,
        }
        for one in found
        if one.position.position or one.position.stopped
    ]
    say(table(rows).rstrip() if rows else "no consumer has applied anything here")
    return 0


async def _list_parked(named: argparse.Namespace) -> int:
    async with _connected(named) as connection:
        rows = [row_of(one) for one in await list_parked(connection, named.follower) if one.source != OWN]
    say(table(rows).rstrip() if rows else "nothing is parked")
    return 0


async def _retry(named: argparse.Namespace) -> int:
    async with _connected(named) as connection:
        streams = await request_retry(connection, named.follower, named.source, named.stream)
    if not streams:
        raise CommandRefused(f"{named.follower} of {named.source} has parked no such stream")
    say(f"asked for: {streams} streams; the running consumer tries them within seconds")
    return 0


async def _skip(named: argparse.Namespace) -> int:
    async with _connected(named) as connection:
        try:
            event = await skip_parked(
                connection,
                named.follower,
                named.source,
                named.stream,
                skipped_by=named.by,
                why=named.why,
            )
        except (LookupError, ValueError) as error:
            raise CommandRefused(str(error)) from error
    say(f"skipped: {event.stream} at {event.stream_position} ({event.type}); what follows is tried")
    return 0


async def _list_stopped(named: argparse.Namespace) -> int:
    async with _connected(named) as connection:
        rows = [row_of(one) for one in await list_stopped(connection) if one.source != OWN]
    say(table(rows).rstrip() if rows else "nothing stands still")
    return 0


async def _resume(named: argparse.Namespace) -> int:
    async with _connected(named) as connection:
        stops = await resume(connection, named.follower, named.source, named.shard)
    if not stops:
        raise CommandRefused(f"{named.follower} of {named.source} does not stand still there")
    say(f"{named.follower} of {named.source} goes on within seconds")
    return 0


async def _replay(named: argparse.Namespace) -> int:
    if not named.yes:
        raise CommandRefused(f"{WARNING} Say --yes if that is known")
    if named.from_position < 1:
        raise CommandRefused("the first position of a shard is 1")
    shards = set(range(SHARDS)) if named.all_shards else set(named.shard)
    async with _connected(named) as connection:
        known = {
            one.position.shard: one.position.position
            for one in await all_positions(connection, named.follower)
            if one.source == named.source and one.position.shard in shards
        }
        if not known:
            raise CommandRefused(f"{named.follower} of {named.source} has applied nothing of these shards")
        # Never forward, which would leave events out.
        far = [shard for shard in sorted(known) if known[shard] >= named.from_position]
        async with connection.transaction():
            for shard in far:
                await reset_position(connection, named.follower, named.source, shard, named.from_position - 1)
    for shard in far:
        events = known[shard] - named.from_position + 1
        say(f"shard {shard}: {events} events are applied again, from {named.from_position} on")
    if left := sorted(shards - set(far)):
        say(f"not applied that far, left as they are: {', '.join(map(str, left))}")
    return 0
