"""What is made from the code is as the code says."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.wallet.edges.processes import ROOT
from upcard_platform.problems import PROBLEMS


@pytest.mark.parametrize("tool", ["generate_problem_docs", "generate_gateway_event_docs"])
def test_the_page_is_up_to_date(tool: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", f"tools.{tool}", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_problem_can_be_told() -> None:
    for code, kind in PROBLEMS.items():
        assert 400 <= kind.status < 600, code
        assert kind.title
        assert not kind.title.endswith("."), code
        assert kind.advice.endswith("."), code
        # Whoever may send the same again must be safe to: nothing moved, or it is found by its request_id.
        if kind.money == "unknown":
            assert kind.retry == "same_request", code
