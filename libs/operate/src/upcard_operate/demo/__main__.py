"""`python -m upcard_operate.demo`: start everything, play, and say whether everything agrees.

ROUNDS, PLAYERS, SEED in the environment; KEEP=1 leaves it running until it is interrupted.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Iterator
from typing import Final

from stack import Stack, StackError
from upcard_operate.demo.house import DemoFailed
from upcard_operate.demo.installation import installed
from upcard_operate.demo.play import Wanted, elapsed_s, play
from upcard_operate.demo.report import show
from upcard_operate.demo.telling import tell_of
from upcard_operate.local.process import ServiceFailed
from upcard_operate.local.running import announced, working_folder
from upcard_operate.options import SERVICES
from upcard_operate.output import Output

_FAILED: Final = 1
_MISUSED: Final = 2
_MOST: Final = 100_000


def _number(name: str, default: int, least: int) -> int:
    text = os.environ.get(name) or str(default)
    if not text.isdecimal() or not least <= int(text) <= _MOST:
        sys.stderr.write(f"{name} has to be a whole number from {least} to {_MOST}, not {text!r}.\n")
        raise SystemExit(_MISUSED)
    return int(text)


def _sentences(problem: BaseException) -> Iterator[str]:
    if isinstance(problem, BaseExceptionGroup):
        for one in problem.exceptions:
            yield from _sentences(one)
    else:
        yield str(problem)


def main() -> int:
    """Run it; 0 when everything agrees."""
    wanted = Wanted(_number("ROUNDS", 20, 1), _number("PLAYERS", 30, 1), _number("SEED", 1, 0))
    keep = os.environ.get("KEEP", "") not in {"", "0"}
    output, began = Output(as_json=False), time.monotonic()
    try:
        with working_folder() as folder, Stack() as stack:
            output.say(f"PostgreSQL and Kafka run; the services' logs are in {folder}.")
            with installed(stack, folder, wanted.seed) as installation:
                output.say(f"{len(SERVICES)} services are ready after {elapsed_s(began):.0f} s.")
                with output.progress("rounds", wanted.rounds) as bar:
                    played = asyncio.run(play(installation, wanted, bar))
                show(played.report)
                output.say(f"It took {elapsed_s(began):.0f} s in all.")
                if keep:
                    tell_of(played.sign_ins, played.links, installation.fleet.platform_url, output)
                    announced(installation.fleet, folder)
                return 0 if played.report.agreed else _FAILED
    except (DemoFailed, ServiceFailed, StackError) as problem:
        sys.stderr.write(f"{problem}\n")
    except ExceptionGroup as problems:  # of tables that were played at the same time
        expected, defects = problems.split((DemoFailed, ServiceFailed))
        if defects is not None or expected is None:
            raise
        for sentence in _sentences(expected):
            sys.stderr.write(f"{sentence}\n")
    return _FAILED


if __name__ == "__main__":
    raise SystemExit(main())
