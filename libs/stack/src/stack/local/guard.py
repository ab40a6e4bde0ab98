"""The guard: a small program between the stack and one server, so that the server never outlives the stack.

It is run by its path (never imported by the stack), gets its orders as one JSON argument, and

- starts the server in a process group of its own, as another account where asked, its output appended to the
  log;
- prints one JSON line: `{"pid": …}`, or `{"error": …}` when the program cannot be run;
- ends the server when its control pipe reaches end of file (whoever held the other end has closed it, ended,
  or was killed), when it gets SIGTERM, or when its parent has gone: first politely, after the deadline with
  SIGKILL;
- prints a second line when the server has ended: `{"exit": status}`, negative for a signal.

A pipe is watched, and not only a signal for the parent's death asked for (PR_SET_PDEATHSIG), because the
signal comes when the *thread* that started a process ends, and exists on Linux only. Between guard and server
both ends are ours: there the signal is asked for too, so that the server dies even when the guard itself is
killed.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import signal
import subprocess
import sys
import time
from typing import Any

import psutil

PR_SET_PDEATHSIG = 1
# How often the parent is looked at, should some forked child still hold the pipe open.
PARENT_CHECK_S = 1.0


def die_with_the_guard(guard: int) -> None:
    """Runs in the server's process just before its program: SIGKILL for it when the guard ends (Linux)."""
    if sys.platform != "linux":
        return
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != guard:  # it ended before we asked
        os.kill(os.getpid(), signal.SIGKILL)


def tell(**line: object) -> None:
    """Print one line to whoever started us; nobody may be left to read it."""
    with contextlib.suppress(BrokenPipeError, OSError):
        os.write(1, json.dumps(line).encode() + b"\n")


def start(orders: dict[str, Any]) -> subprocess.Popen[bytes]:
    """Start the server as ordered."""
    guard = os.getpid()
    account: dict[str, Any] = {}
    if orders["uid"] is not None:
        account = {"user": orders["uid"], "group": orders["gid"], "extra_groups": []}
    log = os.open(orders["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        return subprocess.Popen(
            orders["command"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=orders["folder"],
            process_group=0,
            preexec_fn=lambda: die_with_the_guard(guard),  # noqa: PLW1509 - this program has one thread
            **account,
        )
    finally:
        os.close(log)


def family(pid: int) -> list[psutil.Process]:
    """A process and all that descend from it, eldest first; empty when it has ended."""
    try:
        eldest = psutil.Process(pid)
        return [eldest, *eldest.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def end(server: subprocess.Popen[bytes], stop_signal: int, deadline_s: float) -> None:
    """End the server: its own polite signal, then SIGKILL for it and all its children."""
    members = family(server.pid)
    for member in members:  # a paused server cannot hear
        with contextlib.suppress(psutil.Error):
            member.send_signal(signal.SIGCONT)
    server.send_signal(stop_signal)
    with contextlib.suppress(subprocess.TimeoutExpired):
        server.wait(deadline_s)
        return
    members = family(server.pid) or members
    for member in members:
        with contextlib.suppress(psutil.Error):
            member.kill()
    server.wait()


def main(argument: str) -> None:
    """Start the server, watch over it, end it."""
    orders = json.loads(argument)
    parent, control = orders["parent"], orders["control"]
    hear, wake = os.pipe()
    for end_of_pipe in (hear, wake):
        os.set_blocking(end_of_pipe, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    asked_to_stop = False

    def note_stop(_number: int, _frame: object) -> None:
        nonlocal asked_to_stop
        asked_to_stop = True

    signal.signal(signal.SIGTERM, note_stop)
    # Ctrl-C and a closed terminal are the stack's business: it ends us in order. No SIG_IGN: the server would
    # inherit it.
    for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda _number, _frame: None)
    try:
        server = start(orders)
    except (OSError, subprocess.SubprocessError) as error:
        tell(error=str(error))
        return
    tell(pid=server.pid)

    next_look = time.monotonic() + PARENT_CHECK_S
    while server.poll() is None:
        readable, _, _ = select.select([control, hear], [], [], max(0.0, next_look - time.monotonic()))
        if hear in readable:
            with contextlib.suppress(BlockingIOError):
                os.read(hear, 4096)
        released = control in readable and not os.read(control, 4096)
        if time.monotonic() >= next_look:
            next_look = time.monotonic() + PARENT_CHECK_S
            released = released or os.getppid() != parent
        if released or asked_to_stop:
            end(server, orders["stop_signal"], orders["stop_deadline_s"])
    tell(exit=server.returncode)


if __name__ == "__main__":
    main(sys.argv[1])
