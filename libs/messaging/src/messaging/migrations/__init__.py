"""Migrations of what messaging keeps in a service's database, beside its log: how far its relay has come."""

from importlib.resources import files

from eventstore.migrations import Applied, Migration, load_migrations, migrate
from eventstore.postgres import Connection

COMPONENT = "messaging"
"""Component under which these migrations are noted."""


def messaging_migrations() -> tuple[Migration, ...]:
    """The migrations of this package."""
    return load_migrations(files("messaging.migrations") / "sql")


async def prepare_messaging(
    connection: Connection, *, service_role: str | None = None
) -> tuple[Applied, ...]:
    """Bring messaging's tables up to date, as their owner, after the event log's (`prepare_event_log`).

    `service_role` (which exists already) is given what a relay needs.
    """
    applied = await migrate(connection, COMPONENT, messaging_migrations())
    if service_role is not None:
        await connection.execute("SELECT messaging.grant_service($1)", service_role)
    return applied
