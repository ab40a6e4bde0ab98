"""The kit as a program: what it is told, what it writes, its exit status."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from typer.testing import CliRunner

from tests.conformance.world import DIALECTS, OURS, SECRET, WITHIN_S, wallet
from upcard_conformance.kit import CASES
from upcard_conformance.reference.broken import BROKEN
from upcard_conformance.reference.wallet import ReferenceWallet
from upcard_operate.groups.conformance import app

SOME = ("bet_repeated", "win_repeated", "rollback_comes_first")


@dataclass(frozen=True)
class Ran:
    status: int
    out: str
    err: str


async def kit(*words: str, module: str = "upcard_conformance") -> Ran:
    """Run the program to its end."""
    variables = {**os.environ, **{name.upper(): OURS[name].decode() for name in DIALECTS}, "SHORT": "short"}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        module,
        *words,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=variables,
    )
    async with asyncio.timeout(WITHIN_S):
        out, err = await process.communicate()
    assert process.returncode is not None
    return Ran(process.returncode, out.decode(), err.decode())


@pytest.fixture
async def running(tmp_path: Path) -> AsyncIterator[ReferenceWallet]:
    async with wallet(tmp_path / "book.db") as running:
        yield running


def at(running: ReferenceWallet, dialect: str = "plain", **others: str) -> list[str]:
    """Where the wallet is, and what else a run needs."""
    options = {
        "wallet-url": running.address_of(dialect),
        "dialect": dialect,
        "secret-env": dialect.upper(),
        "player": "p1",
    } | {name.replace("_", "-"): value for name, value in others.items()}
    return [word for name, value in options.items() for word in (f"--{name}", value)]


def cases(*names: str) -> list[str]:
    return [word for name in names for word in ("--case", name)]


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_wallet_that_conforms(running: ReferenceWallet, tmp_path: Path, dialect: str) -> None:
    junit = tmp_path / "report.xml"
    ran = await kit(*at(running, dialect, junit=str(junit)), *cases(*SOME), "--json")
    assert (ran.status, ran.err) == (0, "")
    report = json.loads(ran.out)
    assert (report["conforms"], [one["case"] for one in report["cases"]]) == (True, list(SOME))
    assert ET.parse(junit).getroot().attrib["tests"] == "3"  # noqa: S314 - the kit itself wrote it


async def test_a_wallet_that_does_not(tmp_path: Path) -> None:
    async with wallet(tmp_path / "book.db", BROKEN["forgets-duplicates"]) as running:
        ran = await kit(*at(running), *cases(*SOME))
    assert ran.status == 1
    assert "2 of 3 cases FAILED." in ran.out
    assert ran.err.startswith("FAIL  bet_repeated")


async def test_a_case_that_cannot_be_played_counts_when_all_have_to(running: ReferenceWallet) -> None:
    words = [*at(running), *cases("win_without_session")]
    assert (await kit(*words)).status == 0
    assert (await kit(*words, "--complete")).status == 1
    assert (await kit(*words, "--complete", "--signed-out-player", "p2")).status == 0


@pytest.mark.parametrize(
    ("others", "said"),
    [
        ({"secret_env": "NO_SUCH"}, "set NO_SUCH to the shared secret"),
        ({"secret_env": "SHORT"}, "a secret of 16 bytes"),
        ({"dialect": "martian", "secret_env": "PLAIN"}, "there is no such dialect"),
        ({"wallet_url": "ftp://w"}, "begins with http:// or https://"),
        ({"wallet_url": "http://127.0.0.1:1"}, "check --wallet-url, --dialect, the secret and --player"),
        ({"player": "nobody"}, "does not tell the balance of player nobody"),
        ({"currency": "JPY"}, "--currency and --other-currency have to differ"),
        ({"case": "no_such"}, "there is no case no_such"),
        ({"timeout": "0"}, "--timeout has to be more than 0"),
        ({"junit": "/no/such/place/report.xml"}, "--junit: there is no folder /no/such/place"),
        ({"restart_command": " "}, "--restart-command is empty"),
    ],
)
async def test_nothing_can_be_said(running: ReferenceWallet, others: dict[str, str], said: str) -> None:
    ran = await kit(*at(running, **others))
    assert (ran.status, ran.out) == (2, "")
    assert said in ran.err
    assert len(ran.err.splitlines()) == 1


async def test_a_poor_player_is_no_finding(tmp_path: Path) -> None:
    async with wallet(tmp_path / "book.db") as running:
        await running.on_book(lambda book: book.open("poor", "EUR", 99))
        ran = await kit(*at(running, player="poor"))
    assert (ran.status, "poor has 99 minor units of EUR; give them 10000" in ran.err) == (2, True)


async def test_a_restart_that_fails_is_no_finding(running: ReferenceWallet) -> None:
    words = [*at(running, restart_command="false"), *cases("nothing_is_lost_in_a_crash")]
    ran = await kit(*words)
    assert (ran.status, ran.err) == (2, "--restart-command ended with status 1\n")


async def test_the_cases_are_listed() -> None:
    ran = await kit("--list")
    assert (ran.status, ran.err) == (0, "")
    assert [line.split(":")[0] for line in ran.out.splitlines()[::2]] == [one.name for one in CASES]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--dialect", "plain"], "wanted are 2 parts"),
        (["--dialect", "plain=NO_SUCH"], "set NO_SUCH to the secret"),
        (["--dialect", "plain=PLAIN", "--player", "p1:EUR:much"], "whole number of minor units"),
        (["--dialect", "plain=PLAIN", "--book", "/no/such/place/book.db"], "unable to open database file"),
    ],
)
async def test_the_reference_wallet_says_what_it_lacks(tmp_path: Path, words: list[str], said: str) -> None:
    ran = await kit("--book", str(tmp_path / "book.db"), *words, module="upcard_conformance.reference")
    assert (ran.status, said in ran.err) == (2, True), ran.err


async def upcard(*words: str) -> Any:
    """`upcard conformance`, beside the wallet of this process."""
    return await asyncio.to_thread(CliRunner().invoke, app, list(words), env={"PLAIN": SECRET.decode()})


async def test_the_operators_command_does_the_same(running: ReferenceWallet) -> None:
    done = await upcard(*at(running), *cases(*SOME), "--json")
    assert (done.exit_code, json.loads(done.stdout)["conforms"]) == (0, True)
    spoken = await upcard(*at(running), *cases(*SOME))
    assert (spoken.exit_code, "3 cases passed." in spoken.stdout) == (0, True)
    unknown = await upcard(*at(running, player="nobody"))
    assert (unknown.exit_code, "does not tell the balance" in unknown.stderr) == (2, True)


async def test_the_operators_command_fails_as_the_kit_does(tmp_path: Path) -> None:
    async with wallet(tmp_path / "book.db", BROKEN["overdraws"]) as running:
        done = await upcard(*at(running), *cases("bet_without_funds"))
    assert (done.exit_code, "FAILED" in done.stdout) == (1, True)
