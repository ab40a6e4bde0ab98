"""The command line, called inside this process or run as a program of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

from rules_core.command_line.program import main
from rules_core.command_line.streams import Streams

ROOT = Path(__file__).parents[2]
EXAMPLE = str(ROOT / "docs" / "examples" / "case.json")
PROGRAM = (sys.executable, "-m", "rules_core")


class Called(NamedTuple):
    """How a command ended."""

    status: int
    text: str

    @property
    def value(self) -> Any:
        """The output as JSON."""
        return json.loads(self.text)


def call(*arguments: str, stdin: bytes | None = b"") -> Called:
    """Run a command in this process."""
    output = BytesIO()
    status = main(arguments, Streams(None if stdin is None else BytesIO(stdin), output))
    return Called(status, output.getvalue().decode())


def run(
    *arguments: str, stdin: bytes = b"", environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run the program; it has a minute."""
    return subprocess.run(
        [*PROGRAM, *arguments],
        input=stdin,
        capture_output=True,
        check=False,
        timeout=60,
        env=os.environ | (environment or {}),
    )


def refused(code: str, message: str) -> Called:
    """A command that ends with the command line's own error."""
    error = {"error": {"code": code, "message": message}}
    return Called(2, json.dumps(error, ensure_ascii=False) + "\n")
