"""`positions` and `stopped`: where followers stand, and those that stand still."""

import argparse
from typing import TYPE_CHECKING

from eventstore.command_line.session import CommandFailed, Session, row_of
from eventstore.following import OWN, all_positions, list_stopped, resume, skip_stopped

if TYPE_CHECKING:
    Groups = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001 - argparse names it no other way


def add_to(groups: "Groups") -> None:
    """Add these commands to the parser."""
    positions = groups.add_parser("positions", help="how far each follower is in each shard")
    positions.add_argument("--follower")
    positions.set_defaults(run=_positions)

    stopped = groups.add_parser("stopped", help="followers that stand still").add_subparsers(
        required=True, metavar="COMMAND"
    )
    stopped.add_parser("list", help="which, and why").set_defaults(run=_list)
    again = stopped.add_parser("resume", help="let a follower go on, at the same event")
    name_follower(again)
    again.add_argument("--shard", type=int, help="this shard only")
    again.set_defaults(run=_resume)
    skip = stopped.add_parser("skip", help="leave out the event that a follower failed at, and go on")
    name_follower(skip)
    skip.add_argument("--shard", type=int, required=True)
    name_person(skip)
    skip.set_defaults(run=_skip)


def name_follower(command: argparse.ArgumentParser) -> None:
    """The arguments that say which follower is meant."""
    command.add_argument("follower", help="the follower; a projection's is its name")
    command.add_argument("--source", default=OWN, help=f"whose log it follows (default: {OWN})")


def name_person(command: argparse.ArgumentParser) -> None:
    """The arguments of an act that is noted for good."""
    command.add_argument("--by", required=True, help="who decides this")
    command.add_argument("--why", required=True, help="for what reason")


async def _positions(session: Session, wanted: argparse.Namespace) -> None:
    async with session.pool.acquire() as connection:
        found = await all_positions(connection, wanted.follower)
    session.show(
        [
            {
                "follower": one.follower,
                "source": one.source,
                "shard": one.position.shard,
                "position": one.position.position,
                "lag": one.lag,
                "epoch": one.position.epoch,
                "parked": one.position.parked,
                "stopped": one.position.stopped,
                "moved_at": one.position.updated_at,
            }
            for one in found
        ],
        "No follower has a position here.",
    )


async def _list(session: Session, _: argparse.Namespace) -> None:
    async with session.pool.acquire() as connection:
        found = await list_stopped(connection)
    session.show([row_of(one) for one in found], "No follower stands still.")


async def _resume(session: Session, wanted: argparse.Namespace) -> None:
    async with session.pool.acquire() as connection:
        stops = await resume(connection, wanted.follower, wanted.source, wanted.shard)
    if not stops:
        raise CommandFailed(f"{wanted.follower} of {wanted.source} does not stand still there.")
    session.say(f"{wanted.follower} of {wanted.source} goes on ({stops} stops).")


async def _skip(session: Session, wanted: argparse.Namespace) -> None:
    async with session.pool.acquire() as connection:
        stop = await skip_stopped(
            connection,
            wanted.follower,
            wanted.source,
            wanted.shard,
            skipped_by=wanted.by,
            why=wanted.why,
        )
    session.say(f"Skipped {stop.stream} at {stop.stream_position}; {wanted.follower} goes on.")
