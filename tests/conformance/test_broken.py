"""Each defect is found, by the case that is for it; and each case finds a defect."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.conformance.world import TARGET, WITHIN_S, case_named, played, program, wallet
from upcard_conformance.findings import Finding
from upcard_conformance.kit import CASES
from upcard_conformance.reference.broken import BROKEN
from upcard_conformance.reports.words import in_words

CRASH = "nothing_is_lost_in_a_crash"
SLOW = "answers-late"
FOUND = [
    (one.name, dialect, one.caught_by)
    for one in BROKEN.values()
    for dialect in one.dialects
    if one.caught_by != CRASH
]
MORE = {
    "balance_of_nobody": "says-server-error",
    "other_bodys_signature_is_not_done": "ignores-signature",
    "win_in_other_currency": "takes-any-currency",
    "bet_of_several_is_all_or_nothing": "accepts-without-funds",
    "bet_of_nobody": "accepts-strangers",
    "bet_repeated_at_once": "doubles-duplicates-at-once",
    "win_is_paid": "tells-old-balances",
    "win_without_bets": "truncates-amounts",
    "win_changed": "takes-changed-repeats",
    "rollback_of_a_part": "takes-half-of-a-call",
    "rollback_repeated_at_once": "rolls-back-twice",
    "rollback_of_win": "rolls-back-twice",
    "rollback_of_spent_win": "accepts-without-funds",
    "bet_cut_off": "forgets-when-cut-off",
    "rollback_cut_off": "rolls-back-twice",
    "bet_and_rollback_at_once": "takes-undone-bets",
    "whole_round": "refuses-wins-after-close",
}
"""A defect for each case that is not the first to find one."""


async def _found(tmp_path: Path, broken: str, dialect: str, case: str) -> Finding:
    # Waiting is what one of the defects is about; all others answer as soon as this machine lets them.
    timeout_s = 5.0 if broken == SLOW else WITHIN_S
    async with wallet(tmp_path / "book.db", BROKEN[broken]) as running:
        report = await played(running.address_of(dialect), dialect, [case_named(case)], timeout_s=timeout_s)
    (finding,) = report.findings
    assert finding.outcome == "failed", in_words(report, every_exchange=True)
    return finding


@pytest.mark.parametrize(("broken", "dialect", "case"), FOUND)
async def test_a_defect_is_found(tmp_path: Path, broken: str, dialect: str, case: str) -> None:
    finding = await _found(tmp_path, broken, dialect, case)
    assert finding.fault is not None
    assert finding.fault.expected
    assert finding.fault.found


@pytest.mark.parametrize("dialect", BROKEN["loses-on-crash"].dialects)
async def test_a_wallet_that_answers_before_it_writes_is_found(tmp_path: Path, dialect: str) -> None:
    async with program(tmp_path / "book.db", "--broken", "loses-on-crash") as running:
        target = replace(TARGET, restart=running.kill_and_start)
        report = await played(running.addresses[dialect], dialect, [case_named(CRASH)], target=target)
    assert [one.outcome for one in report.findings] == ["failed"]


@pytest.mark.parametrize(("case", "broken"), MORE.items())
async def test_a_case_finds_a_defect(tmp_path: Path, case: str, broken: str) -> None:
    await _found(tmp_path, broken, "plain", case)


def test_no_case_is_without_a_defect_that_it_finds() -> None:
    assert {one.caught_by for one in BROKEN.values()} | MORE.keys() == {one.name for one in CASES}


@pytest.mark.parametrize("broken", BROKEN)
def test_every_defect_is_described(broken: str) -> None:
    assert BROKEN[broken].what.endswith(".")
