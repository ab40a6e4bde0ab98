"""The schemas of projections, and which version of a projection made them."""

from typing import Final

from eventstore.postgres.connections import Connection
from eventstore.projections.projection import Projection, ProjectionOutdated

_VERSION: Final = "SELECT version FROM eventstore.projections WHERE name = $1"
_NOTE: Final = "INSERT INTO eventstore.projections (name, version) VALUES ($1, $2)"
_ALONE: Final = "SELECT pg_advisory_xact_lock(hashtextextended('eventstore.projection.' || $1, 0))"
_GRANTS: Final = (
    'GRANT USAGE ON SCHEMA "{schema}" TO "{role}"',
    'GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "{schema}" TO "{role}"',
    'GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA "{schema}" TO "{role}"',
    'GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA "{schema}" TO "{role}"',
)


async def prepare_projection(
    connection: Connection, projection: Projection, *, grant_to: str | None = None
) -> bool:
    """Make a projection's schema and tables if there are none; True if it did. As whoever may make schemas.

    `grant_to` is the role that will run it, where that is another one. Several processes may call this at
    once. Raises ProjectionOutdated when the tables are another version's.
    """
    async with connection.transaction():
        await connection.execute(_ALONE, projection.name)
        found = await connection.fetchval(_VERSION, projection.name)
        if found is None:
            await make_tables(connection, projection, projection.name, grant_to)
            return True
    if found != projection.version:
        raise ProjectionOutdated(projection.name, projection.version, found)
    return False


async def make_tables(
    connection: Connection, projection: Projection, schema: str, grant_to: str | None
) -> None:
    """Make a schema with a projection's tables, inside a transaction."""
    await connection.execute(f'CREATE SCHEMA "{schema}"')
    await projection.create(connection, schema)
    if grant_to is not None:
        role = grant_to.replace('"', '""')
        for grant in _GRANTS:
            await connection.execute(grant.format(schema=schema, role=role))
    await connection.execute(_NOTE, schema, projection.version)


async def check_version(connection: Connection, projection: Projection, schema: str) -> None:
    """Raise ProjectionOutdated unless the tables in a schema are this version's.

    Asked in each transaction, after the position is locked: an exchange of the tables locks it too.
    """
    found = await connection.fetchval(_VERSION, schema)
    if found != projection.version:
        raise ProjectionOutdated(schema, projection.version, found)
