"""A casino in miniature is played, and the command `upcard` says what there is to say about it."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from rules_core.log.verify import verify_bundle
from stack import Stack
from stack.folders import folder_for_tests
from upcard_operate.demo import play as demo
from upcard_operate.demo.installation import installed
from upcard_operate.demo.operators import OPERATORS
from upcard_operate.demo.play import Wanted, play
from upcard_operate.demo.report import Report
from upcard_operate.demo.tables import TABLES
from upcard_operate.options import SERVICES

DEADLINE_S = 120
PLAYERS = 12


@dataclass(frozen=True)
class Played:
    """What was played, and a way to ask about it."""

    report: Report
    whole: demo.Played
    upcard: Callable[..., subprocess.CompletedProcess[str]]

    def objects(self, *arguments: str) -> list[dict[str, Any]]:
        """What a command prints for programs."""
        done = self.upcard(*arguments, "--json")
        assert done.returncode == 0, (arguments, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    folder = tmp_path_factory.mktemp("casino")
    with (
        Stack(temporary_in=folder_for_tests()) as servers,
        installed(servers, folder, seed=3) as installation,
    ):
        fleet, ended = installation.fleet, list[int]()
        whole = asyncio.run(play(installation, Wanted(len(TABLES), PLAYERS, seed=3), ended.append))
        assert ended == list(range(1, len(TABLES) + 1))

        def upcard(*arguments: str) -> subprocess.CompletedProcess[str]:
            return subprocess.run(
                [sys.executable, "-m", "upcard_operate", *arguments],
                capture_output=True,
                text=True,
                timeout=DEADLINE_S,
                check=False,
                env={"PATH": "/usr/bin:/bin", **fleet.environment()},
            )

        yield Played(whole.report, whole, upcard)
        assert set(fleet.stop().values()) == {0}, "every service stops in order"


def test_everything_agrees(played: Played) -> None:
    report = played.report
    assert report.wrong == []
    assert {one.ruleset for one in report.rounds} == {table.ruleset for table in TABLES}
    assert all(one.settled for one in report.rounds)
    assert report.paid_in > report.cash - sum(report.jackpots.values()) - report.pool > 0
    assert report.outcomes["accepted"] > PLAYERS


def test_each_casino_is_reconciled(played: Played) -> None:
    assert [sentence.partition(":")[0] for sentence in played.report.agreements] == [
        operator.name for operator in OPERATORS
    ]


def test_people_are_told_how_they_get_in(played: Played) -> None:
    roles = {"admin", "floor", "operations", "support", "auditor", "dealer"}
    assert {one.name for one in played.whole.sign_ins} == roles
    assert all(one.password and not one.secret for one in played.whole.sign_ins), "nobody has enrolled yet"
    assert [link.operator for link in played.whole.links] == list(OPERATORS)
    assert all("/play" in link.url for link in played.whole.links)


def test_a_round_is_shown_replayed_and_explained(played: Played) -> None:
    for one in played.report.rounds:
        name = one.stream.removeprefix("round-")
        summary, *timeline = played.objects("round", "show", name)
        assert (summary["state"], summary["ruleset"]) == ("settled", one.ruleset)
        assert {entry["type"] for entry in timeline} >= {"RoundOpened", "BettingClosed", "RoundSettled"}
        assert len(timeline) == one.events, "operations see every event"
        replayed = played.upcard("round", "replay", name)
        assert (replayed.returncode, replayed.stdout[:7]) == (0, "AGREED:")
        player = next(iter(one.settled))
        explained = played.upcard("round", "explain", name)
        assert (explained.returncode, explained.stderr) == (0, "")
        assert f"player {player}" in explained.stdout
        alone = played.upcard("round", "explain", name, "--player", player)
        assert (alone.returncode, alone.stderr) == (0, "")
        assert f"player {player}" in alone.stdout
        assert len(alone.stdout) <= len(explained.stdout)


def test_a_bundle_is_checked_by_anybody(played: Played, tmp_path: Path) -> None:
    one = played.report.rounds[0]
    name, player = one.stream.removeprefix("round-"), next(iter(one.settled))
    whole, theirs = tmp_path / "whole.json", tmp_path / "theirs.json"
    assert played.objects("round", "bundle", name, str(whole))[0]["agreed"]
    assert played.objects("round", "bundle", name, str(theirs), "--player", player)[0]["agreed"]
    assert verify_bundle(whole.read_bytes()).exit_code == 0
    assert verify_bundle(theirs.read_bytes()).player == player


def test_a_statement_adds_up(played: Played) -> None:
    accounts = played.report.accounts
    account = next(
        accounts[player] for one in played.report.rounds for player in one.settled if player in accounts
    )
    opening, *lines, closing = played.objects("wallet", "statement", account, "--since", "2020-01-01")
    assert opening["cash"] == 0
    assert {line["kind"] for line in lines} >= {"deposit", "hold", "settlement"}
    for book in ("cash", "held", "promo", "owed"):
        assert sum(line[book] for line in lines) == closing[book] - opening[book]
    (balance,) = played.objects("wallet", "balance", account)
    assert balance["cash"] == closing["cash"]


def test_check_finds_nothing_to_do(played: Played) -> None:
    rows = played.objects("check")
    assert [row for row in rows if not row["right"]] == []
    assert {row["service"] for row in rows} == set(SERVICES)


def test_views_are_what_their_log_says(played: Played) -> None:
    compared = played.objects("projections", "compare")
    assert compared
    assert all(one["equal"] and one["rows"] > 0 for one in compared)
    rebuilt = played.upcard("projections", "rebuild", "--json")
    assert rebuilt.returncode == 0, rebuilt.stderr
    assert all(one["equal"] for one in played.objects("projections", "compare"))


def test_what_is_not_there_is_a_sentence(played: Played) -> None:
    for arguments in (("round", "show", "nowhere.1"), ("wallet", "balance", "nobody")):
        done = played.upcard(*arguments)
        assert done.returncode == 1
        assert done.stderr.startswith("Refused, ")
        assert done.stdout == ""
