"""The report that a partner's programmer reads: what was sent, what came, what is wrong, how to mend it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Final

from upcard_conformance.findings import Exchange, Finding, Outcome, Report

WIDTH: Final = 100
_MARKS: Final[dict[Outcome, str]] = {"passed": "ok  ", "failed": "FAIL", "not_run": "-   "}


def in_words(report: Report, *, every_exchange: bool = False) -> str:
    """The whole report. `every_exchange` shows what was sent in the cases that passed, too."""
    return "\n".join(_lines(report, every_exchange=every_exchange)) + "\n"


def verdict(report: Report) -> str:
    """One sentence."""
    failed, not_run = report.count("failed"), report.count("not_run")
    tail = f", {not_run} not run" if not_run else ""
    if failed:
        return f"{failed} of {len(report.findings)} cases FAILED{tail}."
    passed = report.count("passed")
    return f"{passed} {'case' if passed == 1 else 'cases'} passed{tail}."


def line(finding: Finding) -> str:
    """One case on one line."""
    return f"{_MARKS[finding.outcome]}  {finding.case:<34} {finding.title}"


def _lines(report: Report, *, every_exchange: bool) -> Iterator[str]:
    yield f"Upcard conformance: {printable(report.wallet_url)}"
    yield f"dialect {report.dialect}, player {printable(report.player)}, currency {report.currency}"
    yield ""
    for finding in report.findings:
        yield line(finding)
        if finding.outcome == "not_run":
            yield from _wrapped(finding.reason, 6)
    for finding in report.findings:
        if finding.outcome == "failed" or (every_exchange and finding.exchanges):
            yield ""
            yield from _told(finding)
    yield ""
    for note in report.notes:
        yield from _wrapped(note, 0)
    yield verdict(report)


def _told(finding: Finding) -> Iterator[str]:
    yield f"== {finding.case}: {finding.title}"
    yield f"   rows of the decision table: {', '.join(finding.rows)}"
    for number, exchange in enumerate(finding.exchanges, 1):
        yield from _exchange(number, exchange)
    if finding.fault is not None:
        yield from _labelled("expected", finding.fault.expected)
        yield from _labelled("found", finding.fault.found)
        yield from _labelled("why", finding.why)
        yield from _labelled("to mend", finding.mend)


def _exchange(number: int, exchange: Exchange) -> Iterator[str]:
    status = "no answer" if exchange.status is None else f"HTTP {exchange.status}"
    yield f"   {number}. {exchange.what}"
    yield f"      sent  POST {printable(exchange.address)}"
    yield f"            {printable(exchange.request)}"
    yield f"      came  {status} after {exchange.took_ms} ms: {printable(exchange.answer)}"
    yield f"      read  {printable(exchange.read_as)}"
    if exchange.follows:
        yield f"      then  {exchange.follows}"


def _labelled(label: str, text: str) -> Iterator[str]:
    first, *rest = textwrap.wrap(printable(text), WIDTH - 14) or [""]
    yield f"   {label:<9} {first}"
    for line in rest:
        yield f"   {'':<9} {line}"


def _wrapped(text: str, indent: int) -> Iterator[str]:
    for line in textwrap.wrap(printable(text), WIDTH - indent):
        yield " " * indent + line


def printable(text: str) -> str:
    """What a partner wrote, on one line: nothing of it moves the cursor or changes colours."""
    return "".join(char if char.isprintable() else " " for char in text)
