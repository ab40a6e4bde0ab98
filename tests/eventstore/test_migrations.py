"""The migrations runner."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import asyncpg
import pytest

from eventstore.migrations import (
    DatabaseIsNewer,
    Migration,
    MigrationBlocked,
    MigrationChanged,
    MigrationFileError,
    event_log_migrations,
    load_migrations,
    migrate,
    pending_migrations,
    prepare_event_log,
)
from eventstore.postgres import Connection
from tests.eventstore.schema_dump import DECLARED, dumped, migrated


@pytest.fixture
def database_template() -> None:
    """Empty databases here."""


@pytest.fixture
def database(new_database: Callable[[], str]) -> str:
    """A database of its own for each test."""
    return new_database()


@pytest.fixture
async def connection(database: str) -> AsyncIterator[Connection]:
    connection = await asyncpg.connect(database)
    yield connection
    await connection.close()


def steps(*sqls: str) -> list[Migration]:
    return [Migration(n, f"step_{n}", sql, f"checksum of {sql}") for n, sql in enumerate(sqls, start=1)]


async def test_missing_steps_are_applied_in_order_and_once(connection: Connection) -> None:
    two = steps("CREATE TABLE one (id bigint)", "ALTER TABLE one ADD COLUMN two text")
    assert [one.migration for one in await migrate(connection, "app", two[:1])] == two[:1]
    assert [one.migration for one in await migrate(connection, "app", two)] == two[1:]
    assert await migrate(connection, "app", two) == ()
    assert await pending_migrations(connection, "app", two) == ()
    notes = await connection.fetch("SELECT component, number, name FROM applied_migrations ORDER BY number")
    assert [tuple(note) for note in notes] == [("app", 1, "step_1"), ("app", 2, "step_2")]


async def test_components_are_numbered_apart(connection: Connection) -> None:
    await migrate(connection, "one", steps("CREATE TABLE one (id bigint)"))
    assert len(await migrate(connection, "two", steps("CREATE TABLE two (id bigint)"))) == 1


async def test_what_is_pending_in_an_empty_database_is_everything(connection: Connection) -> None:
    two = steps("SELECT 1", "SELECT 2")
    assert await pending_migrations(connection, "app", two) == tuple(two)


async def test_a_faulty_step_leaves_nothing_behind_and_the_ones_before_stay(connection: Connection) -> None:
    faulty = steps("CREATE TABLE one (id bigint)", "CREATE TABLE two (id bigint); SELECT 1 / 0")
    with pytest.raises(asyncpg.DivisionByZeroError):
        await migrate(connection, "app", faulty)
    assert await connection.fetchval("SELECT to_regclass('two')") is None
    assert await pending_migrations(connection, "app", faulty) == tuple(faulty[1:])
    mended = [faulty[0], *steps("", "CREATE TABLE two (id bigint)")[1:]]
    assert len(await migrate(connection, "app", mended)) == 1


async def test_a_changed_step_is_refused(connection: Connection) -> None:
    await migrate(connection, "app", steps("SELECT 1"))
    with pytest.raises(MigrationChanged, match="0001_step_1"):
        await migrate(connection, "app", steps("SELECT 2"))


async def test_a_step_that_was_left_out_is_refused(connection: Connection) -> None:
    one, two = steps("SELECT 1", "SELECT 2")
    await migrate(connection, "app", [two])
    with pytest.raises(MigrationChanged, match="0001_step_1"):
        await migrate(connection, "app", [one, two])


async def test_a_database_that_is_newer_is_refused(connection: Connection) -> None:
    two = steps("SELECT 1", "SELECT 2")
    await migrate(connection, "app", two)
    with pytest.raises(DatabaseIsNewer, match="0002_step_2"):
        await migrate(connection, "app", two[:1])


async def test_runners_at_the_same_time_apply_each_step_once(database: str) -> None:
    three = steps(
        "CREATE TABLE one (id bigint)", "CREATE TABLE two (id bigint)", "CREATE TABLE three (id bigint)"
    )

    async def run() -> int:
        connection = await asyncpg.connect(database)
        try:
            return len(await migrate(connection, "app", three))
        finally:
            await connection.close()

    assert sorted(await asyncio.gather(*(run() for _ in range(5)))) == [0, 0, 0, 0, 3]


async def test_a_step_that_gets_no_lock_waits_no_longer_than_it_may(
    connection: Connection, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eventstore.migrations.runner._TRIES", 3)
    monkeypatch.setattr("eventstore.migrations.runner._FIRST_PAUSE_S", 0.001)
    two = steps("CREATE TABLE busy (id bigint)", "ALTER TABLE busy ADD COLUMN more text")
    await migrate(connection, "app", two[:1])
    other = await asyncpg.connect(database)
    async with other.transaction():
        await other.execute("LOCK TABLE busy IN ACCESS SHARE MODE")
        with pytest.raises(MigrationBlocked, match="0002_step_2"):
            await migrate(connection, "app", two, lock_timeout_ms=20)
    await other.close()
    assert len(await migrate(connection, "app", two)) == 1


async def test_a_step_outside_a_transaction(connection: Connection) -> None:
    sql = "-- migrate: outside a transaction\nCREATE INDEX CONCURRENTLY IF NOT EXISTS one_id ON one (id)"
    assert len(await migrate(connection, "app", steps("CREATE TABLE one (id bigint)", sql))) == 2


async def test_the_session_is_as_it_was(connection: Connection) -> None:
    await migrate(connection, "app", steps("SELECT 1"))
    assert await connection.fetchval("SHOW lock_timeout") == "0"
    assert await connection.fetchval("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'") == 0


async def test_a_migrated_database_is_the_declared_schema(database: str) -> None:
    await migrated(database)
    found = await asyncio.to_thread(dumped, database)
    assert found == DECLARED.read_text(), "see tests/eventstore/schema_dump.py"


async def test_preparing_twice_changes_nothing(connection: Connection) -> None:
    assert len(await prepare_event_log(connection)) == len(event_log_migrations())
    assert await prepare_event_log(connection) == ()


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["0002_b.sql"], "stands where 0001 should"),
        (["0001_a.sql", "0001_b.sql"], "stands where 0002 should"),
        (["0001_a.sql", "0003_c.sql"], "stands where 0002 should"),
        (["1_a.sql"], "is named like"),
        (["0001_A.sql"], "is named like"),
    ],
)
def test_a_folder_that_is_not_one_of_migrations(tmp_path: Path, names: list[str], message: str) -> None:
    for name in names:
        (tmp_path / name).write_text("SELECT 1")
    with pytest.raises(MigrationFileError, match=message):
        load_migrations(tmp_path)


def test_other_files_in_a_folder_of_migrations_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("")
    (tmp_path / "0001_a.sql").write_text("SELECT 1")
    assert [one.name for one in load_migrations(tmp_path)] == ["a"]
