from __future__ import annotations

import asyncio

import asyncpg

from eventstore.migrations import pending_migrations
from stack import Stack
from stack.names import fresh_name
from tests.wallet.ledger.schema_dump import DECLARED, dumped, migrated
from upcard_wallet.migrations import COMPONENT, prepare_wallet, wallet_migrations


async def test_a_migrated_database_is_the_declared_schema(stack: Stack) -> None:
    dsn = await stack.databases.create(fresh_name("wallet_schema"))
    await migrated(dsn)
    found = await asyncio.to_thread(dumped, dsn)
    assert found == DECLARED.read_text(encoding="utf-8"), "see tests/wallet/ledger/schema_dump.py"


async def test_migrating_again_does_nothing(database: str) -> None:
    connection = await asyncpg.connect(database)
    try:
        assert await prepare_wallet(connection) == ()
        assert await pending_migrations(connection, COMPONENT, wallet_migrations()) == ()
    finally:
        await connection.close()
