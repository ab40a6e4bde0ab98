"""Signing in, unlocking, enrolling: nobody learns from an answer or its time which names there are."""

from __future__ import annotations

import datetime as dt
import hashlib
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from eventstore.postgres import Connection
from upcard_gateway.app.staff import Noted, Refused, Secrets, StaffLog, StaffMember, StaffTables
from upcard_gateway.app.staff_proofs import (
    LONGEST_PASSWORD,
    Checks,
    Factor,
    Tried,
    Tries,
    code_hash,
    new_recovery_code,
    password_wrong,
    plain,
)
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

__all__ = ["Begun", "Entering", "SigningIn", "Times", "Wait", "new_session_id", "token_hash"]

RECOVERY_CODES: Final = 10
_TOKEN_BYTES: Final = 32
_UNKNOWN: Final = "unknown"
_UNKNOWN_EVERY: Final = dt.timedelta(minutes=1)
"""The least time between two events of names that nobody has; those between are counted alone."""
_ENROLLING_S: Final = 1_800


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
    place: str = field(repr=False)
    """What is counted as one address."""
    browser: str = field(repr=False)


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
        passwords: Checks,
        factor: Factor,
        times: Times,
        unknown: Callable[[], None] = lambda: None,
    ) -> None:
        """`unknown`: told of each sign-in that failed for a name that nobody has."""
        self._log = log
        self._tables = tables
        self._sessions = sessions
        self._tries = tries
        self._passwords = passwords.signing_in
        self._unlocking = passwords.unlocking
        self._factor = factor
        self._times = times
        self._unknown = unknown
        self._unknown_told: dt.datetime | None = None

    async def sign_in(self, entering: Entering) -> Begun | Wait | Refused:
        """Begin a session. `Refused` says nothing of what was wrong, on purpose."""
        name = entering.sign_in_name.strip().lower()[:64]
        password = entering.password[:LONGEST_PASSWORD]
        whose = _tried(name, entering.place)
        async with self._log.pool.acquire() as connection:
            known = await self._sessions.was_at(connection, name, entering.address)
        # Where the member has been before, tries of the whole world at the name make nobody wait.
        wait_s = await self._begin_try((whose[0], whose[2]) if known else whose)
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
                return await self._begin_enrolling(connection, found, now_kept, entering)
            by = await self._second_factor(connection, member.staff, now_kept, entering.code)
            if by is None:
                return self._failed(member.staff, "code")
            await self._tries.forget(connection, [one.whose for one in whose[:2]], [whose[2].whose])
            return await self._begin(
                connection, found, entering, enrolling=False, with_recovery=by == "recovery"
            )

        actor = "system" if member is None else f"staff:{member.staff}"
        return await self._log.commit(actor, work)

    async def unlock(self, standing: Standing, password: str) -> bool | Wait:
        """Let a locked session go on, with the member's password; False: it is wrong, or has ended.

        Tries are counted by session alone: nobody without its cookie can make it wait.
        """
        async with self._log.pool.acquire() as connection:
            kept = await self._tables.secrets(connection, standing.staff)
        whose = Tried(f"session {standing.session}", 5)
        wait_s = await self._begin_try([whose])
        if wait_s:
            return Wait(wait_s)
        right = await self._unlocking.matches(
            kept.password_hash if kept else None, password[:LONGEST_PASSWORD]
        )

        async def work(connection: Connection) -> tuple[bool, Noted]:
            if not right:
                event = StaffSignInFailed(standing.staff, "password", standing.session)
                return False, [(standing.staff, event)]
            await self._tries.forget(connection, [whose.whose], [])
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
        """The second factor's secret that this enrolling session is shown, and no other ever was.

        None: it has ended, or the member has enrolled.
        """

        async def work(connection: Connection) -> tuple[bytes | None, Noted]:
            await self._tables.lock(connection, standing.staff)
            if standing.session not in await self._sessions.open_of(connection, standing.staff):
                return None, ()
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
            open_of = await self._sessions.open_of(connection, member.staff)
            if standing.session not in open_of:
                return Refused("not_enrolling"), ()  # a later one has another secret to be shown
            now = self._log.now()
            step = self._factor.step_of(kept.factor, plain(entering.code), now)
            if step is None:
                return Refused("code_wrong"), ()
            await self._tables.keep_secrets(
                connection, member.staff, Secrets(hashed, None, kept.factor, step)
            )
            await self._tables.keep_recovery(connection, member.staff, [code_hash(one) for one in codes])
            await self._tables.store(connection, _enrolled(member, now))
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

    async def _begin_try(self, whose: Sequence[Tried]) -> float:
        async with self._log.pool.acquire() as connection, connection.transaction():
            return await self._tries.begin(connection, whose, self._log.now())

    async def _second_factor(
        self, connection: Connection, staff: str, kept: Secrets, given: str
    ) -> str | None:
        """What proved it: `code`, `recovery`; None: nothing did."""
        code = plain(given)
        if kept.factor is not None and len(code) == 6 and code.isdigit():
            step = self._factor.step_of(kept.factor, code, self._log.now())
            if step is not None and await self._tables.use_step(connection, staff, step):
                return "code"
            return None
        if code and await self._tables.use_recovery(connection, staff, code_hash(code)):
            return "recovery"
        return None

    def _failed(self, staff: str, reason: FailReason) -> tuple[Refused, Noted]:
        refused = Refused("sign_in_wrong")
        if staff == _UNKNOWN:
            self._unknown()
            now = self._log.now()
            if self._unknown_told is not None and now - self._unknown_told < _UNKNOWN_EVERY:
                return refused, ()  # anybody can make as many as they like: the log has to bear them for good
            self._unknown_told = now
        return refused, [(staff, StaffSignInFailed(staff, reason))]

    async def _begin_enrolling(
        self, connection: Connection, member: StaffMember, kept: Secrets, entering: Entering
    ) -> tuple[Begun, Noted]:
        """A session that may enrol: the only one, with a second factor that nobody was shown before."""
        open_of = await self._sessions.open_of(connection, member.staff)
        over = await ended(self._sessions, connection, member.staff, open_of, self._log.now(), "replaced")
        if kept.factor is not None:
            fresh = Secrets(kept.password_hash, kept.one_time_until)
            await self._tables.keep_secrets(connection, member.staff, fresh)
        begun, noted = await self._begin(connection, member, entering, enrolling=True, with_recovery=False)
        return begun, [*over, *noted]

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


def new_session_id() -> str:
    """A random opaque id."""
    return secrets.token_hex(16)


def token_hash(token: str) -> bytes:
    """What is kept of a session's token. It is random, so one digest is enough."""
    return hashlib.sha256(b"upcard staff session\0" + token.encode()).digest()


def _tried(name: str, place: str) -> tuple[Tried, Tried, Tried]:
    """By what tries are counted; the first two a success forgets.

    A studio has one address for all: what fails there is forgotten bit by bit.
    """
    return (
        Tried(f"name {name} from {place}", 3),
        Tried(f"name {name}", 10),
        Tried(f"address {place}", 20, forgets_s=60.0),
    )


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
