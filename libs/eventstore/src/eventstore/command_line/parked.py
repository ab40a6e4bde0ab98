"""`parked`: streams whose event could not be applied."""

import argparse
from typing import TYPE_CHECKING

from eventstore.command_line.followers import name_follower, name_person
from eventstore.command_line.session import CommandFailed, Session, row_of
from eventstore.following import list_parked, request_retry, skip_parked

if TYPE_CHECKING:
    from eventstore.command_line.followers import Groups


def add_to(groups: "Groups") -> None:
    """Add these commands to the parser."""
    parked = groups.add_parser("parked", help="streams whose event could not be applied").add_subparsers(
        required=True, metavar="COMMAND"
    )
    every = parked.add_parser("list", help="which, since when, why, and how many events wait")
    every.add_argument("--follower")
    every.add_argument("--source")
    every.add_argument("--limit", type=int, default=1_000, help="at most so many (default: 1000)")
    every.set_defaults(run=_list)
    retry = parked.add_parser("retry", help="ask the running follower to try a stream, or all, again")
    name_follower(retry)
    which = retry.add_mutually_exclusive_group(required=True)
    which.add_argument("--stream")
    which.add_argument("--all", action="store_true", help="all its parked streams")
    retry.set_defaults(run=_retry)
    skip = parked.add_parser("skip", help="leave out a stream's first parked event, and try the rest")
    name_follower(skip)
    skip.add_argument("--stream", required=True)
    skip.add_argument("--no-retry", action="store_true", help="leave the rest parked")
    name_person(skip)
    skip.set_defaults(run=_skip)


async def _list(session: Session, wanted: argparse.Namespace) -> None:
    async with session.pool.acquire() as connection:
        found = await list_parked(connection, wanted.follower, wanted.source, limit=wanted.limit)
    session.show([row_of(one) for one in found], "Nothing is parked.")


async def _retry(session: Session, wanted: argparse.Namespace) -> None:
    async with session.pool.acquire() as connection:
        streams = await request_retry(connection, wanted.follower, wanted.source, wanted.stream)
    if not streams:
        raise CommandFailed(f"{wanted.follower} of {wanted.source} has parked no such stream.")
    session.say(f"Asked for {streams} streams; the running follower tries them within seconds.")


async def _skip(session: Session, wanted: argparse.Namespace) -> None:
    async with session.pool.acquire() as connection:
        event = await skip_parked(
            connection,
            wanted.follower,
            wanted.source,
            wanted.stream,
            skipped_by=wanted.by,
            why=wanted.why,
            retry=not wanted.no_retry,
        )
    session.say(f"Skipped {event.stream} at {event.stream_position} ({event.type}).")
