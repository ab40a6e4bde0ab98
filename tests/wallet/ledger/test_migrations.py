from __future__ import annotations

import asyncpg

from eventstore.migrations import pending_migrations
from upcard_wallet.migrations import COMPONENT, prepare_wallet, wallet_migrations


async def test_migrating_again_does_nothing(database: str) -> None:
    connection = await asyncpg.connect(database)
    try:
        assert await prepare_wallet(connection) == ()
        assert await pending_migrations(connection, COMPONENT, wallet_migrations()) == ()
    finally:
        await connection.close()
