"""What people prove who they are with: passwords, second factors, recovery codes; and tries that failed."""

from __future__ import annotations

import datetime as dt
import hashlib
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from eventstore.postgres import Connection

__all__ = [
    "LEAST_PASSWORD",
    "LONGEST_PASSWORD",
    "Checks",
    "Factor",
    "Passwords",
    "Tried",
    "Tries",
    "code_hash",
    "new_recovery_code",
    "password_wrong",
    "plain",
]

LONGEST_PASSWORD: Final = 256
LEAST_PASSWORD: Final = 12
_SPACES: Final = re.compile(r"[\s-]+")


class Passwords(Protocol):
    """`adapters.passwords.Passwords`."""

    async def hash(self, password: str) -> str:
        """What is kept of a password."""
        ...

    async def matches(self, kept: str | None, password: str) -> bool:
        """Whether it is the password; with nothing kept it is not, and takes as long."""
        ...


class Factor(Protocol):
    """The second factor: `adapters.second_factor.Totp`."""

    def step_of(self, secret: bytes, code: str, at: dt.datetime) -> int | None:
        """The time step, around this moment, that a code is of; None: it is of none."""
        ...

    def new_secret(self) -> bytes:
        """A secret that nobody has."""
        ...


@dataclass(frozen=True, slots=True)
class Tried:
    """By what a try is counted."""

    whose: str = field(repr=False)
    free: int
    """So many failures make nobody wait."""
    forgets_s: float | None = None
    """One failure is forgotten each time that so many seconds have passed; None: all, after a day without."""


class Tries(Protocol):
    """Tries that failed: `adapters.postgres.staff_tries.PostgresTries`."""

    async def begin(self, connection: Connection, whose: Sequence[Tried], at: dt.datetime) -> float:
        """Count a try as failed before it is looked at, of each of these.

        0.0, or for how many seconds no try is looked at; it was not counted then.
        """
        ...

    async def forget(self, connection: Connection, whose: Sequence[str], take_back: Sequence[str]) -> None:
        """A try succeeded: forget those of some names, take one back of others."""
        ...


@dataclass(frozen=True, slots=True)
class Checks:
    """What looks passwords up: two, so that no crowd at the sign-in keeps locked sessions from going on."""

    signing_in: Passwords
    unlocking: Passwords


def password_wrong(password: str, name: str) -> str | None:
    """Why a new password cannot be one, a slug; None: it can."""
    if len(password) < LEAST_PASSWORD:
        return "password_short"
    if len(password) > LONGEST_PASSWORD:
        return "password_long"
    lowered = password.lower()
    if len(set(lowered)) < 5 or (len(name) > 3 and name.lower() in lowered):
        return "password_weak"
    return None


def new_recovery_code() -> str:
    """A code for whoever has lost the second factor, of 80 random bits: four groups of letters and digits."""
    letters = "abcdefghjkmnpqrstuvwxyz23456789"
    return "-".join("".join(secrets.choice(letters) for _ in range(4)) for _ in range(4))


def code_hash(code: str) -> bytes:
    """What is kept of a recovery code."""
    return hashlib.sha256(b"upcard staff recovery\0" + plain(code).encode()).digest()


def plain(code: str) -> str:
    """A code as it is compared: without white space and hyphens, in small letters, cut."""
    return _SPACES.sub("", code).lower()[:64]
