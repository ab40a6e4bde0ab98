"""Commands about dead letters: which there are, and having their streams tried again."""

import argparse
import os
from collections.abc import Sequence

import asyncpg
from aiokafka.errors import KafkaError

from eventstore.command_line.session import row_of, table
from eventstore.following import request_retry
from messaging.broker import BrokerSettings
from messaging.command_line import CommandRefused, say
from messaging.dead_letters.letters import Failure
from messaging.dead_letters.reading import read_dead_letters
from messaging.topics import topic_of

KAFKA_SETTING = "UPCARD_KAFKA"


def register(
    groups: "argparse._SubParsersAction[argparse.ArgumentParser]", shared: argparse.ArgumentParser
) -> None:
    """Add `dead-letters list` and `dead-letters replay`."""
    letters = groups.add_parser("dead-letters", help="copies of events that could not be applied")
    commands = letters.add_subparsers(required=True, metavar="COMMAND")

    which = commands.add_parser("list", parents=[shared], help="which there are, the oldest first")
    _add_topic(which)
    which.add_argument("--follower", help="of this consumer only")
    which.set_defaults(run=_list)

    replay = commands.add_parser(
        "replay",
        parents=[shared],
        help="have the events that they are copies of tried again",
        description="Asks the running consumer to try again the streams that dead letters name and that are"
        " still parked. The events themselves are in its database, with those that wait behind them.",
    )
    _add_topic(replay)
    replay.add_argument("--follower", required=True, help="the consumer's name")
    replay.add_argument("--stream", help="this stream only")
    replay.set_defaults(run=_replay)


def _add_topic(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--service", required=True, help="the service whose events they are")
    parser.add_argument("--topic", help="the topic of its events (default: upcard.SERVICE.v1)")
    parser.add_argument(
        "--kafka",
        default=os.environ.get(KAFKA_SETTING),
        help=f"host:port of a broker (default: the variable {KAFKA_SETTING})",
    )
    parser.add_argument("--limit", type=int, default=1_000, help="read at most so many (default: 1000)")


async def _read(named: argparse.Namespace) -> Sequence[Failure]:
    if not named.kafka:
        raise CommandRefused(f"which broker? Name it with --kafka or the variable {KAFKA_SETTING}")
    try:
        topic = topic_of(named.service) if named.topic is None else named.topic
    except ValueError as error:
        raise CommandRefused(str(error)) from error
    try:
        found = await read_dead_letters(BrokerSettings(named.kafka), topic, named.service, limit=named.limit)
    except (KafkaError, TimeoutError) as error:
        raise CommandRefused(f"the dead letters cannot be read: {type(error).__name__}: {error}") from error
    if found.unreadable:
        say(f"{found.unreadable} records of the topic are no dead letters")
    return [one for one in found.failures if named.follower in {None, one.follower}]


async def _list(named: argparse.Namespace) -> int:
    failures = await _read(named)
    say(table([row_of(one) for one in failures]).rstrip() if failures else "there are no dead letters")
    return 0


async def _replay(named: argparse.Namespace) -> int:
    streams = sorted({one.stream for one in await _read(named) if named.stream in {None, one.stream}})
    if not streams:
        raise CommandRefused(f"no dead letter names {named.stream or 'a stream'} for {named.follower}")
    connection = await asyncpg.connect(named.dsn)
    try:
        for stream in streams:
            parked = await request_retry(connection, named.follower, named.service, stream)
            say(f"{stream}: {'is tried again within seconds' if parked else 'is not parked any more'}")
    finally:
        await connection.close()
    return 0
