"""The report for programs: JSON (docs/conformance.md), and JUnit's XML as build servers read it."""

from __future__ import annotations

import dataclasses
import json
import re
from typing import Final
from xml.etree import ElementTree as ET

from upcard_conformance.findings import Report
from upcard_conformance.reports.words import in_words, verdict

FORM: Final = 1
"""Of the JSON: raised when a field changes its meaning or goes."""

# What XML 1.0 cannot hold, however it is escaped.
_NO_XML: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def as_json(report: Report) -> str:
    """The report as one JSON object."""
    return json.dumps(
        {
            "form": FORM,
            "wallet_url": report.wallet_url,
            "dialect": report.dialect,
            "player": report.player,
            "currency": report.currency,
            "conforms": report.conforms,
            "summary": verdict(report),
            "counts": {one: report.count(one) for one in ("passed", "failed", "not_run")},
            "notes": list(report.notes),
            "cases": [dataclasses.asdict(finding) for finding in report.findings],
        },
        indent=2,
    )


def as_junit(report: Report) -> str:
    """The report as one JUnit test suite; a case that was not run is a skipped test."""
    took_ms = sum(one.took_ms for one in report.findings)
    suite = ET.Element(
        "testsuite",
        {
            "name": f"upcard-conformance.{report.dialect}",
            "tests": str(len(report.findings)),
            "failures": str(report.count("failed")),
            "errors": "0",
            "skipped": str(report.count("not_run")),
            "time": _seconds(took_ms),
        },
    )
    for finding in report.findings:
        case = ET.SubElement(
            suite,
            "testcase",
            {
                "classname": f"upcard-conformance.{report.dialect}",
                "name": finding.case,
                "time": _seconds(finding.took_ms),
            },
        )
        if finding.outcome == "not_run":
            ET.SubElement(case, "skipped", {"message": _kept(finding.reason)})
        elif finding.fault is not None:
            alone = dataclasses.replace(report, findings=(finding,), notes=())
            failure = ET.SubElement(
                case, "failure", {"message": _kept(finding.fault.found), "type": finding.case}
            )
            failure.text = _kept(in_words(alone))
    ET.indent(suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(suite, encoding="unicode") + "\n"


def _seconds(milliseconds: int) -> str:
    return f"{milliseconds // 1000}.{milliseconds % 1000:03}"


def _kept(text: str) -> str:
    return _NO_XML.sub("?", text)
