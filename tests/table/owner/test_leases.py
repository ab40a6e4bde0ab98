"""Leases of many tables by one statement, and how instances share them (ARCHITECTURE.md, The log, 1)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import asyncpg
import pytest

from eventstore.answers import AnswerKey, RequestIdReused, digest
from eventstore.postgres import Pool, PostgresEventStore, open_pool
from stack import Stack
from tests.table.domain.tables import config_of
from tests.table.owner.hands import Figures, HandFence, HandFunds
from tests.table.owner.world import DEADLINE_S, KEYS, STAFF
from upcard_table.adapters.leases import TableLeases
from upcard_table.adapters.postgres.log import PostgresTableLog
from upcard_table.app.calls import AnswerSlot, DeadlineExceeded, Done, NotOwner, Refused, TableCall, TableWork
from upcard_table.app.owner.clock import SteadyClock
from upcard_table.app.owner.lookups import Lookups
from upcard_table.app.owner.owned_tables import OwnedTables, OwningSettings
from upcard_table.app.owner.owner import World
from upcard_table.app.ports import LogAway
from upcard_table.domain import commands as t

TTL_S = 0.9


class Instance:
    """A process of the table service, as far as owning tables goes."""

    def __init__(self, pool: Pool, store: PostgresEventStore, name: str, *, tables_max: int = 100) -> None:
        self.leases = TableLeases(pool, instance=name, address=f"{name}:5001", ttl_s=TTL_S)
        log = PostgresTableLog(pool, KEYS, store.announce)
        self.lookups = Lookups(log)
        world = World(log, HandFunds(), HandFence(), SteadyClock(), Figures(), self.lookups)
        self.tables = OwnedTables(world, self.leases, OwningSettings(TTL_S, tables_max))
        self._ending = asyncio.Event()
        self._task = asyncio.create_task(self.tables.run(self._ending))

    async def stop(self) -> None:
        """Stop in order."""
        self._ending.set()
        await asyncio.wait_for(self._task, DEADLINE_S)
        await self.lookups.close()

    async def kill(self) -> None:
        """Stop at once; leases stay until they run out."""
        setattr(self.tables, "_hand_over", _nothing)  # noqa: B010 - a process that dies does nothing more
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        for owned in list(self.tables._owned.values()):
            owned.task.cancel()
        await self.lookups.close()


async def _nothing() -> None:
    """Do nothing."""


def call(
    table: str, command: t.TableCommand, slot: AnswerSlot | None = None, left_s: float = 10.0
) -> TableCall:
    """One command of the floor."""
    deadline_s = asyncio.get_running_loop().time() + left_s
    return TableCall(table, (TableWork(command, STAFF),), slot, deadline_s)


async def handled(instances: list[Instance], one: TableCall) -> Any:
    """Ask whoever owns the table; the first one where nobody does yet."""
    async with asyncio.timeout(DEADLINE_S):
        while True:
            for instance in instances:
                try:
                    return await instance.tables.handle(one)
                except NotOwner:
                    await asyncio.sleep(0.02)


async def until(true: Callable[[], bool]) -> None:
    """Wait until something is so."""
    async with asyncio.timeout(DEADLINE_S):
        while not true():  # noqa: ASYNC110 - what is waited for is in the database
            await asyncio.sleep(0.02)


@pytest.fixture
async def world(service_database: str) -> AsyncIterator[tuple[Pool, PostgresEventStore]]:
    """A database of the service."""
    async with (
        await open_pool(service_database, application_name="t") as pool,
        PostgresEventStore(pool) as store,
    ):
        yield pool, store


async def opened(instances: list[Instance], count: int) -> None:
    """So many open tables."""
    for number in range(count):
        result = await handled(instances, call(f"t{number}", t.OpenTable(f"t{number}", config_of())))
        assert isinstance(result[0], Done)


async def test_a_lease_is_taken_once_and_says_when_the_last_holder_was_alive(
    world: tuple[Pool, PostgresEventStore],
) -> None:
    pool, _ = world
    one = TableLeases(pool, instance="i1", address="i1:1", ttl_s=TTL_S)
    other = TableLeases(pool, instance="i2", address="i2:1", ttl_s=TTL_S)
    (first, second) = await one.take(["t1", "t2"])
    assert (first.table, first.token, first.previous) == ("t1", 1, None)
    assert await other.take(["t1", "t2"]) == []
    assert await one.keep([first, second]) == {"t1", "t2"}
    now_us = int(await pool.fetchval("SELECT extract(epoch FROM clock_timestamp()) * 1000000"))
    await one.give_back([first])
    (taken,) = await other.take(["t1", "t2"])
    assert taken.table == "t1"
    assert taken.token == 2
    assert taken.previous is not None
    assert taken.previous.token == 1
    assert now_us <= taken.previous.alive_until_us <= now_us + 5_000_000
    assert await one.keep([first, second]) == {"t2"}
    await pool.execute("UPDATE eventstore.leases SET expires_at = clock_timestamp() WHERE name = 'table t2'")
    (late,) = await other.take(["t2"])
    assert late.previous is not None
    assert late.previous.alive_until_us <= now_us + 5_000_000
    assert (await other.owner_of("t2")).address == "i2:1"
    assert (await other.owner_of("t9")).address is None


async def test_a_database_that_is_away_is_said_to_be(world: tuple[Pool, PostgresEventStore]) -> None:
    pool, _ = world
    leases = TableLeases(pool, instance="i1", address="i1:1", ttl_s=TTL_S)
    held = await leases.take(["t1"])
    await pool.close()
    with pytest.raises(LogAway):
        await leases.keep(held)


async def test_instances_share_the_tables_and_hand_them_over_when_they_stop(
    world: tuple[Pool, PostgresEventStore],
) -> None:
    one = Instance(*world, "i1")
    await opened([one], 6)
    assert len(one.tables.tables) == 6
    two = Instance(*world, "i2")
    await until(lambda: len(one.tables.tables) == len(two.tables.tables) == 3)
    assert set(one.tables.tables) | set(two.tables.tables) == {f"t{number}" for number in range(6)}
    began_s = asyncio.get_running_loop().time()
    await one.stop()
    await until(lambda: len(two.tables.tables) == 6)
    assert asyncio.get_running_loop().time() - began_s < 4 * TTL_S
    await two.stop()
    standing = await two.leases.standing(10)
    assert (standing.open, len(standing.free), dict(standing.owned)) == (6, 6, {})


async def test_an_instance_that_dies_is_replaced_within_its_leases_time(
    world: tuple[Pool, PostgresEventStore],
) -> None:
    one, two = Instance(*world, "i1"), Instance(*world, "i2")
    await opened([one, two], 4)
    await until(lambda: len(one.tables.tables) == len(two.tables.tables) == 2)
    await one.kill()
    await until(lambda: len(two.tables.tables) == 4)
    result = await handled([two], call("t0", t.SignInDealer("d1")))
    assert isinstance(result[0], Done)
    await two.stop()


async def test_a_table_that_is_not_open_is_let_go_and_taken_again_when_it_is_asked_for(
    world: tuple[Pool, PostgresEventStore],
) -> None:
    one = Instance(*world, "i1", tables_max=2)
    await opened([one], 2)
    await handled([one], call("t0", t.CloseTable()))
    await until(lambda: one.tables.tables == ("t1",))
    assert (await one.leases.owner_of("t0")).address is None
    (refused,) = await handled([one], call("t0", t.SignInDealer("d1")))
    assert isinstance(refused, Refused)
    assert refused.refusal.code == "table_closed"
    (done,) = await handled([one], call("t0", t.OpenTable("t0", config_of())))
    assert isinstance(done, Done)
    await one.stop()


async def test_whoever_does_not_own_a_table_names_the_owner(world: tuple[Pool, PostgresEventStore]) -> None:
    one, two = Instance(*world, "i1", tables_max=5), Instance(*world, "i2", tables_max=0)
    await opened([one], 1)
    with pytest.raises(NotOwner) as raised:
        await two.tables.handle(call("t0", t.SignInDealer("d1")))
    assert raised.value.owner_address == "i1:5001"
    (refused,) = await two.tables.handle(call("nowhere", t.SignInDealer("d1")))
    assert isinstance(refused, Refused)
    assert refused.refusal.code == "table_unknown"
    await one.stop()
    await two.stop()


async def test_a_call_that_runs_is_joined_and_another_body_is_refused(
    world: tuple[Pool, PostgresEventStore],
) -> None:
    one = Instance(*world, "i1")
    await opened([one], 1)
    key = AnswerKey("tests", "SignInDealer", "r1")
    slot = AnswerSlot(key, digest(b"body"), lambda results: repr(results).encode())
    both = await asyncio.gather(
        *(one.tables.handle(call("t0", t.SignInDealer("d1"), slot)) for _ in range(2))
    )
    assert both[0] == both[1]
    other = AnswerSlot(key, digest(b"other"), lambda results: repr(results).encode())
    with pytest.raises(RequestIdReused):
        await one.tables.handle(call("t0", t.SignInDealer("d2"), other))
    with pytest.raises(DeadlineExceeded):
        await one.tables.handle(call("t0", t.SignOutDealer(), left_s=-1.0))
    with pytest.raises(ValueError, match="works"):
        await one.tables.handle(TableCall("t0", (), None, 0.0))
    assert one.tables.waiting == 0
    await one.stop()


async def test_sessions_that_are_cut_cost_nothing_but_time(
    world: tuple[Pool, PostgresEventStore], stack: Stack
) -> None:
    one = Instance(*world, "i1")
    await opened([one], 1)
    name = await world[0].fetchval("SELECT current_database()")
    admin = await asyncpg.connect(stack.databases.admin_dsn)
    try:
        for number in range(6):
            command: t.TableCommand = t.SignInDealer("d1") if number % 2 == 0 else t.SignOutDealer()
            asking = asyncio.ensure_future(handled([one], call("t0", command)))
            await admin.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE application_name = 't' AND datname = $1",
                name,
            )
            result = await asking
            assert isinstance(result[0], Done)
    finally:
        await admin.close()
    names = [event.type for event in await world[1].read_stream("table-t0")]
    assert names == ["TableOpened", *["DealerSignedIn", "DealerSignedOut"] * 3]
    await one.stop()
