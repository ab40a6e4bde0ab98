"""PostgreSQL on this machine: killed, paused, wiped, and back again at its address."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import pytest

from stack import ServerDidNotStartError, Stack
from stack.folders import MEMORY
from stack.local import server as local_server
from stack.postgres.databases import through_socket
from stack.postgres.server import PostgresServer
from stack.servers import SomeonesPostgres
from tests.stack.asking import do, value
from tests.stack.processes import identity


@pytest.fixture(scope="module")
def server(open_folder: Path) -> Iterator[PostgresServer]:
    """A server of this file, to be killed and paused; always back after each test."""
    server = PostgresServer(open_folder / "postgresql", kept=False)
    server.start()
    yield server
    server.stop()


@pytest.fixture
def dsn(server: PostgresServer) -> str:
    """Its superuser's address."""
    return f"postgresql://postgres:{server.superuser_password}@{server.address}/postgres"


async def test_the_unix_socket_serves_as_well(stack: Stack) -> None:
    through_socket = stack.addresses.postgres_socket_dsn
    assert through_socket is not None
    assert await value(through_socket, "SELECT inet_client_addr()") is None
    assert await value(through_socket, "SELECT current_user::text") == "upcard"


async def test_where_a_path_is_too_long_for_a_socket_it_lies_elsewhere(open_folder: Path) -> None:
    server = PostgresServer(open_folder / ("long" * 25) / "postgresql", kept=True)
    await asyncio.to_thread(server.start)
    folder = server.socket_folder
    try:
        assert not folder.is_relative_to(open_folder)
        dsn = f"postgresql://postgres:{server.superuser_password}@{server.address}/postgres"
        assert await value(through_socket(dsn, str(folder)), "SELECT inet_client_addr()") is None
    finally:
        await asyncio.to_thread(server.stop)
    assert not folder.exists()


async def test_killed_and_back_it_has_what_was_committed_at_the_same_address(
    server: PostgresServer, dsn: str
) -> None:
    address, first = server.address, identity(server.pid)
    await do(dsn, "CREATE TABLE survives AS SELECT generate_series(1, 1000) AS n")
    connection = await asyncpg.connect(dsn)
    await connection.execute("BEGIN; INSERT INTO survives VALUES (1001)")
    server.kill()
    assert not first.alive
    assert not server.running
    with pytest.raises((OSError, asyncpg.PostgresError, asyncpg.InterfaceError)):
        await connection.execute("COMMIT")
    await asyncio.to_thread(server.start)
    assert server.address == address
    assert await value(dsn, "SELECT max(n) FROM survives") == 1000
    assert "was not properly shut down; automatic recovery" in server.log.read_text()


async def test_paused_it_is_silent_and_goes_on_where_it_was(server: PostgresServer, dsn: str) -> None:
    connection = await asyncpg.connect(dsn)
    server.pause()
    try:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(
                asyncio.shield(query := asyncio.ensure_future(connection.fetchval("SELECT 1"))), 0.3
            )
    finally:
        server.resume()
    assert await asyncio.wait_for(query, 30) == 1
    await connection.close()


async def test_paused_it_can_still_be_stopped(server: PostgresServer) -> None:
    server.pause()
    await asyncio.to_thread(server.stop)
    assert server.process.exit_status() == 0, "in order, not by force"
    await asyncio.to_thread(server.start)


async def test_a_restart_in_order_needs_no_recovery(server: PostgresServer, dsn: str) -> None:
    before = server.log.stat().st_size
    await asyncio.to_thread(server.restart)
    assert await value(dsn, "SELECT 1") == 1
    assert "automatic recovery" not in server.log.read_text()[before:]


async def test_wiped_it_begins_with_nothing(server: PostgresServer, dsn: str) -> None:
    await do(dsn, "CREATE DATABASE gone")
    server.wipe()
    await asyncio.to_thread(server.start)
    assert await value(dsn, "SELECT count(*) FROM pg_database WHERE datname = 'gone'") == 0


def test_killed_and_stopped_it_leaves_no_shared_memory(server: PostgresServer) -> None:
    segments = server._segments
    assert all(segment.exists() for segment in segments)
    assert segments or not MEMORY.is_dir()
    server.kill()
    server.stop()
    assert [segment for segment in segments if segment.exists()] == []
    server.start()


async def test_its_own_port_is_waited_for_and_then_named(
    server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    await asyncio.to_thread(server.stop)
    monkeypatch.setattr(local_server, "OWN_PORT_S", 0.05)
    stranger = await asyncio.start_server(lambda _r, w: w.close(), *server.address.split(":"))
    try:
        with pytest.raises(ServerDidNotStartError, match=f"another program has its port {server.port}"):
            await asyncio.to_thread(server.start)
    finally:
        stranger.close()
        await stranger.wait_closed()
    await asyncio.to_thread(server.start)


async def test_someone_elses_server_is_never_touched() -> None:
    theirs = SomeonesPostgres("postgresql://someone@db.example/postgres")
    assert theirs.address == "db.example:5432"
    for act in (theirs.kill, theirs.restart, theirs.pause, theirs.resume, theirs.wipe):
        with pytest.raises(Exception, match="was not started by this stack"):
            act()
    theirs.stop()
