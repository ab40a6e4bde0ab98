"""Services sign their logs while they run; `upcard audit` finds what somebody with the database changed."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import pytest

from stack import Stack
from stack.folders import folder_for_tests
from stack.threads import run_apart
from tests.transparency.test_audit import UNLOCKED
from upcard_operate.local.fleet import Fleet
from upcard_operate.options import SERVICES

DEADLINE_S = 120


@dataclass(frozen=True)
class Audited:
    """All services, and the command."""

    fleet: Fleet

    def upcard(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "upcard_operate", *arguments],
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
            check=False,
            env={"PATH": "/usr/bin:/bin", **self.fleet.environment()},
        )

    def until_outside(self, origin: str, size: int) -> None:
        """Wait for a checkpoint of this size outside the database."""
        path = self.fleet.checkpoints / origin.replace("/", "_") / f"{size:020d}.checkpoint"
        until_s = time.monotonic() + DEADLINE_S
        while not path.exists():
            assert time.monotonic() < until_s, f"{path} was never written"
            time.sleep(0.1)


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Audited]:
    folder = tmp_path_factory.mktemp("audited")
    with Stack(temporary_in=folder_for_tests()) as servers, Fleet(servers, folder) as fleet:
        found = Audited(fleet)
        for name in ("one", "two"):
            done = found.upcard(
                *("operator", "register", f"casino-{name}", "--name", f"Casino {name}"),
                *("--environment", "live", "--wallet", "transfer", "--currency", "EUR"),
            )
            assert done.returncode == 0, done.stderr
        yield found


def test_nothing_is_found_until_something_is_changed(audited: Audited) -> None:
    audited.until_outside("upcard.local/gateway", 2)
    done = audited.upcard("audit", "run")
    assert (done.returncode, done.stderr.count("Traceback")) == (0, 0), done.stdout + done.stderr
    for service in SERVICES:
        assert f"{service}: Nothing was changed" in done.stdout
    told = [json.loads(line) for line in audited.upcard("audit", "run", "--json").stdout.splitlines()]
    assert {one["service"]: one["findings"] for one in told} == {service: [] for service in SERVICES}
    (gateway,) = [one for one in told if one["service"] == "gateway"]
    assert (gateway["events"], gateway["leaves"]) == (2, 2)
    assert gateway["outside"] >= 1

    async def change() -> None:
        connection = await asyncpg.connect(audited.fleet.admin_dsn("gateway"))
        try:
            await connection.execute(
                UNLOCKED.replace("{}", "UPDATE eventstore.events SET content = content || ' '")
            )
        finally:
            await connection.close()

    run_apart(change)
    done = audited.upcard("audit", "run", "--service", "gateway")
    assert done.returncode == 1, done.stdout
    for name in ("one", "two"):
        assert f"partner-casino-{name} 1" in done.stdout
    assert "event_changed" in done.stdout
    assert audited.upcard("audit", "run", "--service", "wallet").returncode == 0


def test_keys_are_made_and_asked_for(audited: Audited, tmp_path: Path) -> None:
    made = json.loads(audited.upcard("audit", "key", "upcard.test/table", "--json").stdout)
    assert made["key"].startswith("upcard.test/table+")
    keys = tmp_path / "keys"
    keys.write_text(f"# ours\n{made['key']}\n")
    other = audited.upcard("audit", "run", "--service", "wallet", "--key-file", str(keys))
    assert (other.returncode, "its origin ends with /wallet" in other.stderr) == (2, True), other.stderr
    wrong = audited.upcard("audit", "run", "--key", "nonsense")
    assert wrong.returncode == 2
    assert audited.upcard("audit", "run", "--service", "nobody").returncode == 2
    assert audited.upcard("audit", "key", "two words").returncode == 2
