"""Migrations of history's own tables beside its event log, and the making of its views."""

from importlib.resources import files

from eventstore.migrations import Applied, Migration, load_migrations, migrate
from eventstore.postgres import Connection
from eventstore.projections import ProjectionOutdated, prepare_projection
from upcard_history.projections import PROJECTIONS

COMPONENT = "history"
"""Component under which these migrations are noted."""


def history_migrations() -> tuple[Migration, ...]:
    """The migrations of this package."""
    return load_migrations(files("upcard_history.migrations") / "sql")


async def prepare_history(connection: Connection, *, service_role: str | None = None) -> tuple[Applied, ...]:
    """Bring history's tables up to date, as their owner, after the event log's (`prepare_event_log`).

    Views that are missing are made, empty; one of another version of the program is left as it is, and
    ProjectionOutdated raised in the end: rebuild it. `service_role` (which exists already) is given what the
    service needs; it cannot make or drop a view, so rebuilding is its owner's.
    """
    applied = await migrate(connection, COMPONENT, history_migrations())
    if service_role is not None:
        await connection.execute("SELECT history.grant_service($1)", service_role)
    outdated: ProjectionOutdated | None = None
    for projection in PROJECTIONS:
        try:
            await prepare_projection(connection, projection, grant_to=service_role)
        except ProjectionOutdated as error:
            outdated = outdated or error
    if outdated is not None:
        raise outdated
    return applied
