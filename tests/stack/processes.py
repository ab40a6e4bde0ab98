"""Programs that the tests run beside themselves, and what is left of processes."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from stack.deadlines import happens
from stack.local.identity import Identity

READY_S = 60.0


def identity(pid: int) -> Identity:
    """The process that has this pid now."""
    found = Identity.of(pid)
    assert found is not None, f"no process {pid}"
    return found


def all_end(processes: Sequence[Identity], within_s: float) -> bool:
    """Whether all of them end in time."""
    return happens(lambda: not any(process.alive for process in processes), within_s)


class Program:
    """`python -m stack …`, whose output is read with a deadline."""

    def __init__(self, *arguments: str, environment: dict[str, str] | None = None) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "stack", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **(environment or {})},
            start_new_session=True,
        )
        self.said = ""

    def wait_for(self, text: str) -> str:
        """Read its standard output until a text comes; what it has said so far."""
        assert self.process.stdout is not None
        deadline = time.monotonic() + READY_S
        while text not in self.said:
            readable, _, _ = select.select(
                [self.process.stdout], [], [], max(0.0, deadline - time.monotonic())
            )
            piece = os.read(self.process.stdout.fileno(), 65_536) if readable else b""
            assert piece, f"waited for {text!r}; it said {self.said!r} and {self.complaints()!r}"
            self.said += piece.decode()
        return self.said

    def complaints(self) -> str:
        """What it says on standard error, once it has ended."""
        self.process.kill()
        return self.process.communicate()[1].decode()

    def interrupt(self) -> tuple[int, str]:
        """Ctrl-C; its exit status and what it said on standard error."""
        os.killpg(self.process.pid, signal.SIGINT)
        errors = self.process.communicate(timeout=READY_S)[1].decode()
        return self.process.returncode, errors


@contextlib.contextmanager
def stack_program(*arguments: str, environment: dict[str, str] | None = None) -> Iterator[Program]:
    """A running `python -m stack …`, killed at the end."""
    program = Program(*arguments, environment=environment)
    try:
        yield program
    finally:
        program.process.kill()
        program.process.communicate()


def recorded(folder: Path) -> list[Identity]:
    """The servers that the files in a stack's folder speak of."""
    found = [Identity.read(file) for file in sorted(folder.rglob("process.json"))]
    return [process for process in found if process is not None]
