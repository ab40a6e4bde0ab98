"""Commands about the relay: how far it is, and publishing again."""

import argparse
import getpass
import socket

import asyncpg

from eventstore import SHARDS
from eventstore.coordination import lease_holders
from messaging.command_line import CommandRefused, say
from messaging.relay.positions import NothingToRepublish, relay_positions, republish
from messaging.relay.relay import lease_of
from messaging.topics import topic_of


def register(
    groups: "argparse._SubParsersAction[argparse.ArgumentParser]", shared: argparse.ArgumentParser
) -> None:
    """Add `relay status` and `relay republish`."""
    relay = groups.add_parser("relay", help="what publishes this service's log to Kafka")
    commands = relay.add_subparsers(required=True, metavar="COMMAND")

    status = commands.add_parser("status", parents=[shared], help="who is active, and how far each shard is")
    _add_topic(status)
    status.add_argument("--all", action="store_true", help="also list the shards without lag")
    status.set_defaults(run=_status)

    again = commands.add_parser(
        "republish",
        parents=[shared],
        help="publish shards again, from a position to the end",
        description="Publish shards again, from a position to the end. The active relay does it within a"
        " second; when none is active, the next one. Consumers pass over what they know.",
    )
    _add_topic(again)
    which = again.add_mutually_exclusive_group(required=True)
    which.add_argument("--shard", type=int, action="append", metavar="N", help="a shard; may be repeated")
    which.add_argument("--all-shards", action="store_true", help="all 64 shards")
    again.add_argument(
        "--from", type=int, required=True, dest="from_position", metavar="P", help="first position"
    )
    again.add_argument("--reason", required=True, help="why, for whoever reads the list later")
    again.add_argument("--by", default=None, metavar="WHO", help="who asks (default: this account and host)")
    again.set_defaults(run=_republish)


def _add_topic(parser: argparse.ArgumentParser) -> None:
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--service", help="the service whose log this is; its topic is upcard.SERVICE.v1")
    which.add_argument("--topic", help="a topic of another name")


def _topic(named: argparse.Namespace) -> str:
    if named.topic is not None:
        return str(named.topic)
    try:
        return topic_of(named.service)
    except ValueError as error:
        raise CommandRefused(str(error)) from error


async def _status(named: argparse.Namespace) -> int:
    topic = _topic(named)
    connection = await asyncpg.connect(named.dsn)
    try:
        positions = await relay_positions(connection, topic)
        holders = await lease_holders(connection, lease_of(topic))
    finally:
        await connection.close()
    active = next((f"{one.holder}, token {one.token}" for one in holders if one.held), "none")
    say(f"topic {topic}   active relay: {active}   lag: {sum(one.lag for one in positions)} events")
    for one in positions:
        if one.lag or named.all:
            moved = "never" if one.moved_at is None else one.moved_at.isoformat(timespec="seconds")
            say(
                f"  shard {one.shard:>2}   published {one.position}   head {one.head}   lag {one.lag}"
                f"   moved {moved}"
            )
    return 0


async def _republish(named: argparse.Namespace) -> int:
    topic = _topic(named)
    shards = list(range(SHARDS)) if named.all_shards else named.shard
    connection = await asyncpg.connect(named.dsn)
    try:
        done = await republish(
            connection,
            topic,
            shards,
            from_position=named.from_position,
            asked_by=named.by or f"{getpass.getuser()} on {socket.gethostname()}",
            reason=named.reason,
        )
    except (NothingToRepublish, ValueError) as error:
        raise CommandRefused(str(error)) from error
    finally:
        await connection.close()
    for one in done:
        count = one.position_before - one.from_position + 1
        say(f"shard {one.shard}: published again from {one.from_position}: {count} events, and what follows")
    untouched = sorted(set(shards) - {one.shard for one in done})
    if untouched:
        say(f"not published that far, left as they are: {', '.join(map(str, untouched))}")
    return 0
