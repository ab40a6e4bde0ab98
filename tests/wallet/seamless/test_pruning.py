"""Old calls to partners go, whole lanes at a time, when nothing of them is open; everything else stays."""

from __future__ import annotations

import datetime as dt
from collections.abc import AsyncIterator
from uuid import uuid4

import asyncpg
import pytest

from tests.wallet.ledger.world import ROUND_SETTLED, append, bet, settled
from tests.wallet.partner import Trick
from tests.wallet.seamless.world import SeamlessWorld
from upcard_wallet.adapters.seamless.parked import ParkedDecision, decide_parked, parked_calls
from upcard_wallet.adapters.seamless.pruning import prune_partner_calls

KEPT_DAYS = 100


@pytest.fixture
async def owner(database: str) -> AsyncIterator[asyncpg.Connection[asyncpg.Record]]:
    """The owner of the tables, who can let time pass."""
    connection = await asyncpg.connect(database)
    yield connection
    await connection.close()


async def age(owner: asyncpg.Connection[asyncpg.Record], days: int) -> None:
    by = dt.timedelta(days=days)
    await owner.execute(
        "UPDATE wallet.partner_calls SET recorded_at = recorded_at - $1::interval,"
        " changed_at = changed_at - $1::interval",
        by,
    )


async def pruned(world: SeamlessWorld, most: int = 500) -> int:
    async with world.pool.acquire() as connection:
        return await prune_partner_calls(connection, KEPT_DAYS, most)


async def play(world: SeamlessWorld, number: int, *, end: bool = True) -> None:
    name = f"t1.{number}"
    await world.place(bet((1, "ante", 10), round_name=name, bet_id=f"b{number}"))
    if end:
        await world.hear((name, settled((1, "ante", 10, 20))), (name, ROUND_SETTLED))


async def left(world: SeamlessWorld) -> list[str]:
    rows = await world.pool.fetch("SELECT round FROM wallet.partner_lanes ORDER BY round")
    return [row["round"] for row in rows]


async def test_what_is_over_for_long_goes_with_its_answers(
    world: SeamlessWorld, owner: asyncpg.Connection[asyncpg.Record]
) -> None:
    await world.guest(money=1_000)
    world.start_work()
    for number in range(1, 4):
        await play(world, number)
    await world.quiet()
    assert await pruned(world) == 0
    await age(owner, KEPT_DAYS - 1)
    assert await pruned(world) == 0
    await play(world, 4)
    await world.quiet()
    await age(owner, 2)
    books = await world.books()
    assert await pruned(world, 2) == 2
    assert await pruned(world) == 1
    assert await left(world) == ["t1.4"]
    assert await world.value("SELECT count(*) FROM wallet.partner_calls") == 2
    assert await world.value("SELECT count(*) FROM wallet.partner_answers") == 2
    assert await world.books() == books
    await world.all_is_explained()


async def test_what_is_open_stays(world: SeamlessWorld, owner: asyncpg.Connection[asyncpg.Record]) -> None:
    await world.guest(money=1_000)
    await play(world, 1, end=False)  # held
    await play(world, 2)  # its win is queued
    await age(owner, 2 * KEPT_DAYS)
    assert await pruned(world) == 0
    world.server.script("win", Trick.REFUSES)
    world.start_work()
    await world.quiet()  # its win is parked
    await age(owner, 2 * KEPT_DAYS)
    assert await pruned(world) == 0
    assert await left(world) == ["t1.1", "t1.2"]


async def test_what_people_decided_about_stays(
    world: SeamlessWorld, owner: asyncpg.Connection[asyncpg.Record]
) -> None:
    await world.guest(money=1_000)
    world.server.script("win", Trick.REFUSES)
    world.start_work()
    await play(world, 1)
    await world.quiet()
    async with world.pool.acquire() as connection, connection.transaction():
        (call,) = await parked_calls(connection, "op1")
        decided = ParkedDecision(uuid4(), call.call, "again", "staff:a", "staff:a", "they mended it")
        await append(connection, await decide_parked(connection, world.records, decided))
    await world.quiet()
    await age(owner, 2 * KEPT_DAYS)
    assert await pruned(world) == 0


async def test_nothing_else_removes_them(
    world: SeamlessWorld, owner: asyncpg.Connection[asyncpg.Record]
) -> None:
    await world.guest(money=100)
    await play(world, 1)
    for table in ("partner_lanes", "partner_calls", "partner_answers"):
        for statement in (f"DELETE FROM wallet.{table}", f"TRUNCATE wallet.{table} CASCADE"):  # noqa: S608 - names from above
            with pytest.raises(asyncpg.InsufficientPrivilegeError, match="never changed"):
                await owner.execute(statement)
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await world.pool.execute("DELETE FROM wallet.partner_calls")
    async with world.pool.acquire() as connection:
        with pytest.raises(asyncpg.InvalidParameterValueError, match="90 days"):
            await prune_partner_calls(connection, 89)
