"""The service's own role can follow, and cannot hide what was skipped."""

from __future__ import annotations

from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import asyncpg
import pytest

from eventstore.following import Applied, list_parked, request_retry, skip_parked
from eventstore.memory import MemoryEventStore
from eventstore.migrations import prepare_event_log
from eventstore.postgres import Pool, open_pool
from stack import Stack
from stack.names import fresh_name
from stack.postgres.databases import with_database
from tests.eventstore.following.effects import FOLLOWER, SOURCE, Poisoned, applier, effects_of, page_of
from tests.eventstore.samples import events, stream_of_shard
from tests.eventstore.test_append_only import as_role

STREAM = stream_of_shard(7)


@pytest.fixture
async def service(stack: Stack, database: str, effects: Pool) -> AsyncIterator[str]:
    """The address of the same database for a service's role."""
    name = fresh_name("service")
    admin = await asyncpg.connect(
        with_database(stack.databases.admin_dsn, urlsplit(database).path.strip("/"))
    )
    await admin.execute(f"CREATE ROLE {name} LOGIN PASSWORD 'pass'")
    async with effects.acquire() as owner:
        await prepare_event_log(owner, service_role=name)
        await owner.execute(f"GRANT ALL ON public.effects TO {name}")
    yield as_role(database, name, "pass")
    await admin.execute(f"DROP OWNED BY {name}; DROP ROLE {name}")
    await admin.close()


async def test_a_service_follows_parks_retries_and_skips(
    service: str, effects: Pool, other: MemoryEventStore
) -> None:
    await other.append(STREAM, events(3), expected=0)
    async with await open_pool(service, application_name="service") as pool:
        follower = applier(pool, Poisoned({(STREAM, 2)}))
        assert (await follower.apply([await page_of(other, 7)])) == Applied(
            applied=1, held=1, parked=(STREAM,)
        )
        async with pool.acquire() as connection:
            await request_retry(connection, FOLLOWER, SOURCE)
            assert await follower.retry_parked() == 0
            await skip_parked(connection, FOLLOWER, SOURCE, STREAM, skipped_by="staff:7", why="x")
            assert await follower.retry_parked() == 1
            assert await list_parked(connection) == ()
            for change in (
                "UPDATE eventstore.skipped_events SET why = 'y'",
                "DELETE FROM eventstore.skipped_events",
            ):
                with pytest.raises(asyncpg.InsufficientPrivilegeError):
                    await connection.execute(change)
    assert await effects_of(effects) == [(STREAM, 1), (STREAM, 3)]
