"""How a service's process begins: `python -m upcard_operate.local.child <starter> <program> <arguments>`.

It asks to be stopped when its starter has gone (Linux): else it would outlive one that was killed, and hold
its ports and memory for ever. The process itself does that, since between fork and exec hardly anything may
be done in a program with threads, such as one that speaks gRPC.
"""

from __future__ import annotations

import ctypes
import os
import runpy
import signal
import sys
from typing import Final

_PR_SET_PDEATHSIG: Final = 1


def end_with(starter: int) -> None:
    """Get SIGTERM when the process that started this one ends; end at once if it has already."""
    if sys.platform != "linux":
        return
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != starter:
        os.kill(os.getpid(), signal.SIGKILL)


def main(arguments: list[str]) -> None:
    """Run the program as `python -m <program> <arguments>` would."""
    starter, program, *more = arguments
    end_with(int(starter))
    sys.argv = [program, *more]
    runpy.run_module(program, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(sys.argv[1:])
