"""What a partner, a program and a build server read."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.conformance.world import SECRET, case_named, played, wallet
from upcard_conformance.findings import Exchange, Fault, Finding, Report
from upcard_conformance.reference.broken import BROKEN
from upcard_conformance.reports.data import as_json, as_junit
from upcard_conformance.reports.words import in_words, verdict

EXCHANGE = Exchange(
    "bet of 100",
    "http://127.0.0.1:1/bet",
    '{"total":100}',
    200,
    '{"status":"accepted"}\x1b[31m\x00\n',
    "done",
    12,
    "the holds are held; next: none",
)
PASSED = Finding(
    "a_case", "A title", ("bet/ok",), "passed", "Why.", "Mend.", exchanges=(EXCHANGE,), took_ms=5
)
FAILED = replace(
    PASSED, case="b_case", outcome="failed", fault=Fault("a refusal", "done \x1b\ud800"), took_ms=1_250
)
NOT_RUN = replace(PASSED, case="c_case", outcome="not_run", reason="no player", exchanges=())
REPORT = Report("http://w", "plain", "p1", "EUR", (PASSED, FAILED, NOT_RUN), ("A note.",))


def test_words_show_what_was_sent_what_came_and_how_to_mend_it() -> None:
    text = in_words(REPORT)
    for wanted in (
        "ok    a_case",
        "FAIL  b_case",
        "-     c_case",
        "      no player",
        "rows of the decision table: bet/ok",
        "1. bet of 100",
        "sent  POST http://127.0.0.1:1/bet",
        '{"total":100}',
        'came  HTTP 200 after 12 ms: {"status":"accepted"}',
        "read  done",
        "then  the holds are held; next: none",
        "expected  a refusal",
        "found     done",
        "why       Why.",
        "to mend   Mend.",
        "A note.",
        "1 of 3 cases FAILED, 1 not run.",
    ):
        assert wanted in text
    assert text.count("sent  POST") == 1, "what passed is not told at length"
    assert in_words(REPORT, every_exchange=True).count("sent  POST") == 2


def test_nothing_that_a_wallet_wrote_moves_the_cursor() -> None:
    text = in_words(REPORT, every_exchange=True)
    assert all(char.isprintable() or char == "\n" for char in text)


def test_one_sentence() -> None:
    assert verdict(REPORT) == "1 of 3 cases FAILED, 1 not run."
    assert verdict(replace(REPORT, findings=(PASSED, NOT_RUN))) == "1 case passed, 1 not run."
    assert verdict(replace(REPORT, findings=(PASSED, PASSED))) == "2 cases passed."


def test_json() -> None:
    found = json.loads(as_json(REPORT))
    assert found["form"] == 1
    assert (found["conforms"], found["counts"]) == (False, {"passed": 1, "failed": 1, "not_run": 1})
    assert [one["outcome"] for one in found["cases"]] == ["passed", "failed", "not_run"]
    assert found["cases"][1]["fault"]["expected"] == "a refusal"
    assert found["cases"][0]["exchanges"][0]["status"] == 200
    assert json.loads(as_json(replace(REPORT, findings=(PASSED,))))["conforms"] is True


def test_junit() -> None:
    suite = ET.fromstring(as_junit(REPORT))  # noqa: S314 - the kit itself wrote it
    assert suite.attrib == {
        "name": "upcard-conformance.plain",
        "tests": "3",
        "failures": "1",
        "errors": "0",
        "skipped": "1",
        "time": "1.260",
    }
    passed, failed, not_run = suite
    assert (passed.attrib["name"], len(passed)) == ("a_case", 0)
    assert failed[0].tag == "failure"
    assert "to mend   Mend." in (failed[0].text or "")
    assert (not_run[0].tag, not_run[0].attrib["message"]) == ("skipped", "no player")


@pytest.mark.parametrize("make", [in_words, as_json, as_junit])
async def test_no_report_holds_the_secret(tmp_path: Path, make: object) -> None:
    async with wallet(tmp_path / "book.db", BROKEN["ignores-signature"]) as running:
        cases = [case_named("strangers_signature_is_not_done"), case_named("bet_is_taken")]
        report = await played(running.address_of("plain"), "plain", cases)
    assert not report.conforms
    assert callable(make)
    assert SECRET.decode() not in make(report)
