"""Services that the tests run as programs of their own."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
DEADLINE_S = 60.0
SLEEP_S = 0.02


class Program:
    """A running service, and what it has said so far."""

    def __init__(self, plan: dict[str, Any], settings: dict[str, str], folder: Path) -> None:
        self._out = folder / "out"
        self._errors = folder / "errors"
        with self._out.open("wb") as out, self._errors.open("wb") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-X", "dev", "-m", "tests.servicekit.sample_service"],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=errors,
                cwd=ROOT,
                env={**clean_environment(), "SAMPLE": json.dumps(plan), **settings},
            )

    @property
    def output(self) -> str:
        """All of its standard output so far."""
        return self._out.read_text(encoding="utf-8")

    @property
    def errors(self) -> str:
        """All of its standard error so far."""
        return self._errors.read_text(encoding="utf-8")

    def lines(self, event: str | None = None, **fields: Any) -> list[dict[str, Any]]:
        """The lines of its log with this event and these fields."""
        whole = self.output.rpartition("\n")[0].splitlines()
        return [
            line
            for line in map(json.loads, whole)
            if (event is None or line["event"] == event)
            and all(line.get(name) == value for name, value in fields.items())
        ]

    def until(self, event: str, **fields: Any) -> dict[str, Any]:
        """Wait until it logs this; the line."""
        deadline = time.monotonic() + DEADLINE_S
        while True:
            ended = self.process.poll() is not None
            if found := self.lines(event, **fields):
                return found[0]
            if ended or time.monotonic() > deadline:
                raise AssertionError(f"waited for {event!r} {fields}; it said:\n{self.output}\n{self.errors}")
            time.sleep(SLEEP_S)

    def signal(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Send it a signal."""
        self.process.send_signal(number)

    def code(self) -> int:
        """Wait for its end; the exit status."""
        return self.process.wait(DEADLINE_S)

    def ask(self, path: str) -> tuple[int, str]:
        """Ask its endpoint; status and body."""
        port = self.until("starting")["metrics_port"]
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=DEADLINE_S) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def until_ready(self, *, ready: bool) -> dict[str, Any]:
        """Wait until it is ready, or not; what it says of itself."""
        deadline = time.monotonic() + DEADLINE_S
        while True:
            status, body = self.ask("/health/ready")
            if (status == 200) is ready:
                said: dict[str, Any] = json.loads(body)
                return said
            assert time.monotonic() < deadline, body
            time.sleep(SLEEP_S)

    def stages(self, event: str) -> list[str]:
        """The stages that it logged this of, in order."""
        return [line["stage"] for line in self.lines(event)]


def clean_environment() -> dict[str, str]:
    """This environment without any settings of a service."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("UPCARD_", "OTEL_"))}


@contextlib.contextmanager
def service(plan: dict[str, Any], **settings: str) -> Iterator[Program]:
    """A running sample service, killed at the end."""
    with tempfile.TemporaryDirectory() as folder:
        program = Program(plan, settings, Path(folder))
        try:
            yield program
        finally:
            program.process.kill()
            program.process.wait()
