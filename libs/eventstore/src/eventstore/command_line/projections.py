"""`projection`: views of the log, and building them anew."""

import argparse
import importlib
import sys
from typing import TYPE_CHECKING

from eventstore.command_line.progress import Bar
from eventstore.command_line.session import CommandFailed, Session, row_of
from eventstore.following import OWN, resume
from eventstore.postgres.store import PostgresEventStore
from eventstore.projections import Projection, projection_status, rebuild_projection

if TYPE_CHECKING:
    from eventstore.command_line.followers import Groups


def add_to(groups: "Groups") -> None:
    """Add these commands to the parser."""
    projection = groups.add_parser("projection", help="views of this log").add_subparsers(
        required=True, metavar="COMMAND"
    )
    projection.add_parser("list", help="how far each is, and what is wrong").set_defaults(run=_list)
    rebuild = projection.add_parser("rebuild", help="build one anew beside the live one, then exchange them")
    rebuild.add_argument("projection", help="where its code is: package.module:NAME")
    rebuild.add_argument(
        "--continue", action="store_true", dest="go_on", help="go on with one that was interrupted"
    )
    rebuild.add_argument("--grant-to", metavar="ROLE", help="the role that runs it, if it is another one")
    rebuild.set_defaults(run=_rebuild)
    again = projection.add_parser("resume", help="let a stopped projection go on, at the same event")
    again.add_argument("name")
    again.set_defaults(run=_resume)


def projection_at(place: str) -> Projection:
    """The projection that `package.module:NAME` says. Raises CommandFailed."""
    module, _, name = place.partition(":")
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as problem:
        raise CommandFailed(f"There is no projection at {place!r}: {problem}") from problem
    if not isinstance(found, Projection):
        raise CommandFailed(f"What is at {place!r} is no projection, but {type(found).__name__}.")
    return found


async def _list(session: Session, _: argparse.Namespace) -> None:
    async with session.pool.acquire() as connection:
        found = await projection_status(connection)
    session.show([row_of(one) for one in found], "There is no projection here.")


async def _rebuild(session: Session, wanted: argparse.Namespace) -> None:
    projection = projection_at(wanted.projection)
    async with PostgresEventStore(session.pool) as store:
        with Bar(sys.stderr, f"rebuilding {projection.name}") as bar:
            rebuilt = await rebuild_projection(
                store,
                session.pool,
                projection,
                on_progress=bar.show,
                go_on=wanted.go_on,
                grant_to=wanted.grant_to,
            )
    session.show([row_of(rebuilt)], "")


async def _resume(session: Session, wanted: argparse.Namespace) -> None:
    async with session.pool.acquire() as connection:
        if not await resume(connection, wanted.name, OWN):
            raise CommandFailed(f"The projection {wanted.name} does not stand still.")
    session.say(f"{wanted.name} goes on.")
