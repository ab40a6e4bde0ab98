"""One server process under its guard, as the stack sees it."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import psutil

from stack.deadlines import Deadline, happens
from stack.local.accounts import Account
from stack.local.identity import Identity, remaining

GUARD = Path(__file__).with_name("guard.py")
GUARD_ANSWER_S = 20.0
# How long the guard itself may need beyond the deadline that it gives the server.
GUARD_MARGIN_S = 10.0
# How long the children of a killed server may take to notice.
ORPHANS_S = 1.0


class CannotRunError(Exception):
    """The program cannot be run at all: not there, not for this account, not for this processor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """What to run, and how it wants to be asked to stop."""

    arguments: Sequence[str]
    folder: Path
    log: Path
    stop_signal: signal.Signals
    stop_deadline_s: float
    account: Account | None = None
    environment: Mapping[str, str] = field(default_factory=dict)


class GuardedProcess:
    """A running server. It ends with us, whatever happens to us; see `guard.py`."""

    def __init__(self, guard: _Guard, identity: Identity, command: Command) -> None:
        self.identity = identity
        self._guard = guard
        self._command = command
        self._exit: int | None = None

    @classmethod
    def start(cls, command: Command) -> GuardedProcess:
        """Start it.

        Raises:
            CannotRunError: The program cannot be run; the message says why.
        """
        guard = _Guard.start(command)
        answer = guard.next_line(GUARD_ANSWER_S)
        if "pid" not in answer:
            guard.end()
            raise CannotRunError(answer.get("error", "its guard did not answer"))
        pid = int(str(answer["pid"]))
        # A server that has ended already was started all the same; how it ended comes as the guard's second
        # line.
        return cls(guard, Identity.of(pid) or Identity(pid, "ended"), command)

    @property
    def pid(self) -> int:
        """The server's own pid, not the guard's."""
        return self.identity.pid

    @property
    def running(self) -> bool:
        """Whether it is still there, paused or not."""
        return self.exit_status() is None

    def exit_status(self) -> int | None:
        """How it ended, negative for a signal; None while it runs."""
        if self._exit is None and self._guard.ended:
            self._note_exit()
        return self._exit

    def stop(self) -> int:
        """End it: politely, and by force after its deadline. How it ended."""
        self._guard.release()
        if self._ends(self._command.stop_deadline_s + GUARD_MARGIN_S):
            return self._note_exit()
        return self.kill()

    def kill(self) -> int:
        """SIGKILL, as a machine that loses its power, and wait until nothing of it is left. How it ended."""
        members = self.identity.family()
        _send(members[:1], signal.SIGKILL)
        if not self._ends(GUARD_MARGIN_S):
            self._guard.end()
        # Its children notice by themselves (PostgreSQL's do), but not while they are paused.
        stubborn = remaining(members[1:], ORPHANS_S)
        _send(stubborn, signal.SIGKILL)
        remaining(stubborn, GUARD_MARGIN_S)
        return self._note_exit()

    def pause(self) -> None:
        """SIGSTOP for it and all its children: connected, accepting, and silent."""
        _send(self.identity.family(), signal.SIGSTOP)  # eldest first, so that no child is started unseen

    def resume(self) -> None:
        """SIGCONT for it and all its children."""
        _send(self.identity.family()[::-1], signal.SIGCONT)

    def memory_bytes(self) -> int:
        """Memory of it and its children; what they share is counted once where the system tells (Linux)."""
        total = 0
        for member in self.identity.family():
            with contextlib.suppress(psutil.Error):
                used = member.memory_full_info()
                total += getattr(used, "pss", 0) or used.rss
        return total

    def listens_on(self, port: int) -> bool:
        """Whether it is this process, and not a stranger, that accepts connections at the port."""
        with contextlib.suppress(psutil.Error):
            return any(
                connection.status == psutil.CONN_LISTEN and connection.laddr.port == port
                for member in self.identity.family()
                for connection in member.net_connections("tcp")
            )
        return False

    def _ends(self, within_s: float) -> bool:
        return happens(lambda: self._guard.ended, within_s)

    def _note_exit(self) -> int:
        """The guard has ended: read what it said last, let go of it."""
        if self._exit is None:
            said = self._guard.next_line(0.0)
            # A guard that was killed says nothing; its server got SIGKILL from the system.
            self._exit = int(str(said.get("exit", -signal.SIGKILL)))
            self._guard.end()
        return self._exit


