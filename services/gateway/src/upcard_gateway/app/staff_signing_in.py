"""Signing in, unlocking, enrolling: nobody learns from an answer or its time which names there are."""

from __future__ import annotations

import datetime as dt
import hashlib
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from eventstore.postgres import Connection
from upcard_gateway.app.staff import Noted, Refused, Secrets, StaffLog, StaffMember, StaffTables
from upcard_gateway.app.staff_sessions import NewSession, SessionTables, Standing, ended
from upcard_gateway.domain.staff import (
    EndReason,
    FailReason,
    StaffEnrolled,
    StaffEvent,
    StaffLocked,
    StaffSignedIn,
    StaffSignInFailed,
    StaffUnlocked,
)

__all__ = ["LONGEST_PASSWORD", "Begun", "Entering", "SigningIn", "Wait", "new_session_id", "token_hash"]

LONGEST_PASSWORD: Final = 256
LEAST_PASSWORD: Final = 12
RECOVERY_CODES: Final = 10
_TOKEN_BYTES: Final = 32
_UNKNOWN: Final = "unknown"
_ENROLLING_S: Final = 1_800
_SPACES: Final = re.compile(r"[\s-]+")


@dataclass(frozen=True, slots=True)
class Wait:
    """Too many tries have failed; how many seconds until the next is looked at."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Begun:
    """A session has begun: what its cookie holds, which is kept nowhere."""

    session: str
    token: str = field(repr=False)
    enrolling: bool
    recovery_codes: tuple[str, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class Entering:
    """What somebody gives who wants to sign in, and where they are."""

    sign_in_name: str = field(repr=False)
    password: str = field(repr=False)
    code: str = field(repr=False)
    address: str = field(repr=False)
    browser: str = field(repr=False)


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


class Tries(Protocol):
    """Tries that failed: `adapters.postgres.staff_tries.PostgresTries`."""

    async def begin(self, connection: Connection, whose: Sequence[tuple[str, int]], at: dt.datetime) -> float:
        """Count a try as failed before it is looked at, of each of these names with so many free tries.

        0.0, or for how many seconds no try is looked at; it was not counted then.
        """
        ...

    async def forget(self, connection: Connection, whose: Sequence[str], take_back: Sequence[str]) -> None:
        """A try succeeded: forget those of some names, take one back of others."""
        ...


@dataclass(frozen=True, slots=True)
class Times:
    """How long things last, in seconds."""

    longest_s: int
    sessions_max: int


class SigningIn:
    """The use cases. Every one is committed with its events."""

    def __init__(  # noqa: PLR0913, PLR0917 - what it stands on, each once
        self,
        log: StaffLog,
        tables: StaffTables,
        sessions: SessionTables,
        tries: Tries,
        passwords: Passwords,
        factor: Factor,
        times: Times,
    ) -> None:
        self._log = log
        self._tables = tables
        self._sessions = sessions
        self._tries = tries
        self._passwords = passwords
        self._factor = factor
        self._times = times

    async def sign_in(self, entering: Entering) -> Begun | Wait | Refused:
        """Begin a session. `Refused` says nothing of what was wrong, on purpose."""
        name = entering.sign_in_name.strip().lower()[:64]
        password = entering.password[:LONGEST_PASSWORD]
        whose = _tried(name, entering.address)
        wait_s = await self._begin_try(whose)
        if wait_s:
            return Wait(wait_s)
        async with self._log.pool.acquire() as connection:
            member = await self._tables.named(connection, name)
            kept = None if member is None else await self._tables.secrets(connection, member.staff)
        right = await self._passwords.matches(kept.password_hash if kept else None, password)

        async def work(connection: Connection) -> tuple[Begun | Refused, Noted]:
            if member is None or kept is None or not right:
                return self._failed(_UNKNOWN if member is None else member.staff, "password")
            found = await self._tables.lock(connection, member.staff)
            now_kept = await self._tables.secrets(connection, member.staff)
            if found is None or found.disabled_at is not None:
                return self._failed(member.staff, "disabled")
            if now_kept is None or now_kept.password_hash != kept.password_hash:
                return self._failed(member.staff, "password")  # it was changed meanwhile
            if now_kept.one_time_until is not None:
                if now_kept.one_time_until <= self._log.now():
                    return self._failed(member.staff, "password")
                return await self._begin(connection, found, entering, enrolling=True, with_recovery=False)
            by = await self._second_factor(connection, member.staff, now_kept, entering.code)
            if by is None:
                return self._failed(member.staff, "code")
            await self._tries.forget(connection, [one for one, _ in whose[:2]], [whose[2][0]])
            return await self._begin(
                connection, found, entering, enrolling=False, with_recovery=by == "recovery"
            )

        actor = "system" if member is None else f"staff:{member.staff}"
        return await self._log.commit(actor, work)

    async def unlock(self, standing: Standing, password: str, address: str) -> bool | Wait:
        """Let a locked session go on, with the member's password; False: it is wrong, or has ended."""
        async with self._log.pool.acquire() as connection:
            member = await self._tables.find(connection, standing.staff)
            kept = await self._tables.secrets(connection, standing.staff)
        name = (member.sign_in_name if member else None) or _UNKNOWN
        whose = _tried(name, address)
        wait_s = await self._begin_try(whose)
        if wait_s:
            return Wait(wait_s)
        right = await self._passwords.matches(
            kept.password_hash if kept else None, password[:LONGEST_PASSWORD]
        )

        async def work(connection: Connection) -> tuple[bool, Noted]:
            if not right:
                event = StaffSignInFailed(standing.staff, "password", standing.session)
                return False, [(standing.staff, event)]
            await self._tries.forget(connection, [one for one, _ in whose[:2]], [whose[2][0]])
            if not await self._sessions.unlock(connection, standing.session, self._log.now()):
                return False, ()
            return True, [(standing.staff, StaffUnlocked(standing.staff, standing.session))]

        return await self._log.commit(f"staff:{standing.staff}", work)

    async def lock(self, standing: Standing) -> None:
        """Lock a session because its member wants that."""

        async def work(connection: Connection) -> tuple[None, Noted]:
            if not await self._sessions.lock(connection, standing.session, self._log.now()):
                return None, ()
            return None, [(standing.staff, StaffLocked(standing.staff, standing.session, 0))]

        await self._log.commit(f"staff:{standing.staff}", work)

    async def sign_out(self, staff: str, session: str, *, by_itself: bool = True) -> None:
        """End a session of this member; `by_itself`: it is the one that asks."""

        async def work(connection: Connection) -> tuple[None, Noted]:
            open_of = await self._sessions.open_of(connection, staff)
            reason: EndReason = "signed_out" if by_itself else "ended"
            wanted = [session] if session in open_of else []
            return None, await ended(self._sessions, connection, staff, wanted, self._log.now(), reason)

        await self._log.commit(f"staff:{staff}", work)

    async def shown_factor(self, standing: Standing) -> bytes | None:
        """The second factor's secret that an enrolling member is shown; None: they have enrolled."""

        async def work(connection: Connection) -> tuple[bytes | None, Noted]:
            await self._tables.lock(connection, standing.staff)
            kept = await self._tables.secrets(connection, standing.staff)
            if kept is None or kept.one_time_until is None:
                return None, ()
            if kept.factor is not None:
                return kept.factor, ()
            made = Secrets(kept.password_hash, kept.one_time_until, self._factor.new_secret())
            await self._tables.keep_secrets(connection, standing.staff, made)
            return made.factor, ()

        return await self._log.commit(f"staff:{standing.staff}", work)

    async def enrol(self, standing: Standing, entering: Entering) -> Begun | Refused:
        """Choose a password, with a code of the second factor that was shown; a session begins.

        Raises nothing for what a person does wrong: `Refused` says what. Recovery codes are shown this once.
        """
        wrong = password_wrong(entering.password, standing.name)
        if wrong is not None:
            return Refused(wrong)
        hashed = await self._passwords.hash(entering.password)
        codes = tuple(new_recovery_code() for _ in range(RECOVERY_CODES))

        async def work(connection: Connection) -> tuple[Begun | Refused, Noted]:
            member = await self._tables.lock(connection, standing.staff)
            kept = await self._tables.secrets(connection, standing.staff)
            if member is None or member.disabled_at is not None:
                return Refused("not_enrolling"), ()
            if kept is None or kept.one_time_until is None or kept.factor is None:
                return Refused("not_enrolling"), ()
            now = self._log.now()
            step = self._factor.step_of(kept.factor, _plain(entering.code), now)
            if step is None:
                return Refused("code_wrong"), ()
            await self._tables.keep_secrets(
                connection, member.staff, Secrets(hashed, None, kept.factor, step)
            )
            await self._tables.keep_recovery(connection, member.staff, [code_hash(one) for one in codes])
            await self._tables.store(connection, _enrolled(member, now))
            open_of = await self._sessions.open_of(connection, member.staff)
            over = await ended(self._sessions, connection, member.staff, open_of, now, "replaced")
            begun, noted = await self._begin(
                connection, member, entering, enrolling=False, with_recovery=False
            )
            events: list[tuple[str, StaffEvent]] = [
                *over,
                (member.staff, StaffEnrolled(member.staff)),
                *noted,
            ]
            return Begun(begun.session, begun.token, enrolling=False, recovery_codes=codes), events

        return await self._log.commit(f"staff:{standing.staff}", work)

    async def _begin_try(self, whose: Sequence[tuple[str, int]]) -> float:
        async with self._log.pool.acquire() as connection, connection.transaction():
            return await self._tries.begin(connection, whose, self._log.now())

    async def _second_factor(
        self, connection: Connection, staff: str, kept: Secrets, given: str
    ) -> str | None:
        """What proved it: `code`, `recovery`; None: nothing did."""
        code = _plain(given)
        if kept.factor is not None and len(code) == 6 and code.isdigit():
            step = self._factor.step_of(kept.factor, code, self._log.now())
            if step is not None and await self._tables.use_step(connection, staff, step):
                return "code"
            return None
        if code and await self._tables.use_recovery(connection, staff, code_hash(code)):
            return "recovery"
        return None

    @staticmethod
    def _failed(staff: str, reason: FailReason) -> tuple[Refused, Noted]:
        return Refused("sign_in_wrong"), [(staff, StaffSignInFailed(staff, reason))]

    async def _begin(
        self,
        connection: Connection,
        member: StaffMember,
        entering: Entering,
        *,
        enrolling: bool,
        with_recovery: bool,
    ) -> tuple[Begun, Noted]:
        now = self._log.now()
        open_of = await self._sessions.open_of(connection, member.staff)
        surplus = open_of[: max(0, len(open_of) + 1 - self._times.sessions_max)]
        noted: list[tuple[str, StaffEvent]] = list(
            await ended(self._sessions, connection, member.staff, surplus, now, "replaced")
        )
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        longest_s = _ENROLLING_S if enrolling else self._times.longest_s
        session = NewSession(
            new_session_id(),
            member.staff,
            token_hash(token),
            enrolling,
            now,
            now + dt.timedelta(seconds=longest_s),
            entering.address[:64],
            entering.browser[:200],
        )
        await self._sessions.begin(connection, session)
        if not enrolling:
            noted.append((member.staff, StaffSignedIn(member.staff, session.session, with_recovery)))
        return Begun(session.session, token, enrolling), noted


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


