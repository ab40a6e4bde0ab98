"""The tables as they are migrated, and what the service may do with them."""

from __future__ import annotations

import asyncio

import asyncpg
import pytest

from eventstore.migrations import pending_migrations
from stack import Stack
from stack.names import fresh_name
from tests.bonus.office.schema_dump import DECLARED, dumped, migrated
from tests.bonus.office.world import World
from upcard_bonus.migrations import COMPONENT, bonus_migrations, prepare_bonus


async def test_a_migrated_database_is_the_declared_schema(stack: Stack) -> None:
    dsn = await stack.databases.create(fresh_name("bonus_schema"))
    await migrated(dsn)
    found = await asyncio.to_thread(dumped, dsn)
    assert found == DECLARED.read_text(encoding="utf-8"), "see tests/bonus/office/schema_dump.py"


async def test_migrating_again_does_nothing(database: str) -> None:
    connection = await asyncpg.connect(database)
    try:
        assert await prepare_bonus(connection) == ()
        assert await pending_migrations(connection, COMPONENT, bonus_migrations()) == ()
    finally:
        await connection.close()


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM bonus.jackpots",
        "DELETE FROM bonus.pool_rounds",
        "DELETE FROM bonus.free_bets",
        "DELETE FROM bonus.secrets",
        "UPDATE bonus.secrets SET cycle = 2",
        "UPDATE bonus.fences SET expires_at = now()",
        "TRUNCATE bonus.rounds CASCADE",
        "CREATE TABLE bonus.more (id bigint)",
    ],
)
async def test_the_service_may_do_what_it_needs_and_no_more(world: World, statement: str) -> None:
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await world.pool.execute(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE bonus.jackpots SET pool = -1",
        "UPDATE bonus.jackpots SET remainder = 1000000",
        "UPDATE bonus.jackpots SET commitment = 'half of it'",
    ],
)
async def test_the_database_refuses_what_cannot_be(world: World, statement: str) -> None:
    await world.jackpot()
    with pytest.raises(asyncpg.CheckViolationError):
        await world.pool.execute(statement)
