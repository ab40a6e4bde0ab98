"""One program as a process: started, waited for, stopped in order; what it says goes to a file."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

STOP_S: Final = 40.0
"""Longest that a stop in order may take; then the process is killed."""
_ASK_S: Final = 5.0
_PAUSE_S: Final = 0.05
_LAST_LINES: Final = 15
_CHILD: Final = "upcard_operate.local.child"


class ServiceFailed(Exception):
    """A service did not start, or ended by itself; the message has the last of what it said, and where."""


class Program:
    """`python -m <program> <arguments>` with these settings. Its log is `<folder>/<name>.log`."""

    def __init__(
        self,
        name: str,
        program: str,
        settings: Mapping[str, str],
        folder: Path,
        *,
        arguments: Sequence[str] = (),
    ) -> None:
        self.name = name
        self.log = folder / f"{name}.log"
        self._program = program
        self._arguments = tuple(arguments)
        self._settings = dict(settings)
        self._process: subprocess.Popen[bytes] | None = None
        self._begun_at = 0
        """Where in the log the running process began to write, in bytes."""

    @property
    def pid(self) -> int:
        """The running process. Raises ServiceFailed when there is none."""
        if self._process is None or self._process.poll() is not None:
            raise ServiceFailed(f"{self.name} is not running")
        return self._process.pid

    def start(self) -> None:
        """Begin. Its log is added to."""
        with self.log.open("ab") as log:
            self._begun_at = log.tell()
            self._process = subprocess.Popen(
                [sys.executable, "-m", _CHILD, str(os.getpid()), self._program, *self._arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=self._environment(),
                # An interrupt at the terminal is for whoever runs this, who then stops us in order.
                start_new_session=True,
            )

    def _environment(self) -> dict[str, str]:
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("UPCARD_", "OTEL_"))}
        return {**kept, **self._settings}

    def until_said(self, beginning: str, within_s: float) -> str:
        """Wait until it has written a line that begins so; the line. Raises ServiceFailed."""

        def said() -> list[str]:
            with self.log.open("rb") as log:
                log.seek(self._begun_at)
                text = log.read().decode(errors="replace")
            whole = text[: text.rfind("\n") + 1]
            return [line for line in whole.splitlines() if line.startswith(beginning)]

        self._until(f"it had not said {beginning!r}", within_s, lambda: bool(said()))
        return said()[0]

    def lines(self) -> list[dict[str, Any]]:
        """What it has logged so far, as objects; lines that are none are left out."""
        said = self.log.read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in said if line.startswith("{")]

    def kill(self) -> None:
        """As a power cut: SIGKILL, and wait for the end."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(STOP_S)

    def stop(self) -> int | None:
        """Stop it in order, and kill it if that takes too long; its exit status, None where none ran."""
        if self._process is None:
            return None
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                self.kill()
        return self._process.returncode

    def _until(self, trouble: str, within_s: float, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + within_s
        while not condition():
            ended = self._process is None or self._process.poll() is not None
            if ended or time.monotonic() > deadline:
                why = "it ended" if ended else f"{trouble} after {within_s:.0f} s"
                raise ServiceFailed(f"{self.name}: {why}; {self.log} ends with:\n{self._last_lines()}")
            time.sleep(_PAUSE_S)

    def _last_lines(self) -> str:
        """The last that it said, from the last failure on if that is further back."""
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        failures = [line for line in lines[:-_LAST_LINES] if '"level":"critical"' in line]
        return "\n".join([*failures[-1:], *lines[-_LAST_LINES:]])


class ServiceProcess(Program):
    """A service: a program that tells its health and metrics over HTTP."""

    def __init__(
        self, name: str, program: str, settings: Mapping[str, str], folder: Path, *, metrics_port: int
    ) -> None:
        super().__init__(name, program, settings, folder)
        self._metrics_port = metrics_port

    def until_ready(self, within_s: float) -> None:
        """Wait until it says that it is ready. Raises ServiceFailed."""
        self._until("it was not ready", within_s, lambda: self.ask("/health/ready")[0] == 200)

    def ask(self, path: str) -> tuple[int, str]:
        """Ask its endpoint for health and metrics; status (0: no answer) and body."""
        try:
            address = f"http://127.0.0.1:{self._metrics_port}{path}"
            with urllib.request.urlopen(address, timeout=_ASK_S) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()
        except OSError as error:
            return 0, str(error)

    def metrics(self) -> dict[str, float]:
        """The sums of its metrics by name. Raises ServiceFailed when it does not answer."""
        status, body = self.ask("/metrics")
        if status != 200:
            raise ServiceFailed(f"{self.name} does not tell its metrics: {status} {body[:200]}")
        found: dict[str, float] = {}
        for line in body.splitlines():
            if not line.startswith("#"):
                name = line.partition("{")[0].partition(" ")[0]
                found[name] = found.get(name, 0.0) + float(line.rpartition(" ")[2])
        return found
