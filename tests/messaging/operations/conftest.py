"""A database with everything that a service's machinery has."""

from __future__ import annotations

import asyncpg
import pytest

from eventstore.migrations import prepare_event_log
from messaging.migrations import prepare_messaging
from stack import Stack
from stack.names import fresh_name
from stack.threads import run_apart
from tests.messaging.consumer.world import MAKE_EFFECTS


@pytest.fixture(scope="session")
def database_template(stack: Stack) -> str:
    """A database with the tables of event store and messaging, and one for effects, to be copied."""
    name = fresh_name("operations")

    async def make() -> None:
        connection = await asyncpg.connect(await stack.databases.create(name))
        try:
            await prepare_event_log(connection)
            await prepare_messaging(connection)
            await connection.execute(MAKE_EFFECTS)
        finally:
            await connection.close()

    run_apart(make)
    return name
