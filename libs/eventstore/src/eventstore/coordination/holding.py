"""Holding a lease for as long as something runs: waiting for it, renewing it, noticing that it is lost."""

import asyncio
import contextlib
import random
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any, Final, TypeVar
from uuid import uuid4

from eventstore.coordination.leases import Lease, LeaseLost, acquire, check_lease_terms, release, renew
from eventstore.coordination.outages import PASSING, bounded_call
from eventstore.postgres.connections import Pool

T = TypeVar("T")

RENEWALS = 3
"""A lease is renewed so often in its time: two renewals may fail before it is lost."""

SAFETY = 0.1
"""Part of its time by which a holder counts a lease as over before the database does.

Clocks run apart, and something may have been begun in the last moment.
"""

_LONGEST_PAUSE_S: Final = 1.0
_LONGEST_CALL_S: Final = 5.0
_CANCEL_AGAIN_S: Final = 1.0
"""How long work has to end after it was cancelled before it is cancelled again."""
_RELEASE_S: Final = 2.0


def steady_s() -> float:
    """Seconds by a clock that nobody can set; one that counts on while the machine sleeps, if it can."""
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic()


class HeldLease:
    """A lease that is being renewed in the background.

    `lost` is set as soon as it may be someone else's, and stays set: who held it begins anew.
    """

    def __init__(self, lease: Lease, good_until_s: float, clock_s: Callable[[], float]) -> None:
        self.lease = lease
        self.lost = asyncio.Event()
        self._good_until_s = good_until_s
        self._clock_s = clock_s

    def __repr__(self) -> str:
        return f"HeldLease({self.lease.name!r}, token={self.token}, lost={self.lost.is_set()})"

    @property
    def token(self) -> int:
        """The fencing token: what is written in this lease's name is compared with it."""
        return self.lease.token

    @property
    def left_s(self) -> float:
        """Seconds for which nobody else can hold it; 0 when it is lost."""
        return 0.0 if self.lost.is_set() else max(0.0, self._good_until_s - self._clock_s())

    def still_held(self) -> bool:
        """Whether nobody else can hold it at this moment, as far as this machine can know.

        Cautious, but no proof: the process may be stopped right after it. What must not happen twice is
        compared with the token, where it is stored.
        """
        return self.left_s > 0

    def prolonged(self, sent_s: float) -> None:
        """It was renewed by a call that was sent at this time."""
        self._good_until_s = _good_until_s(self.lease, sent_s)


def _good_until_s(lease: Lease, sent_s: float) -> float:
    # Counted from before the call was sent: the database counted from a later moment.
    return sent_s + lease.ttl_s * (1 - SAFETY)


@contextlib.asynccontextmanager
async def hold_lease(
    pool: Pool,
    name: str,
    *,
    holder: str,
    ttl_s: float = 10.0,
    wait_s: float | None = None,
    clock_s: Callable[[], float] = steady_s,
) -> AsyncIterator[HeldLease]:
    """Wait for the lease, then hold it for as long as the context lasts; it is given back at the end.

    `ttl_s`: after the death of a holder another one takes over within this time and a second. `wait_s`: None
    waits for ever, 0 tries once. A database that is away meanwhile is waited for too. Raises TimeoutError
    when it was not to be had in time, and what the database says of a mistake.

    The renewals take a connection of the pool for a moment. Where the pool may be full for long, give leases
    one of their own. The body has to look at `lost` by itself, or to be run by `run_while_held`.
    """
    check_lease_terms(name, holder, ttl_s)
    held = await _wait_for(pool, name, holder, ttl_s, wait_s, clock_s)
    keeper = asyncio.create_task(_keep(pool, held, clock_s), name=f"lease {name}")
    try:
        yield held
    finally:
        keeper.cancel()
        await asyncio.wait([keeper])
        held.lost.set()
        # If it cannot be given back it runs out by itself.
        with contextlib.suppress(*PASSING):
            await bounded_call(pool, _RELEASE_S, lambda connection: release(connection, held.lease))
        if not keeper.cancelled() and (error := keeper.exception()) is not None:
            raise error


async def run_while_held(held: HeldLease, work: Coroutine[Any, Any, T]) -> T:
    """Run something under a lease; when the lease is lost it is cancelled, and LeaseLost raised."""
    if held.lost.is_set():
        work.close()
        raise LeaseLost(f"lease {held.lease.name}: it was lost before this began")
    task = asyncio.ensure_future(work)
    lost = asyncio.ensure_future(held.lost.wait())
    try:
        await asyncio.wait([task, lost], return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise LeaseLost(f"lease {held.lease.name}: it was lost, and what ran under it was stopped")
    finally:
        lost.cancel()
        # Again and again: an error on the way out (a connection that fails while it is given back) takes the
        # place of a cancellation, and work that bears such errors would go on without the lease for ever.
        while not task.done():
            task.cancel()
            await asyncio.wait([task], timeout=_CANCEL_AGAIN_S)
        if not task.cancelled():
            task.exception()  # seen: the loss of the lease goes before it


async def _wait_for(
    pool: Pool,
    name: str,
    holder: str,
    ttl_s: float,
    wait_s: float | None,
    clock_s: Callable[[], float],
) -> HeldLease:
    claim = uuid4()
    pause_s = min(ttl_s / 5, _LONGEST_PAUSE_S)
    give_up_s = None if wait_s is None else time.monotonic() + wait_s
    while True:
        sent_s = clock_s()
        trouble: Exception | None = None
        try:
            lease = await bounded_call(
                pool,
                min(ttl_s, _LONGEST_CALL_S),
                lambda connection: acquire(connection, name, holder=holder, ttl_s=ttl_s, claim=claim),
            )
        except PASSING as error:
            lease, trouble = None, error
        # An answer that took most of the lease's time is none: the same claim asks again.
        if lease is not None and clock_s() < (good_until_s := _good_until_s(lease, sent_s)):
            return HeldLease(lease, good_until_s, clock_s)
        rest_s = pause_s if give_up_s is None else give_up_s - time.monotonic()
        if rest_s <= 0:
            raise TimeoutError(f"lease {name}: not to be had within {wait_s} s") from trouble
        await asyncio.sleep(min(rest_s, pause_s * random.uniform(0.5, 1.0)))  # noqa: S311 - spreads those who wait


async def _keep(pool: Pool, held: HeldLease, clock_s: Callable[[], float]) -> None:
    """Renew until it is lost. Also returns, or fails, only when it is."""
    ttl_s = held.lease.ttl_s
    call_s = min(ttl_s / 6, _LONGEST_CALL_S)
    pause_s = ttl_s / RENEWALS
    try:
        while True:
            await asyncio.sleep(min(pause_s, held.left_s))
            if not held.still_held():
                return  # this process or this machine stood still for too long
            sent_s = clock_s()
            try:
                if not await bounded_call(
                    pool, min(call_s, held.left_s), lambda connection: renew(connection, held.lease)
                ):
                    return
            except PASSING:
                pause_s = min(ttl_s / 12, _LONGEST_PAUSE_S)
            else:
                held.prolonged(sent_s)
                pause_s = ttl_s / RENEWALS
    finally:
        held.lost.set()
