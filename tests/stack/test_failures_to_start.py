"""A server that does not start says why, which log to read, and what stands at its end."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from stack import ServerDidNotStartError, StackError
from stack.brokers import embedded
from stack.brokers.embedded import EmbeddedBroker
from stack.local import server as local_server
from stack.local.accounts import Account, linked_copy, server_account
from stack.local.server import LocalServer
from stack.ports import HIGHEST, HOST, LOWEST, free_ports, is_free
from stack.postgres.server import PostgresServer


@pytest.fixture
def taken_port() -> Iterator[int]:
    """A port where someone else accepts connections."""
    with socket.socket() as stranger:
        (port,) = free_ports(1)
        stranger.bind((HOST, port))
        stranger.listen()
        yield port


@pytest.mark.parametrize("kind", [PostgresServer, EmbeddedBroker])
def test_a_port_that_is_taken_in_between_costs_another_try(
    open_folder: Path, taken_port: int, monkeypatch: pytest.MonkeyPatch, kind: type[LocalServer]
) -> None:
    folder = open_folder / f"conflict-{kind.__name__}"
    server = PostgresServer(folder, kept=False) if kind is PostgresServer else EmbeddedBroker(folder)
    (free,) = free_ports(1)
    offered = iter([(taken_port,), (taken_port,), (free,)])
    monkeypatch.setattr(local_server, "free_ports", lambda _count: next(offered))
    server.start()
    assert server.port == free
    assert server.process.listens_on(free)
    assert not server.process.listens_on(taken_port)
    server.stop()


def test_a_stranger_that_answers_like_a_broker_is_not_taken_for_ours(
    open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stranger, broker = (EmbeddedBroker(open_folder / name) for name in ("stranger", "ours"))
    stranger.start()
    offered = iter([(stranger.port,), free_ports(1)])
    monkeypatch.setattr(local_server, "free_ports", lambda _count: next(offered))
    broker.start()
    assert broker.running
    assert broker.port != stranger.port
    broker.stop()
    stranger.stop()


def test_the_tries_for_a_port_are_bounded(
    open_folder: Path, taken_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_server, "free_ports", lambda _count: (taken_port,))
    broker = EmbeddedBroker(open_folder / "unlucky")
    with pytest.raises(ServerDidNotStartError, match="other programs took each of the ports") as failure:
        broker.start()
    assert str([taken_port] * local_server.PORT_TRIES) in str(failure.value)
    assert not broker.running


def test_ports_lie_where_no_outgoing_connection_can_take_them() -> None:
    ports = free_ports(20)
    assert len(set(ports)) == 20
    assert all(LOWEST <= port <= HIGHEST and is_free(port) for port in ports)
    ephemeral = Path("/proc/sys/net/ipv4/ip_local_port_range")
    if ephemeral.exists() and ephemeral.read_text().split() == ["32768", "60999"]:
        assert HIGHEST < 32768


def test_broken_data_name_the_log_and_show_its_end(open_folder: Path) -> None:
    server = PostgresServer(open_folder / "broken", kept=False)
    server.start()
    server.stop()
    (server.data / "global" / "pg_control").write_bytes(bytes(8192))
    with pytest.raises(ServerDidNotStartError) as failure:
        server.start()
    message = str(failure.value)
    assert message.startswith("postgresql did not start: it ended at once, status 1\n")
    assert f"Its log is {server.log}; the last lines of it:\n" in message
    assert "FATAL:" in message
    assert "listening on" not in message, "the end of an earlier start is none of this one's"


def test_data_that_cannot_be_made_name_the_log_too(open_folder: Path) -> None:
    server = PostgresServer(open_folder / "unmade", kept=False)
    programs = open_folder / "programs"
    programs.mkdir(mode=0o755)
    (programs / "initdb").write_text("#!/bin/sh\necho no room\nexit 1\n")
    (programs / "initdb").chmod(0o755)
    real, server._programs = server._programs, programs
    with pytest.raises(
        ServerDidNotStartError, match=r"postgresql did not start: initdb failed .*\n.*\n    no room"
    ):
        server.start()
    server._programs = real
    server.start()
    server.stop()


def test_a_program_that_cannot_be_run_is_named(open_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "_program", lambda: Path("/nowhere/tansu"))
    broker = EmbeddedBroker(open_folder / "nowhere")
    with pytest.raises(ServerDidNotStartError, match=r"its program cannot be run .*/nowhere/tansu"):
        broker.start()


def test_a_server_that_never_serves_is_ended(open_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(EmbeddedBroker, "start_deadline_s", 0.3)
    monkeypatch.setattr(EmbeddedBroker, "is_ready", lambda _self: False)
    broker = EmbeddedBroker(open_folder / "never")
    with pytest.raises(ServerDidNotStartError, match="it was not ready after 0 s") as failure:
        broker.start()
    assert "tansu broker" in str(failure.value), "the log's last lines"
    assert not broker.process.identity.alive


def test_an_account_for_servers_has_to_exist_and_not_be_root() -> None:
    if os.geteuid() != 0:
        assert server_account({"UPCARD_SERVER_USER": "no-such-account"}) is None
        return
    with pytest.raises(StackError, match="UPCARD_SERVER_USER: this machine has no account 'no-such-account'"):
        server_account({"UPCARD_SERVER_USER": "no-such-account"})
    with pytest.raises(StackError, match="'root' is root, which PostgreSQL refuses"):
        server_account({"UPCARD_SERVER_USER": "root"})


@pytest.mark.skipif(os.geteuid() != 0, reason="only as root does PostgreSQL run as another account")
def test_a_folder_that_the_servers_account_cannot_reach_is_refused(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    with pytest.raises(StackError, match=r"cannot reach .*closed.*choose another data folder"):
        PostgresServer(closed / "postgresql", kept=False).start()


def test_what_an_account_reaches(open_folder: Path) -> None:
    account = Account("someone", 64_000, 64_000)
    closed = open_folder / "reach"
    closed.mkdir()
    (closed / "file").write_text("x")
    (closed / "file").chmod(0o644)
    (closed / "link").symlink_to("file")
    assert account.reaches(closed / "file")
    assert account.reaches(closed / "link")
    assert account.reaches(closed / "not there yet")
    closed.chmod(0o700)
    assert not account.reaches(closed / "file")
    assert not account.reaches(closed / "not there yet")
    closed.chmod(0o755)
    (closed / "file").chmod(0o600)
    assert not account.reaches(closed / "file")


def test_programs_out_of_reach_are_linked_to_where_everyone_can_run_them(
    tmp_path: Path, open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(open_folder))
    tree = tmp_path / "programs"
    (tree / "bin").mkdir(parents=True)
    (tree / "bin" / "open").write_text("a")
    (tree / "bin" / "open").chmod(0o755)
    (tree / "bin" / "closed").write_text("b")
    (tree / "bin" / "closed").chmod(0o700)
    copy = linked_copy(tree, "test")
    assert linked_copy(tree, "test") == copy, "made once"
    assert Account("someone", 64_000, 64_000).reaches(copy / "bin" / "closed")
    assert [(copy / "bin" / name).read_text() for name in ("open", "closed")] == ["a", "b"]
    assert (tree / "bin" / "closed").stat().st_mode & 0o777 == 0o700, "the original is left as it was"
