"""The programs behind `make demo` and `make up`."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import httpx
import psutil
import pytest

from upcard_operate.demo.console import Console
from upcard_operate.demo.operators import OPERATORS
from upcard_operate.demo.pages import SignIn, Staff
from upcard_operate.demo.staffing import enrol
from upcard_operate.demo.telling import PLACES
from upcard_operate.options import SERVICES

DEADLINE_S = 240


def environment(**more: str) -> dict[str, str]:
    """Ours without what others set, and these."""
    mine = {name: value for name, value in os.environ.items() if not name.startswith("UPCARD_")}
    return {**mine, "UPCARD_LANE": os.environ.get("UPCARD_LANE", "embedded"), **more}


def test_the_demonstration_agrees_and_may_be_kept() -> None:
    """It ends with everything in agreement; then each page that was told is opened with its sign-in."""
    process = subprocess.Popen(
        [sys.executable, "-m", "upcard_operate.demo"],
        stdout=subprocess.PIPE,
        text=True,
        env=environment(ROUNDS="5", PLAYERS="10", SEED="5", KEEP="1"),
    )
    try:
        assert process.stdout is not None
        said = []
        for line in process.stdout:
            said.append(line)
            if line.startswith("Ctrl-C"):
                break
        text = "".join(said)
        assert "Everything agrees." in text
        assert "5 rounds of" in text
        url = re.search(r"Staff sign in at (http://[0-9.:]+)/staff", text)
        assert url is not None, text
        assert text.count(f"{url[1]}/play") == len(OPERATORS) + 1, "a link of each casino, and to look on"
        assert httpx.get(f"{url[1]}/play", timeout=DEADLINE_S).status_code == 200
        pages = re.findall(rf"^  {re.escape(url[1])}(/staff/\S+) +(\S+) ", text, re.MULTILINE)
        assert len(pages) == len(PLACES), text
        for name in sorted({opened_by for _, opened_by in pages}):
            password = re.search(rf"^  {name} +(\S+) ", text, re.MULTILINE)
            assert password is not None, text
            opened = [path for path, opened_by in pages if opened_by == name]
            asyncio.run(looked_at(url[1], SignIn(name, password[1]), opened))
        process.send_signal(signal.SIGTERM)
        assert process.wait(DEADLINE_S) == 0
    finally:
        process.kill()
        process.communicate()


async def looked_at(url: str, sign_in: SignIn, paths: Sequence[str]) -> None:
    """Open pages as a member of staff who has a one-time password; a dealer takes a table over as well."""
    async with Staff(url) as member:
        await enrol(member, sign_in)
        for path in paths:
            assert "<main" in await member.page(path)
        if sign_in.name == "dealer":
            console = Console(member, "demo-three")
            await console.take_over()
            found = await member.call("/staff/api/dealer/tables/demo-three")
            assert found["round"]["number"] > 0
            await console.leave()


@pytest.mark.parametrize(("name", "value"), [("ROUNDS", "none"), ("PLAYERS", "0"), ("SEED", "-1")])
def test_a_wrong_number_is_said_before_anything_starts(name: str, value: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "upcard_operate.demo"],
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
        env=environment(**{name: value}),
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{name} has to be a whole number" in done.stderr


def test_everything_is_kept_running_until_it_is_interrupted() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "upcard_operate.local"],
        stdout=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    try:
        assert process.stdout is not None
        said = []
        for line in process.stdout:
            said.append(line)
            if line.startswith("Ctrl-C"):
                break
        file = Path(next(line for line in said if ". /" in line).rpartition(". ")[2].strip())
        assert file.stat().st_mode & 0o077 == 0, "it has secrets, and is its owner's alone"
        checked = subprocess.run(
            ["/bin/sh", "-c", f". {file} && {sys.executable} -m upcard_operate check --json"],
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
            check=False,
            env=environment(),
        )
        assert checked.returncode == 0, checked.stdout + checked.stderr
        process.send_signal(signal.SIGTERM)
        assert process.wait(DEADLINE_S) == 0
    finally:
        process.kill()
        process.communicate()


def test_nothing_outlives_a_starter_that_is_killed() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "upcard_operate.local"], stdout=subprocess.PIPE, text=True, env=environment()
    )
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("Ctrl-C"):
                break
        family = psutil.Process(process.pid).children(recursive=True)
        programs = {f"upcard_{service}" for service in SERVICES}
        services = [one for one in family if programs & set(one.cmdline())]
        assert len(services) == len(SERVICES)
    finally:
        process.kill()
        process.communicate()
    _, left = psutil.wait_procs(services, timeout=DEADLINE_S)
    assert left == []
