"""Coroutines run to their end from code that is none, whatever event loop may be running around it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


def run_apart(make: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
    """Run a coroutine in an event loop of its own, in a thread of its own, and wait for it.

    Not in this thread: a test runner may have a loop here, running or waiting to be run, and must find it as
    it was.
    """
    results: list[Result] = []
    failures: list[BaseException] = []

    def run() -> None:
        try:
            results.append(asyncio.run(make()))
        except BaseException as failure:  # noqa: BLE001 - handed to the caller's thread, whatever it is
            failures.append(failure)

    thread = threading.Thread(target=run, name="stack", daemon=True)
    thread.start()
    thread.join()
    if failures:
        raise failures[0]
    return results[0]
