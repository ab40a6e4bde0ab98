"""The owner makes and rebuilds the tables; the service's own role fills them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from urllib.parse import urlsplit

import asyncpg
import pytest

from eventstore.migrations import prepare_event_log
from eventstore.postgres import Pool, PostgresEventStore, open_pool
from eventstore.projections import Rebuilding, prepare_projection, rebuild_projection
from stack import Stack
from stack.names import fresh_name
from stack.postgres.databases import with_database
from tests.eventstore.projections.views import PROJECTION, QUICK, running, seen, until_no_lag
from tests.eventstore.samples import events
from tests.eventstore.test_append_only import as_role


@pytest.fixture
async def service(stack: Stack, database: str, views: Pool) -> AsyncIterator[str]:
    """A role that may follow, and nothing else."""
    name = fresh_name("service")
    admin = await asyncpg.connect(
        with_database(stack.databases.admin_dsn, urlsplit(database).path.strip("/"))
    )
    await admin.execute(f"CREATE ROLE {name} LOGIN PASSWORD 'pass'")
    async with views.acquire() as owner:
        await prepare_event_log(owner, service_role=name)
    yield name
    await admin.execute(f"DROP OWNED BY {name}; DROP ROLE {name}")
    await admin.close()


async def test_a_service_runs_what_the_owner_made_before_and_after_a_rebuild(
    views: Pool, postgres_store: PostgresEventStore, database: str, service: str
) -> None:
    async with views.acquire() as connection:
        await prepare_projection(connection, PROJECTION, grant_to=service)
    await postgres_store.append("round-1", events(3), expected=0)
    dsn = as_role(database, service, "pass")
    async with (
        await open_pool(dsn, application_name="service") as pool,
        PostgresEventStore(pool) as store,
    ):
        async with pool.acquire() as connection:
            assert not await prepare_projection(connection, PROJECTION)
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await prepare_projection(connection, replace(PROJECTION, name="another_view"))
        async with running(pool, store) as task:
            await until_no_lag(pool, task)
            how = Rebuilding(policy=QUICK.policy)
            await rebuild_projection(postgres_store, views, PROJECTION, rebuilding=how, grant_to=service)
            await store.append("round-1", events(3), expected=3)
            await until_no_lag(pool, task)
    assert await seen(views) == {"round-1": [1, 2, 3, 4, 5, 6]}
