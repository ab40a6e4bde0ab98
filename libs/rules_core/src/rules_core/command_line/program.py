"""The program: finds the command, runs it, and ends in good order whatever happens outside."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from io import BufferedWriter, FileIO
from typing import Final

from rules_core.command_line.arguments import HelpAsked, parse_arguments
from rules_core.command_line.failure import FAILURE_STATUS, Failure
from rules_core.command_line.json_text import spaced_line
from rules_core.command_line.streams import Streams

INTERRUPTED_STATUS: Final = 130
"""As a shell reports a program that was ended by Ctrl-C."""
PIPE_CLOSED_STATUS: Final = 141
"""As a shell reports a program whose reader has gone (`| head`)."""

_MODULES: Final = {
    "settle": "settle_command",
    "evaluate": "evaluate_command",
    "rulesets": "rulesets_command",
    "verify": "verify_command",
    "explain": "explain_command",
    "play": "play_command",
    "demo": "demo_command",
}
"""Each command's module, which is imported only when it is asked for: some need little, and start sooner."""


def main(arguments: Sequence[str], streams: Streams) -> int:
    """Run a command and give its exit status; raises what a broken stream raises."""
    try:
        options = parse_arguments(arguments)
        module = import_module(f"rules_core.command_line.{_MODULES[options.command]}")
        status: int = module.run(options, streams)
    except HelpAsked as asked:
        streams.write(asked.text)
        return 0
    except Failure as failure:
        streams.write(spaced_line(failure.to_object()))
        return FAILURE_STATUS
    return status


def run() -> int:
    """Run as a program, on its arguments and standard streams."""
    if sys.stdout is None:
        return _unwritable("it is closed")
    try:
        streams = _standard_streams()
        status = main(sys.argv[1:], streams)
        streams.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED_STATUS
    except BrokenPipeError:
        _forget_stdout()
        return PIPE_CLOSED_STATUS
    except OSError as error:
        _forget_stdout()
        return _unwritable(error.strerror)
    return status


def _unwritable(why: str | None) -> int:
    """Say that nothing can be answered, where there is a standard error to say it on."""
    with suppress(OSError):
        os.write(2, f"standard output cannot be written: {why}\n".encode())
    return FAILURE_STATUS


def _standard_streams() -> Streams:
    """The standard streams as bytes; the writer is ours: Python's may be unbuffered, and write in part."""
    stdin = None if sys.stdin is None else sys.stdin.buffer
    return Streams(stdin, BufferedWriter(FileIO(1, "wb", closefd=False), 1 << 16))


def _forget_stdout() -> None:
    """Let what is still buffered go nowhere: it cannot be written, and would complain at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
