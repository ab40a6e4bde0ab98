"""Which process a number means: a pid is given out again, a pid with its start is not."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from stack.deadlines import happens


@dataclass(frozen=True, slots=True)
class Identity:
    """One process of this machine, told from every other one, earlier and later ones too."""

    pid: int
    started: str

    @classmethod
    def of(cls, pid: int) -> Identity | None:
        """The process that has this pid now; None when there is none, or only its remains (a zombie)."""
        with contextlib.suppress(psutil.NoSuchProcess, OSError):
            process = psutil.Process(pid)
            if process.status() != psutil.STATUS_ZOMBIE:
                return cls(pid, _start_of(process))
        return None

    @property
    def alive(self) -> bool:
        """Whether this very process is running."""
        return Identity.of(self.pid) == self

    def process(self) -> psutil.Process | None:
        """A handle on this very process; None when it has ended."""
        with contextlib.suppress(psutil.NoSuchProcess):
            process = psutil.Process(self.pid)
            return process if self.alive else None
        return None

    def kill(self) -> None:
        """SIGKILL for this very process, if it is still there."""
        process = self.process()
        if process is not None:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()

    def family(self) -> list[psutil.Process]:
        """This process and all that descend from it, eldest first; empty when it has ended."""
        process = self.process()
        if process is None:
            return []
        with contextlib.suppress(psutil.NoSuchProcess):
            return [process, *process.children(recursive=True)]
        return []

    def write(self, file: Path) -> None:
        """Keep it in a file, whole or not at all."""
        draft = file.with_suffix(".new")
        draft.write_text(json.dumps(asdict(self)), encoding="utf-8")
        draft.replace(file)

    @classmethod
    def read(cls, file: Path) -> Identity | None:
        """What a file keeps; None when there is no such file or it says nothing that can be understood."""
        try:
            kept = json.loads(file.read_text(encoding="utf-8"))
            return cls(int(kept["pid"]), str(kept["started"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None


def remaining(processes: Sequence[psutil.Process], within_s: float) -> list[psutil.Process]:
    """Which of these processes have not ended in time.

    Remains (zombies) have ended: who takes them away is init's affair, and in a container there may be no
    init.
    """
    happens(lambda: not any(map(_runs, processes)), within_s)
    return [process for process in processes if _runs(process)]


def _runs(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _start_of(process: psutil.Process) -> str:
    """When a process started; where the system has it, in a form that no change of the clock touches."""
    if psutil.LINUX:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        # The name, in brackets, may hold spaces and brackets itself; field 22 is the start, in ticks since
        # boot.
        fields = Path(f"/proc/{process.pid}/stat").read_bytes().rpartition(b")")[2].split()
        return f"{boot}:{int(fields[19])}"
    return f"{process.create_time():.3f}"
