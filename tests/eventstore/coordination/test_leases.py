"""One holder a name at a time; the database's clock decides."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncIterator

import asyncpg
import pytest

from eventstore.coordination import (
    Lease,
    LeaseLost,
    acquire,
    lease_holders,
    release,
    renew,
    require_lease,
)
from eventstore.postgres import Connection, Pool
from tests.eventstore.held import until_waiting

NAME = "relay"
DEADLINE_S = 30


@pytest.fixture
async def connection(pool: Pool) -> AsyncIterator[Connection]:
    async with pool.acquire() as connection:
        yield connection


async def taken(connection: Connection, holder: str, ttl_s: float = 60) -> Lease:
    """The lease, which is free."""
    lease = await acquire(connection, NAME, holder=holder, ttl_s=ttl_s)
    assert lease is not None
    return lease


async def run_out(connection: Connection) -> None:
    """Let the lease be over now, as if its time had passed."""
    await connection.execute("UPDATE eventstore.leases SET expires_at = clock_timestamp()")


async def test_who_comes_first_has_it_and_others_do_not(connection: Connection) -> None:
    lease = await taken(connection, "a")
    assert (lease.token, lease.holder) == (1, "a")
    assert await acquire(connection, NAME, holder="b", ttl_s=60) is None
    assert await acquire(connection, NAME, holder="a", ttl_s=60) is None, "a name is no proof"
    (found,) = await lease_holders(connection, NAME)
    assert (found.holder, found.token, found.held) == ("a", 1, True)
    assert 50 < found.left_s <= 60


async def test_leases_of_other_names_are_apart(connection: Connection) -> None:
    await taken(connection, "a")
    other = await acquire(connection, "other", holder="b", ttl_s=60)
    assert other is not None
    assert [(one.name, one.holder) for one in await lease_holders(connection)] == [
        ("other", "b"),
        (NAME, "a"),
    ]


async def test_the_token_grows_each_time_it_changes_hands(connection: Connection) -> None:
    first = await taken(connection, "a")
    assert await release(connection, first)
    second = await taken(connection, "b")
    await run_out(connection)
    third = await taken(connection, "a")
    assert [first.token, second.token, third.token] == [1, 2, 3]


async def test_a_lease_that_ran_out_can_be_taken_and_its_holder_can_do_nothing(
    connection: Connection,
) -> None:
    old = await taken(connection, "a")
    await run_out(connection)
    new = await taken(connection, "b")
    assert not await renew(connection, old)
    assert not await release(connection, old)
    (found,) = await lease_holders(connection, NAME)
    assert (found.holder, found.token, found.held) == ("b", new.token, True)


async def test_a_lease_that_ran_out_and_that_nobody_followed_goes_on(connection: Connection) -> None:
    lease = await taken(connection, "a")
    await run_out(connection)
    assert await renew(connection, lease)
    assert await acquire(connection, NAME, holder="b", ttl_s=60) is None


async def test_renewing_counts_from_now(connection: Connection) -> None:
    lease = await taken(connection, "a", ttl_s=1)
    longer = dataclasses.replace(lease, ttl_s=60)
    assert await renew(connection, longer)
    (found,) = await lease_holders(connection, NAME)
    assert found.left_s > 50


async def test_the_same_claim_again_finds_itself(connection: Connection) -> None:
    """After an answer that was lost: otherwise nobody would have it until it runs out."""
    lease = await taken(connection, "a")
    assert await acquire(connection, NAME, holder="a", ttl_s=60, claim=lease.claim) == lease
    await run_out(connection)
    assert await acquire(connection, NAME, holder="a", ttl_s=60, claim=lease.claim) == lease


async def test_of_many_at_once_one_gets_it(pool: Pool) -> None:
    async def race(holder: str) -> Lease | None:
        async with pool.acquire() as connection:
            return await acquire(connection, NAME, holder=holder, ttl_s=60)

    for _ in range(5):
        won = [lease for lease in await asyncio.gather(*(race(f"h{n}") for n in range(12))) if lease]
        assert len(won) == 1
        async with pool.acquire() as connection:
            await release(connection, won[0])


async def test_a_transaction_under_a_lease_is_refused_when_it_is_lost(connection: Connection) -> None:
    old = await taken(connection, "a")
    async with connection.transaction():
        await require_lease(connection, old)
    await run_out(connection)
    async with connection.transaction():
        await require_lease(connection, old)  # nobody followed
    await taken(connection, "b")
    with pytest.raises(LeaseLost, match="ours has the token 1, the last one 2"):
        async with connection.transaction():
            await require_lease(connection, old)


async def test_nobody_takes_it_while_such_a_transaction_lasts(connection: Connection, database: str) -> None:
    old = await taken(connection, "a")
    other = await asyncpg.connect(database)
    async with asyncio.timeout(DEADLINE_S):
        async with connection.transaction():
            await require_lease(connection, old)
            # Time passes; what the transaction wrote before is still the holder's.
            await connection.execute("UPDATE eventstore.leases SET expires_at = clock_timestamp()")
            waiting = asyncio.ensure_future(acquire(other, NAME, holder="b", ttl_s=60))
            await until_waiting(connection)
        assert await waiting is not None
    await other.close()


@pytest.mark.parametrize(
    ("name", "holder", "ttl_s"),
    [
        ("", "a", 10),
        (NAME, "", 10),
        ("x" * 201, "a", 10),
        ("a\0b", "a", 10),
        (NAME, "a", 0.0),
        (NAME, "a", -1.0),
        (NAME, "a", 10_000),
        (NAME, "a", float("nan")),
        (NAME, "a", float("inf")),
    ],
)
async def test_terms_that_no_lease_can_have(
    connection: Connection, name: str, holder: str, ttl_s: float
) -> None:
    with pytest.raises(ValueError, match="a lease"):
        await acquire(connection, name, holder=holder, ttl_s=ttl_s)
