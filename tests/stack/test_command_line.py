"""`make stack` and its companions."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from stack import Lane, folders
from stack.command_line import main
from stack.folders import PREFIX, DataFolder, folder_for_tests, lasting_folder
from stack.local.accounts import server_account
from tests.stack.asking import topics, value
from tests.stack.processes import READY_S, all_end, recorded, stack_program

# An inner pytest starts faster without what it does not need.
FEW_PLUGINS = ("-p", "no:cacheprovider", "-p", "no:hypothesispytest", "-p", "no:pytest_cov")


async def test_up_prints_addresses_that_serve_and_ctrl_c_stops_it(open_folder: Path) -> None:
    folder = open_folder / "up"
    with stack_program("up", f"--data={folder}", environment={"UPCARD_LANE": "embedded"}) as program:
        said = program.wait_for("broker.log")
        addresses = json.loads((folder / "addresses.json").read_text())
        assert (folder / "addresses.json").stat().st_mode & 0o077 == 0, "it holds passwords"
        for address in ("postgres_dsn", "admin_dsn", "kafka_bootstrap"):
            assert addresses[address] in said
        assert await value(addresses["postgres_dsn"], "SELECT 1") == 1
        assert await topics(addresses["kafka_bootstrap"]) == set()
        servers = recorded(folder)
        status, complaints = program.interrupt()
    assert status == 0, complaints
    assert "Stopping ..." in complaints
    assert all_end(servers, 0.0)
    assert "database system is shut down" in (folder / "postgresql" / "postgresql.log").read_text()


def test_up_ends_when_a_server_does_and_names_its_log(open_folder: Path) -> None:
    folder = open_folder / "up"
    with stack_program("up", f"--data={folder}") as program:
        program.wait_for("broker.log")
        broker = json.loads((folder / "broker" / "process.json").read_text())["pid"]
        os.kill(broker, signal.SIGKILL)
        program.process.wait(READY_S)
        assert program.process.returncode == 1
        assert f"broker ended by itself; its log: {folder / 'broker' / 'broker.log'}" in program.complaints()


def test_lanes_tells_what_can_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lanes"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(Lane)
    assert lines[0] == "embedded    can run here"


def test_check_succeeds_or_says_why_not(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert main(["check", "embedded"]) == 0
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["check", "native"]) == 1
    assert "LANE native CANNOT RUN HERE: java and mvn not found" in capsys.readouterr().err


def test_a_wrong_setting_is_a_sentence_and_status_1(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UPCARD_LANE", "docker")
    assert main(["up"]) == 1
    assert capsys.readouterr().err == "UPCARD_LANE: 'docker' is none of embedded, native, containers\n"


def test_data_are_kept_where_the_servers_can_reach_them(
    monkeypatch: pytest.MonkeyPatch, open_folder: Path, tmp_path: Path
) -> None:
    monkeypatch.setenv("UPCARD_PROJECT", str(open_folder))
    assert lasting_folder("embedded") == open_folder / ".stack" / "embedded"
    if server_account() is not None:
        monkeypatch.setenv("UPCARD_PROJECT", str(tmp_path))  # pytest's folders are closed to other accounts
        elsewhere = lasting_folder("embedded")
        assert elsewhere == lasting_folder("embedded")
        assert not elsewhere.is_relative_to(tmp_path)


def test_data_of_tests_lie_in_memory_where_there_is_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert folder_for_tests({"UPCARD_TEST_FOLDER": str(tmp_path / "x")}) == tmp_path / "x"
    monkeypatch.setattr(folders, "MEMORY", tmp_path)
    monkeypatch.setattr(folders, "MEMORY_BYTES_MIN", 1)
    assert folder_for_tests({}) == tmp_path
    monkeypatch.setattr(folders, "MEMORY_BYTES_MIN", 1024**6)
    assert folder_for_tests({}) is None
    monkeypatch.setattr(folders, "MEMORY", tmp_path / "none")
    assert folder_for_tests({}) is None


def test_a_temporary_folder_that_was_abandoned_goes_with_the_next_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    abandoned, young, held = (tmp_path / f"{PREFIX}{name}" for name in ("old", "young", "held"))
    for folder in (abandoned, young, held):
        folder.mkdir()
    holder = DataFolder.open(held)
    for folder in (abandoned, held):
        os.utime(folder, (0, 0))
    DataFolder.open(None).close()
    assert (abandoned.exists(), young.exists(), held.exists()) == (False, True, True)
    holder.close()


def test_fixtures_are_there_for_each_suite_and_each_worker_has_its_own_stack(tmp_path: Path) -> None:
    (tmp_path / "test_sample.py").write_text(
        "import asyncio, pytest, asyncpg\n"
        "@pytest.mark.parametrize('n', range(2))\n"
        "def test_database(n, stack, database, unique_topic):\n"
        "    async def ask():\n"
        "        connection = await asyncpg.connect(database)\n"
        "        await connection.execute('CREATE TABLE t ()')\n"
        "        await connection.close()\n"
        "    asyncio.run(ask())\n"
        "    assert unique_topic('a') != unique_topic('a')\n"
        "    print('STACK', stack.folder)\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-rP", "-n2", *FEW_PLUGINS, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        timeout=120,
    )
    assert "2 passed" in done.stdout, done.stdout + done.stderr
    folders = {line for line in done.stdout.splitlines() if line.startswith("STACK")}
    assert len(folders) == 2
    assert not any(Path(line.removeprefix("STACK ")).exists() for line in folders)


def test_a_lane_that_cannot_run_is_one_line_and_no_test(tmp_path: Path) -> None:
    (tmp_path / "test_sample.py").write_text("def test_it(stack): ...\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *FEW_PLUGINS, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "UPCARD_LANE": "containers", "DOCKER_HOST": f"unix://{tmp_path}/no.sock"},
        timeout=120,
    )
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    assert len(lines) == 1
    assert lines[0].startswith("ERROR: LANE containers CANNOT RUN HERE: no Docker engine answers")
