"""Nothing outlives its stack, however that ended; and what was left behind stops no later one."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from stack import FolderInUseError, Lane, Stack
from stack.deadlines import happens
from stack.local.accounts import server_account
from stack.local.guarded import Command, GuardedProcess, end_leftover
from stack.local.identity import Identity
from stack.postgres.server import PostgresServer
from tests.stack.asking import do, value
from tests.stack.processes import all_end, identity, recorded, stack_program

ENDS_S = 30.0


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    """A process that has nothing to do with any stack, of the account that PostgreSQL runs as."""
    account = server_account()
    with subprocess.Popen(["/bin/sleep", "600"], user=account.uid if account else None) as process:
        yield process
        process.kill()


def guard_of(process: Identity) -> Identity:
    """The guard of a server."""
    handle = process.process()
    assert handle is not None
    return identity(handle.ppid())


async def test_killed_and_started_again_at_once_on_the_same_data(open_folder: Path) -> None:
    folder = open_folder / "killed"
    with stack_program("up", f"--data={folder}") as program:
        program.wait_for("Kafka")
        addresses = json.loads((folder / "addresses.json").read_text())
        servers = recorded(folder)
        assert len(servers) == 2
        await do(addresses["postgres_dsn"], "CREATE TABLE kept AS SELECT 7 AS n")
        program.process.kill()  # SIGKILL: it has no chance to stop anything
        async with Stack(Lane.EMBEDDED, folder) as stack:
            assert not any(server.alive for server in servers)
            assert await value(stack.addresses.postgres_dsn, "SELECT n FROM kept") == 7
            assert stack.addresses.postgres_dsn == addresses["postgres_dsn"]


def test_servers_end_with_the_process_that_started_them(open_folder: Path) -> None:
    folder = open_folder / "orphans"
    with stack_program("up", f"--data={folder}") as program:
        program.wait_for("Kafka")
        servers = recorded(folder)
        guards = [guard_of(server) for server in servers]
        program.process.kill()
        assert all_end([*servers, *guards], ENDS_S)
    log = (folder / "postgresql" / "postgresql.log").read_text()
    assert "database system is shut down" in log, "its guard asks it politely first"


HELD_BY_A_FORK = """
import os, pathlib, signal, sys
from stack.brokers.embedded import EmbeddedBroker
broker = EmbeddedBroker(pathlib.Path(sys.argv[1]))
broker.start()
if os.fork() == 0:  # has a copy of all that its parent had open
    signal.alarm(60)
    signal.pause()
print(broker.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_forked_child_that_lives_on_keeps_no_server(open_folder: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HELD_BY_A_FORK, str(open_folder / "forked")],
        stdout=subprocess.PIPE,
        start_new_session=True,
    ) as program:
        try:
            assert program.stdout is not None
            broker = identity(int(program.stdout.readline()))
            assert program.wait(ENDS_S) == -signal.SIGKILL
            assert all_end([broker], ENDS_S)
        finally:
            os.killpg(program.pid, signal.SIGKILL)


@pytest.fixture(scope="module")
def server(open_folder: Path) -> Iterator[PostgresServer]:
    """A server of this file, running before each test."""
    server = PostgresServer(open_folder / "postgresql", kept=False)
    server.start()
    yield server
    server.stop()


def test_a_server_ends_with_its_guard(server: PostgresServer) -> None:
    family = [identity(member.pid) for member in server.process.identity.family()]
    assert len(family) > 3, "the server and its children"
    os.kill(guard_of(family[0]).pid, signal.SIGKILL)
    assert all_end(family, ENDS_S)
    assert server.process.exit_status() == -signal.SIGKILL
    server.start()
    assert server.running


def test_a_stale_pid_file_that_names_a_stranger_is_no_hindrance(
    server: PostgresServer, sleeper: subprocess.Popen[bytes]
) -> None:
    pid_file = server.data / "postmaster.pid"
    text = pid_file.read_text()
    server.kill()
    pid_file.write_text(re.sub(r"\A\d+", str(sleeper.pid), text))
    server.start()
    assert server.running
    assert sleeper.poll() is None, "the stranger is left alone"


def test_data_that_another_server_is_using_are_refused(server: PostgresServer) -> None:
    intruder = PostgresServer(server.folder, kept=False)
    record = server.record.read_text()
    server.record.unlink()  # so that the intruder cannot take it for a left-over of its own
    try:
        with pytest.raises(FolderInUseError, match=rf"did not start \(pid {server.pid}\)"):
            intruder.start()
        assert server.running
    finally:
        server.record.write_text(record)


def test_a_left_over_server_is_ended_and_a_stranger_with_its_pid_is_not(
    tmp_path: Path, sleeper: subprocess.Popen[bytes]
) -> None:
    record = tmp_path / "process.json"
    ours = identity(sleeper.pid)
    replace(ours, started="long ago").write(record)
    assert not end_leftover(record, signal.SIGTERM, ENDS_S)
    assert (sleeper.poll(), record.exists()) == (None, False)
    ours.write(record)
    assert end_leftover(record, signal.SIGTERM, ENDS_S)
    assert sleeper.wait(ENDS_S) == -signal.SIGTERM
    assert not end_leftover(record, signal.SIGTERM, ENDS_S)


@pytest.mark.parametrize("text", ["", "{}", '{"pid": "x"}', "[1]"])
def test_a_record_that_says_nothing_is_ignored(tmp_path: Path, text: str) -> None:
    record = tmp_path / "process.json"
    record.write_text(text)
    assert Identity.read(record) is None
    assert not end_leftover(record, signal.SIGTERM, ENDS_S)


def test_a_server_that_will_not_stop_is_killed_after_its_deadline(tmp_path: Path) -> None:
    stubborn = (
        "import signal, sys\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "print('deaf', flush=True)\n"
        "while True: signal.pause()"
    )
    process = GuardedProcess.start(
        Command(
            arguments=[sys.executable, "-c", stubborn],
            folder=tmp_path,
            log=tmp_path / "log",
            stop_signal=signal.SIGTERM,
            stop_deadline_s=0.2,
        )
    )
    assert happens(lambda: "deaf" in (tmp_path / "log").read_text(), ENDS_S)
    assert process.exit_status() is None
    assert process.stop() == -signal.SIGKILL
    assert process.stop() == process.exit_status()
    assert not process.identity.alive


def test_stopping_is_asking_first(tmp_path: Path) -> None:
    polite = (
        "import signal, sys\n"
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(5))\n"
        "print('listening', flush=True)\n"
        "while True: signal.pause()"
    )
    log = tmp_path / "log"
    process = GuardedProcess.start(
        Command(
            arguments=[sys.executable, "-c", polite],
            folder=tmp_path,
            log=log,
            stop_signal=signal.SIGTERM,
            stop_deadline_s=ENDS_S,
        )
    )
    assert happens(lambda: "listening" in log.read_text(), ENDS_S)
    assert process.stop() == 5


def test_an_exit_that_comes_at_once_is_told(tmp_path: Path) -> None:
    process = GuardedProcess.start(
        Command(
            arguments=[sys.executable, "-c", "raise SystemExit(3)"],
            folder=tmp_path,
            log=tmp_path / "log",
            stop_signal=signal.SIGTERM,
            stop_deadline_s=5.0,
        )
    )
    assert happens(lambda: not process.running, ENDS_S)
    assert (process.exit_status(), process.stop()) == (3, 3)
