"""A stack starts, serves, stops, and leaves nothing behind but a folder that was asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from stack import FolderInUseError, Lane, Stack
from stack.deadlines import happens
from stack.folders import folder_for_tests
from tests.stack.asking import do, make_topic, topics, value
from tests.stack.processes import all_end, recorded


@pytest.fixture
def folder(open_folder: Path) -> Path:
    """A folder for a stack's data."""
    return open_folder / "kept"


async def test_both_servers_serve_and_none_outlives_the_stack() -> None:
    async with Stack(Lane.EMBEDDED, temporary_in=folder_for_tests()) as stack:
        servers = recorded(stack.folder)
        assert len(servers) == 2
        assert all(server.alive for server in servers)
        assert await value(stack.addresses.postgres_dsn, "SELECT current_database()") == "upcard"
        await make_topic(stack.addresses.kafka_bootstrap, "orders")
        assert "orders" in await topics(stack.addresses.kafka_bootstrap)
        folder = stack.folder
    assert [server.alive for server in servers] == [False, False]
    assert happens(lambda: not folder.exists(), 30.0), "the temporary folder has to go too"


async def test_the_same_folder_again_has_the_same_data_and_the_same_addresses(folder: Path) -> None:
    async with Stack(Lane.EMBEDDED, folder) as stack:
        first = stack.addresses
        await do(first.postgres_dsn, "CREATE TABLE kept (n int)", "INSERT INTO kept VALUES (7)")
    async with Stack(Lane.EMBEDDED, folder) as stack:
        assert stack.addresses == first
        assert await value(first.postgres_dsn, "SELECT n FROM kept") == 7
        with pytest.raises(FolderInUseError, match=r"in use by another stack \(pid \d+\)"):
            Stack(Lane.EMBEDDED, folder).start()
        assert await value(first.postgres_dsn, "SELECT n FROM kept") == 7, "the refused one must not disturb"
    assert recorded(folder) == []


def test_starting_and_stopping_twice_does_nothing_the_second_time() -> None:
    stack = Stack(Lane.EMBEDDED, temporary_in=folder_for_tests())
    first = stack.start()
    try:
        servers = recorded(stack.folder)
        assert stack.start() == first
        assert recorded(stack.folder) == servers
    finally:
        stack.stop()
    stack.stop()
    assert all_end(servers, 0.0)


def test_a_server_that_does_not_start_takes_the_other_one_along(monkeypatch: pytest.MonkeyPatch) -> None:
    from stack.brokers import embedded  # noqa: PLC0415 - only here is it looked into

    monkeypatch.setattr(embedded, "_program", lambda: Path("/bin/false"))
    stack = Stack(Lane.EMBEDDED, temporary_in=folder_for_tests())
    with pytest.raises(Exception, match="broker did not start"):
        stack.start()
    with pytest.raises(RuntimeError, match="has not been started"):
        _ = stack.postgres