class _Guard:
    """The guard's process, the pipe that holds it, and what it says."""

    def __init__(self, process: subprocess.Popen[bytes], control: int) -> None:
        self._process = process
        self._control: int | None = control
        self._said = b""

    @classmethod
    def start(cls, command: Command) -> _Guard:
        theirs, ours = os.pipe()
        orders = {
            "command": list(command.arguments),
            "folder": str(command.folder),
            "log": str(command.log),
            "uid": command.account.uid if command.account else None,
            "gid": command.account.gid if command.account else None,
            "stop_signal": int(command.stop_signal),
            "stop_deadline_s": command.stop_deadline_s,
            "parent": os.getpid(),
            "control": theirs,
        }
        try:
            with command.log.open("ab") as log:
                process = subprocess.Popen(
                    [sys.executable, "-P", str(GUARD), json.dumps(orders)],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    bufsize=0,
                    pass_fds=(theirs,),
                    env=_environment(command),
                    start_new_session=True,  # Ctrl-C in our terminal is for us alone
                )
        except BaseException:
            os.close(ours)
            raise
        finally:
            os.close(theirs)
        return cls(process, ours)

    @property
    def ended(self) -> bool:
        return self._process.poll() is not None

    def next_line(self, within_s: float) -> dict[str, object]:
        """What it says next; empty when it says nothing in time, or nothing more."""
        deadline, out = Deadline(within_s), self._out.fileno()
        while b"\n" not in self._said:
            readable, _, _ = select.select([out], [], [], deadline.left_s)
            if not readable or not (piece := os.read(out, 4096)):
                return {}
            self._said += piece
        line, _, self._said = self._said.partition(b"\n")
        return dict(json.loads(line))

    def release(self) -> None:
        """Close our end of the pipe: it ends the server, then itself."""
        if self._control is not None:
            os.close(self._control)
            self._control = None

    def end(self) -> None:
        """Let go of it; should it still run, it is killed (and the system kills the server then)."""
        self.release()
        if not self.ended:
            self._process.kill()
        self._process.wait()
        self._out.close()

    @property
    def _out(self) -> IO[bytes]:
        assert self._process.stdout is not None  # noqa: S101 - it was started with a pipe
        return self._process.stdout


def _environment(command: Command) -> dict[str, str]:
    """Ours, without what would make a tool that watches Python programs start in the guard as well."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    return {**ours, **command.environment}


def end_leftover(file: Path, polite: signal.Signals, within_s: float) -> bool:
    """End the server that an earlier run left behind and noted in a file; whether there was one.

    Only that very process is ended (pid and start): a stranger that has got the number since is left alone.
    Its guard is normally at it already, so it is given a moment before it is asked, and asked before it is
    killed.
    """
    identity = Identity.read(file)
    found = identity is not None and identity.alive
    if identity is not None and found:
        members = identity.family()
        if not happens(lambda: not identity.alive, 1.0):
            _send(members, signal.SIGCONT)
            _send(members[:1], polite)
            if not happens(lambda: not identity.alive, within_s):
                _send(identity.family() or members, signal.SIGKILL)
        remaining(members, within_s)
    file.unlink(missing_ok=True)
    return found


def _send(members: list[psutil.Process], number: signal.Signals) -> None:
    for member in members:
        with contextlib.suppress(psutil.NoSuchProcess):
            member.send_signal(number)
