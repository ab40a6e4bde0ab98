"""Behind the gateway in tests of rounds and reports: a real history, a real wallet, a database each."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

import asyncpg

from eventstore.migrations import prepare_event_log
from eventstore.postgres import PostgresEventStore, open_pool
from messaging.migrations import prepare_messaging
from stack import Stack
from stack.names import fresh_name
from tests.gateway.world import World
from tests.history.desk.world import World as Mirror
from tests.history.desk.world import served as history_served
from tests.wallet.edges.client import Client
from tests.wallet.edges.serving import served as wallet_served
from tests.wallet.seamless.world import SeamlessWorld, seamless_world
from upcard_gateway.adapters.postgres.people import PeopleTables
from upcard_gateway.app.people import Person
from upcard_history.migrations import prepare_history

PARTNER = "op2"
"""The operator with a wallet of its own."""


async def history_template(stack: Stack) -> str:
    """A database with the history's tables and views, to be copied."""
    name = fresh_name("behind_history")
    connection = await asyncpg.connect(await stack.databases.create(name))
    try:
        await prepare_event_log(connection)
        await prepare_messaging(connection)
        await prepare_history(connection)
    finally:
        await connection.close()
    return name


@contextlib.asynccontextmanager
async def real_history(stack: Stack, template: str) -> AsyncIterator[Mirror]:
    """A history that serves its calls in this process."""
    name = fresh_name("behind")
    dsn = await stack.databases.create(name, template)
    try:
        async with (
            await open_pool(dsn, application_name="history", max_size=8) as pool,
            PostgresEventStore(pool) as store,
            history_served(pool, store) as made,
        ):
            yield made
    finally:
        await stack.databases.drop(name)


@contextlib.asynccontextmanager
async def partnered_wallet(stack: Stack, template: str) -> AsyncIterator[tuple[SeamlessWorld, Client]]:
    """A wallet that serves its calls in this process; `PARTNER`'s players have their money over there."""
    name = fresh_name("behind")
    dsn = await stack.databases.create(name, template)
    try:
        async with (
            await open_pool(dsn, application_name="wallet", max_size=12) as pool,
            PostgresEventStore(pool) as store,
            seamless_world(pool, store, PARTNER) as world,
            wallet_served(world.wallet, pool) as client,
        ):
            world.start_work()
            yield world, client
    finally:
        await stack.databases.drop(name)


async def known_as(world: World, player: str, partner_id: str, operator: str = "op1") -> None:
    """Make a player (our id) known as an operator's (its own id)."""
    person = Person(operator, partner_id, "Nick", "DE", "en", None)
    async with world.pool.acquire() as connection, connection.transaction():
        assert await PeopleTables().link(connection, player, person) == player


async def erased(world: World, player: str, operator: str = "op1") -> None:
    """Forget who a player was."""
    async with world.pool.acquire() as connection, connection.transaction():
        assert await PeopleTables().erase(connection, operator, player)
