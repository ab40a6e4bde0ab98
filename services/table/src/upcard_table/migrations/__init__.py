"""Migrations of the table service's own tables, beside its event log."""

from importlib.resources import files

from eventstore.migrations import Applied, Migration, load_migrations, migrate
from eventstore.postgres import Connection
from eventstore.projections import prepare_projection
from upcard_table.projections.table_list import TABLE_LIST

COMPONENT = "table"
"""Component under which these migrations are noted; their schema is `tables`: `table` is SQL's own word."""


def table_migrations() -> tuple[Migration, ...]:
    """The migrations of this package."""
    return load_migrations(files("upcard_table.migrations") / "sql")


async def prepare_tables(connection: Connection, *, service_role: str | None = None) -> tuple[Applied, ...]:
    """Bring the service's tables up to date, as their owner, after the event log's (`prepare_event_log`).

    `service_role` (which exists already) is given what the service needs, the log's face-down cards included.
    A view of another version of the program is left as it is, and ProjectionOutdated raised: rebuild it.
    """
    applied = await migrate(connection, COMPONENT, table_migrations())
    if service_role is not None:
        await connection.execute(
            "SELECT tables.grant_service($1), tables.grant_resettlements($1), eventstore.grant_private($1)",
            service_role,
        )
    await prepare_projection(connection, TABLE_LIST, grant_to=service_role)
    return applied
