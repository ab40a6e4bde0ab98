"""Keeping it all running for people: where its logs lie, how it is reached, until it is interrupted."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Final

from upcard_operate.local.fleet import Fleet

ENVIRONMENT_FILE: Final = "environment.sh"
_OWNER_ALONE: Final = 0o600


@contextlib.contextmanager
def working_folder() -> Iterator[Path]:
    """A folder for logs, which stays: whoever looks for the reason of something needs it."""
    yield Path(tempfile.mkdtemp(prefix="upcard-"))


def announced(fleet: Fleet, folder: Path) -> None:
    """Print how everything is reached, and wait for an interrupt (Ctrl-C) or a request to end."""
    file = folder / ENVIRONMENT_FILE
    lines = [f"export {name}={shlex.quote(value)}" for name, value in fleet.environment().items()]
    file.touch(mode=_OWNER_ALONE)
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    say = sys.stdout.write
    for service in fleet.processes:
        say(f"  {service:<8} {fleet.address(service)}   log {fleet.processes[service].log}\n")
    if "gateway" in fleet.processes:
        say(f"Platforms call {fleet.platform_url}/v1\n")
    say(f"For the command `upcard` in another terminal:  . {file}\n")
    say("Ctrl-C stops everything.\n")
    sys.stdout.flush()
    _wait_for_the_end()


def _wait_for_the_end() -> None:
    def ended(_: int, __: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, ended)
    with contextlib.suppress(KeyboardInterrupt):
        while True:
            signal.pause()
    signal.signal(signal.SIGTERM, before)
    sys.stdout.write(f"Stopping (process {os.getpid()}) ...\n")
