"""Secrets are looked for in everything that a service lets out."""

from __future__ import annotations

import base64
from pathlib import Path
from urllib.parse import quote

import pytest

from servicekit.lifecycle import ExitCode
from tests.servicekit.collector import collector
from tests.servicekit.programs import service

# Awkward on purpose: it looks different in JSON, in an address, and in a traceback.
AWKWARD = 'cor"rect\\horse/bättery'
DSN = f"postgresql://upcard:{quote(AWKWARD, safe='')}@127.0.0.1:1/table"
FORMS = (
    AWKWARD,
    quote(AWKWARD, safe=""),
    quote(AWKWARD),
    repr(AWKWARD)[1:-1],
    ascii(AWKWARD)[1:-1],
    AWKWARD.replace("\\", "\\\\").replace('"', '\\"'),
    base64.b64encode(AWKWARD.encode()).decode().rstrip("="),
    "horse/b",
    "horse%2Fb",
)


@pytest.mark.parametrize("from_file", [False, True])
def test_a_service_that_does_everything_wrong_lets_no_secret_out(tmp_path: Path, *, from_file: bool) -> None:
    file = tmp_path / "word"
    file.write_text(AWKWARD)
    word = {"UPCARD_SAMPLE_PASSWORD_FILE": str(file)} if from_file else {"UPCARD_SAMPLE_PASSWORD": AWKWARD}
    with (
        collector() as traces,
        service(
            {"store": True, "leak": True},
            UPCARD_DSN=DSN,
            UPCARD_KAFKA_BOOTSTRAP="127.0.0.1:1",
            UPCARD_LOG_LEVEL="debug",
            UPCARD_TRACING_ENDPOINT=traces.endpoint,
            UPCARD_TRACING_SAMPLE_RATIO="1",
            PYTHONWARNINGS="default",
            **word,
        ) as program,
    ):
        assert program.code() == ExitCode.FAILED
        # All of it was said ...
        for event in (
            "starting",
            "an address",
            "a thread ended with an exception",
            "the start failed",
        ):
            assert program.lines(event), event
        assert [line for line in program.lines() if line["logger"] == "library"]
        assert [line for line in program.lines() if line["logger"] == "py.warnings"]
        assert program.lines("an exception in the event loop")
        assert "leaking" in {span.name for span in traces.spans}
        # ... and none of it.
        sent = "".join(map(str, traces.requests))
        for form in FORMS:
            for where, text in (("log", program.output), ("errors", program.errors), ("traces", sent)):
                assert form not in text, where


def test_a_service_that_cannot_reach_its_database_lets_no_secret_out() -> None:
    with service(
        {"store": True, "database": 1},
        UPCARD_DSN=DSN,
        UPCARD_KAFKA_BOOTSTRAP="127.0.0.1:1",
        UPCARD_LOG_LEVEL="debug",
    ) as program:
        assert program.code() == ExitCode.NOT_STARTED
        for form in FORMS:
            assert form not in program.output + program.errors
