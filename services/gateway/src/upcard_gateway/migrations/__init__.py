"""Migrations of the gateway's own tables beside its event log."""

from importlib.resources import files

from eventstore.migrations import Applied, Migration, load_migrations, migrate
from eventstore.postgres import Connection

COMPONENT = "gateway"
"""Component under which these migrations are noted."""

_GRANTS = """
SELECT quote_ident(proname) FROM pg_catalog.pg_proc
 WHERE pronamespace = 'gateway'::regnamespace AND proname LIKE 'grant\\_%' ORDER BY proname
"""


def gateway_migrations() -> tuple[Migration, ...]:
    """The migrations of this package."""
    return load_migrations(files("upcard_gateway.migrations") / "sql")


async def prepare_gateway(connection: Connection, *, service_role: str | None = None) -> tuple[Applied, ...]:
    """Bring the gateway's tables up to date, as their owner, after the event log's (`prepare_event_log`).

    `service_role` (which exists already) is given what the service needs: each part of the schema has a
    function `gateway.grant_…` that does it.
    """
    applied = await migrate(connection, COMPONENT, gateway_migrations())
    if service_role is not None:
        for row in await connection.fetch(_GRANTS):
            await connection.execute(f"SELECT gateway.{row[0]}($1)", service_role)
    return applied
