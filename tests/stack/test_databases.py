"""PostgreSQL of whichever lane the tests run on: durable, closed to strangers, fresh for each test."""

from __future__ import annotations

from collections.abc import Callable

import asyncpg
import pytest

from stack import Stack, with_database
from tests.stack.asking import do, value


async def test_a_commit_is_durable_and_the_server_says_so(stack: Stack) -> None:
    connection = await asyncpg.connect(stack.addresses.postgres_dsn)
    try:
        rows = await connection.fetch(
            "SELECT name, setting FROM pg_settings WHERE name = ANY($1) ORDER BY name",
            [
                "data_checksums",
                "fsync",
                "full_page_writes",
                "server_version_num",
                "synchronous_commit",
                "TimeZone",
            ],
        )
    finally:
        await connection.close()
    settings = {row["name"]: row["setting"] for row in rows}
    assert int(settings.pop("server_version_num")) // 10_000 == 18
    assert settings == {
        "TimeZone": "UTC",
        "data_checksums": "on",
        "fsync": "on",
        "full_page_writes": "on",
        "synchronous_commit": "on",
    }


async def test_the_ordinary_role_may_do_nothing_beyond_its_databases(stack: Stack) -> None:
    rights = "rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication"
    query = f"SELECT {rights} FROM pg_roles WHERE rolname = current_user"  # noqa: S608 - from the line above
    assert await value(stack.addresses.postgres_dsn, query) is False
    assert (
        await value(stack.addresses.admin_dsn, "SELECT rolsuper FROM pg_roles WHERE rolname = current_user")
        is True
    )


async def test_nobody_comes_in_without_the_password(stack: Stack) -> None:
    wrong = stack.addresses.admin_dsn.replace("postgresql://postgres:", "postgresql://postgres:x")
    with pytest.raises(asyncpg.InvalidPasswordError):
        await value(wrong, "SELECT 1")


async def test_each_database_is_fresh_and_a_copy_of_the_template(
    stack: Stack, new_database: Callable[[], str], database: str
) -> None:
    await do(database, "CREATE TABLE t (n int)", "INSERT INTO t VALUES (1)")
    copy = await stack.create_database(template=database.rpartition("/")[2])
    assert await value(copy, "SELECT n FROM t") == 1
    assert await value(new_database(), "SELECT to_regclass('t')") is None
    await stack.drop_database(copy.rpartition("/")[2])
    with pytest.raises(asyncpg.InvalidCatalogNameError):
        await value(copy, "SELECT 1")


@pytest.mark.parametrize("name", ["", 'x"; DROP DATABASE upcard; --', "Upper", "a" * 64])
async def test_a_name_that_is_not_plain_is_refused(stack: Stack, name: str) -> None:
    with pytest.raises(ValueError, match="is no name for a database"):
        await stack.databases.create(name)


def test_an_address_of_another_database_differs_in_nothing_else() -> None:
    assert with_database("postgresql://u:p@h:1/a?x=y", "b") == "postgresql://u:p@h:1/b?x=y"
