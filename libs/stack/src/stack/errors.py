"""What can be wrong with a stack, each with a sentence that says what to do or what to read."""

from __future__ import annotations

from pathlib import Path

LAST_LINES = 25
LAST_BYTES = 16_384


class StackError(Exception):
    """A stack cannot be started or used as asked."""


class LaneUnavailableError(StackError):
    """What a lane needs is not on this machine; the message names it."""


class NotOursError(StackError):
    """The server is not one that this stack started: it cannot be killed, paused or wiped from here."""


class FolderInUseError(StackError):
    """Another stack, or another server, is using the data folder."""


class ServerDidNotStartError(StackError):
    """A server did not start; the message names its log and shows the last lines of it."""

    def __init__(self, name: str, why: str, log: Path, since: int = 0) -> None:
        self.name, self.why, self.log = name, why, log
        super().__init__(
            f"{name} did not start: {why}\nIts log is {log}; the last lines of it:\n{last_lines(log, since)}"
        )


def log_text(log: Path, since: int = 0) -> str:
    """What a log says after a position in bytes; at most its last part."""
    try:
        with log.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(since, size - LAST_BYTES))
            return file.read().decode("utf-8", errors="replace")
    except FileNotFoundError:
        return ""


def last_lines(log: Path, since: int = 0) -> str:
    """The last lines of a log, indented; says so when there are none."""
    lines = log_text(log, since).rstrip().splitlines()[-LAST_LINES:]
    return "\n".join(f"    {line}" for line in lines) or "    (it is empty)"
