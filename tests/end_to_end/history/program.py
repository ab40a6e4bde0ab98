"""The history as `__main__` starts it, but killed at the point that the file `KILL_AT` names."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from eventstore import faults
from servicekit.lifecycle import run_service
from upcard_history.bootstrap import main
from upcard_history.settings import HistorySettings

NAMED = Path(os.environ["KILL_AT"])


def die(point: str) -> None:
    """Kill this process, if it is to be killed here."""
    if NAMED.read_text(encoding="utf-8") == point:
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    with faults.arm(die):
        run_service(main, HistorySettings, name="history", version="test")
