"""The gateway's tables: migrating again does nothing, and the service has no right beyond what it needs."""

from __future__ import annotations

import asyncpg
import pytest

from eventstore.migrations import pending_migrations
from upcard_gateway.migrations import COMPONENT, gateway_migrations, prepare_gateway


async def test_migrating_again_does_nothing(database: str, service_role: str) -> None:
    connection = await asyncpg.connect(database)
    try:
        assert await prepare_gateway(connection, service_role=service_role) == ()
        assert await pending_migrations(connection, COMPONENT, gateway_migrations()) == ()
    finally:
        await connection.close()


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM gateway.operators",
        "DELETE FROM gateway.operator_keys",
        "UPDATE gateway.operator_secrets SET ciphertext = ciphertext",
        "UPDATE gateway.signed_calls SET good_until = now()",
        "DROP TABLE gateway.operators",
        "CREATE TABLE gateway.more (id integer)",
        "SELECT gateway.grant_operators('postgres')",
    ],
)
async def test_the_service_may_not(service_database: str, statement: str) -> None:
    connection = await asyncpg.connect(service_database)
    try:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute(statement)
    finally:
        await connection.close()
