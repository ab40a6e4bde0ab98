"""Checks that more than one service wants."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable

from servicekit.health.readiness import Check, NotReady, Readiness

Number = int | float


def below(
    name: str,
    measure: Callable[[], Number | Awaitable[Number]],
    bound: Number,
    *,
    what: str,
    within_s: float = 2.0,
) -> Check:
    """Ready while what `measure` gives is at most `bound`: a consumer's lag, a queue's length.

    `what` says what it is, with its unit: `events behind`.
    """

    async def ask() -> None:
        measured = measure()
        value = await measured if inspect.isawaitable(measured) else measured
        if value > bound:
            raise NotReady(f"{value:g} {what}, at most {bound:g} are borne")

    return Check(name, ask, within_s)


def mirror_readiness(
    readiness: Readiness, tell: Callable[[bool], Awaitable[None]], *, every_s: float = 1.0
) -> Callable[[asyncio.Event], Awaitable[None]]:
    """Work for `Service.run`: tell another health service whether we are ready (`set_serving` of gRPC)."""

    async def work(ending: asyncio.Event) -> None:
        while not ending.is_set():
            await tell((await readiness.report()).ready)
            try:
                async with asyncio.timeout(every_s):
                    await ending.wait()
            except TimeoutError:
                continue
        await tell(False)  # noqa: FBT003 - the one thing that it says

    return work
