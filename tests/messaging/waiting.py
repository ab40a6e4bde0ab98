"""Waiting for a condition, with a deadline."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable

DEADLINE_S = 30.0
PAUSE_S = 0.01


async def until(
    condition: Callable[[], object | Awaitable[object]], *, what: str = "", timeout_s: float = DEADLINE_S
) -> None:
    """Ask again and again until it is so. Fails, and says what was waited for, when it is not in time."""
    found: object = None
    try:
        async with asyncio.timeout(timeout_s):
            while True:
                found = condition()
                if inspect.isawaitable(found):
                    found = await found
                if found:
                    return
                await asyncio.sleep(PAUSE_S)
    except TimeoutError:
        raise AssertionError(
            f"not in {timeout_s} s: {what or condition}; the last answer was {found!r}"
        ) from None
