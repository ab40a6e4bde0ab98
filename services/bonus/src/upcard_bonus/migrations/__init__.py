"""Migrations of the bonus service's own tables, beside its event log."""

from importlib.resources import files

from eventstore.migrations import Applied, Migration, load_migrations, migrate
from eventstore.postgres import Connection

COMPONENT = "bonus"
"""Component under which these migrations are noted."""


def bonus_migrations() -> tuple[Migration, ...]:
    """The migrations of this package."""
    return load_migrations(files("upcard_bonus.migrations") / "sql")


async def prepare_bonus(connection: Connection, *, service_role: str | None = None) -> tuple[Applied, ...]:
    """Bring the service's tables up to date, as their owner, after the event log's (`prepare_event_log`).

    `service_role` (which exists already) is given what the service needs.
    """
    applied = await migrate(connection, COMPONENT, bonus_migrations())
    if service_role is not None:
        await connection.execute("SELECT bonus.grant_service($1)", service_role)
    return applied
