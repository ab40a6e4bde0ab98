"""Passwords: kept as argon2id hashes, worked on beside the event loop, so many at a time."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

__all__ = ["Passwords", "TooManyAtOnce"]

T = TypeVar("T")

_LANES: Final = 1
_WAITING_MAX: Final = 32
_WAIT_S: Final = 5.0


class TooManyAtOnce(Exception):
    """So many passwords wait to be looked at that this one was not."""


class Passwords:
    """Hashes and checks passwords. Each takes the memory and the time that it was told to, on purpose."""

    def __init__(self, *, memory_kib: int, passes: int, at_a_time: int) -> None:
        self._hasher = PasswordHasher(time_cost=passes, memory_cost=memory_kib, parallelism=_LANES)
        self._threads = ThreadPoolExecutor(at_a_time, thread_name_prefix="passwords")
        self._gate = asyncio.Semaphore(at_a_time)
        self._waiting = 0
        self._nobodys: str | None = None

    async def hash(self, password: str) -> str:
        """What is kept of a password. Raises TooManyAtOnce."""
        return await self._apart(lambda: self._hasher.hash(password))

    async def matches(self, kept: str | None, password: str) -> bool:
        """Whether it is the password; with nothing kept it is not, which takes as long.

        Raises TooManyAtOnce.
        """

        def check() -> bool:
            try:
                self._hasher.verify(kept or self._of_nobody(), password)
            except (VerificationError, InvalidHashError):
                return False
            return kept is not None

        return await self._apart(check)

    async def _apart(self, work: Callable[[], T]) -> T:
        if self._waiting >= _WAITING_MAX:
            raise TooManyAtOnce
        self._waiting += 1
        try:
            async with asyncio.timeout(_WAIT_S):
                await self._gate.acquire()
        except TimeoutError:
            raise TooManyAtOnce from None
        finally:
            self._waiting -= 1
        working = asyncio.get_running_loop().run_in_executor(self._threads, work)
        # The thread cannot be stopped: the place is free when it has ended, not when who asked has gone.
        working.add_done_callback(lambda _: self._gate.release())
        return await asyncio.shield(working)

    def _of_nobody(self) -> str:
        """A hash of what nobody knows, made as all are."""
        if self._nobodys is None:
            self._nobodys = self._hasher.hash(secrets.token_hex(16))
        return self._nobodys
