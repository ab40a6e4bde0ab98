"""A statement's opening balance is summed from the last checkpoint, and is what it was without any."""

from __future__ import annotations

import datetime as dt
from collections.abc import AsyncIterator

import asyncpg
import pytest

from tests.wallet.ledger.test_audit import audited
from tests.wallet.ledger.world import ROUND_SETTLED, World, bet, settled
from upcard_wallet.adapters.postgres.checkpoints import make_checkpoints
from upcard_wallet.app.statement import Statement, statement
from upcard_wallet.entrypoints.upkeep import Upkeep
from upcard_wallet.projections.audit import Audit

ACCOUNT = "p1-EUR"
TODAY = dt.datetime.now(dt.UTC).replace(hour=0, minute=0, second=0, microsecond=0)
DAYS = 12


@pytest.fixture
async def owner(database: str) -> AsyncIterator[asyncpg.Connection[asyncpg.Record]]:
    """The owner of the tables, who can let time pass."""
    connection = await asyncpg.connect(database)
    yield connection
    await connection.close()


@pytest.fixture
async def past(world: World, owner: asyncpg.Connection[asyncpg.Record]) -> World:
    """A round a day for some days, not looked at by anybody yet."""
    await world.player("p1", 1_000)
    await owner.execute("ALTER TABLE wallet.transactions DISABLE TRIGGER never_changed")
    for day in range(DAYS):
        name = f"t1.{day + 1}"
        await world.place(bet((1, "ante", 10 + day), round_name=name))
        await world.hear((name, settled((1, "ante", 10 + day, 20 + 3 * day))), (name, ROUND_SETTLED))
        at = TODAY - dt.timedelta(days=DAYS - day) + dt.timedelta(hours=day)
        await owner.execute("UPDATE wallet.transactions SET recorded_at = $1 WHERE round = $2", at, name)
    begin = TODAY - dt.timedelta(days=DAYS + 1)
    await owner.execute("UPDATE wallet.transactions SET recorded_at = $1 WHERE kind = 'deposit'", begin)
    return world


async def balances(world: World, account: str = ACCOUNT) -> list[tuple[int, int, int, int]]:
    """What an account had at many instants."""
    found = []
    async with world.pool.acquire() as connection:
        for hours in range(-24 * (DAYS + 1), 48, 11):
            at = TODAY + dt.timedelta(hours=hours)
            one = await statement(world.wallet, connection, account, at, at)
            assert isinstance(one, Statement)
            assert one.opening == one.closing
            found.append((one.opening.cash, one.opening.held, one.opening.promo, one.opening.owed))
    return found


async def made(world: World, most: int = 1_000) -> int:
    async with world.pool.acquire() as connection:
        return await make_checkpoints(connection, most)


async def test_balances_are_the_same_with_checkpoints(past: World) -> None:
    before = await balances(past)
    assert len(set(before)) > DAYS
    assert await made(past) == 0, "nobody has noted the days"
    assert await audited(past) is not None
    assert await made(past, 5) == 5
    assert await balances(past) == before, "with some of them"
    assert await made(past) == DAYS + 1 - 5
    assert await made(past) == 0
    assert await balances(past) == before


async def test_what_was_before_a_checkpoint_is_not_summed_again(
    past: World, owner: asyncpg.Connection[asyncpg.Record]
) -> None:
    await audited(past)
    await made(past)
    before = await balances(past)
    await owner.execute(
        "UPDATE wallet.statement_checkpoints SET sums = jsonb_set(sums, '{player_cash}', '5')"
        " WHERE account = $1 AND until = (SELECT max(until) FROM wallet.statement_checkpoints)",
        ACCOUNT,
    )
    assert [one[0] for one in await balances(past)][-1] == 5
    assert (await balances(past))[:-10] == before[:-10]


async def test_a_day_that_may_still_change_has_no_checkpoint(past: World) -> None:
    await past.place(bet((1, "ante", 1), round_name="t2.1"))
    await audited(past)
    await made(past)
    left = await past.pool.fetch("SELECT account, until FROM wallet.statement_checkpoints WHERE sums IS NULL")
    tomorrow = TODAY + dt.timedelta(days=1)
    assert {(row["account"], row["until"]) for row in left} == {(ACCOUNT, tomorrow)}


async def test_a_checkpoint_that_is_made_late_counts_what_came_meanwhile(past: World) -> None:
    """The day before has none yet: it is summed from the one before that."""
    before = await balances(past)
    await audited(past)
    async with past.pool.acquire() as connection:
        await connection.execute(
            "UPDATE wallet.statement_checkpoints SET sums = NULL"  # all of them, whatever was made
        )
        await connection.execute(
            "UPDATE wallet.statement_checkpoints AS c SET sums ="
            " (SELECT jsonb_object_agg(kind, amount) FROM wallet.sums_until(c.account, c.until))"
            " WHERE extract(day FROM c.until)::integer % 2 = 0"
        )
    assert await balances(past) == before
    await made(past)
    assert await balances(past) == before


async def test_upkeep_makes_them(past: World) -> None:
    await audited(past)
    upkeep = Upkeep(past.pool, past.wallet, Audit(), past.store.announce, 1.0, 600.0)
    await upkeep._checkpoints()
    assert await made(past) == 0
    assert await past.value("SELECT count(*) FROM wallet.statement_checkpoints WHERE sums IS NULL") == 0