def new_session_id() -> str:
    """A random opaque id."""
    return secrets.token_hex(16)


def new_recovery_code() -> str:
    """A code for whoever has lost the second factor, of 80 random bits: four groups of letters and digits."""
    letters = "abcdefghjkmnpqrstuvwxyz23456789"
    return "-".join("".join(secrets.choice(letters) for _ in range(4)) for _ in range(4))


def token_hash(token: str) -> bytes:
    """What is kept of a session's token. It is random, so one digest is enough."""
    return hashlib.sha256(b"upcard staff session\0" + token.encode()).digest()


def code_hash(code: str) -> bytes:
    """What is kept of a recovery code."""
    return hashlib.sha256(b"upcard staff recovery\0" + _plain(code).encode()).digest()


def _plain(code: str) -> str:
    return _SPACES.sub("", code).lower()[:64]


def _tried(name: str, address: str) -> tuple[tuple[str, int], ...]:
    """By what tries are counted, and how many of each are free of a wait: the first two a success forgets."""
    return ((f"name {name} from {address}", 3), (f"name {name}", 10), (f"address {address}", 20))


def _enrolled(member: StaffMember, at: dt.datetime) -> StaffMember:
    return StaffMember(
        member.staff,
        member.roles,
        member.added_at,
        at,
        member.disabled_at,
        member.resets,
        member.sign_in_name,
        member.name,
    )
