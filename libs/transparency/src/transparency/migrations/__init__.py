"""Migrations of the tree over a service's log, in that service's database."""

from importlib.resources import files

from eventstore.migrations import Applied, Migration, load_migrations, migrate
from eventstore.postgres import Connection

COMPONENT = "transparency"
"""Component under which these migrations are noted."""


def transparency_migrations() -> tuple[Migration, ...]:
    """The migrations of this package."""
    return load_migrations(files("transparency.migrations") / "sql")


async def prepare_transparency(
    connection: Connection, *, service_role: str | None = None
) -> tuple[Applied, ...]:
    """Bring the tree's tables up to date, as their owner, after the event log's (`prepare_event_log`).

    `service_role` (which exists already) is given what a chainer needs.
    """
    applied = await migrate(connection, COMPONENT, transparency_migrations())
    if service_role is not None:
        await connection.execute("SELECT transparency.grant_service($1)", service_role)
    return applied
