"""Sessions of staff: how one stands, and what ends, locks and unlocks it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from eventstore.postgres import Connection
from upcard_gateway.app.staff import Noted
from upcard_gateway.domain.staff import EndReason, Role, StaffSignedOut

__all__ = ["Door", "NewSession", "SessionLine", "SessionTables", "Standing", "State", "ended"]

State = Literal["live", "locked", "enrolling"]
"""`enrolling`: it was begun with a one-time password, and is good for choosing another one only."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A session that has not ended, and its member as the database has them now."""

    session: str
    staff: str
    name: str = field(repr=False)
    roles: frozenset[Role]
    state: State


@dataclass(frozen=True, slots=True)
class NewSession:
    """A session that begins."""

    session: str
    staff: str
    token_hash: bytes = field(repr=False)
    enrolling: bool
    begun_at: dt.datetime
    ends_by: dt.datetime
    address: str = field(repr=False)
    browser: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class SessionLine:
    """A session as its member sees it in a list."""

    session: str
    state: Literal["live", "locked", "enrolling", "ended"]
    begun_at: dt.datetime
    seen_at: dt.datetime
    ended_at: dt.datetime | None
    end_reason: str | None
    address: str = field(repr=False)
    browser: str = field(repr=False)


class Door(Protocol):
    """Looks sessions up: `adapters.postgres.staff_door.PostgresDoor`."""

    async def standing(self, token: str, *, passive: bool) -> Standing | None:
        """The session that this secret token opens. None: there is none, it has ended, or its time is over.

        Unless it is `passive`, the look is a sign of the member, which keeps the session from locking itself.
        """
        ...


class SessionTables(Protocol):
    """Sessions in their table: `adapters.postgres.staff_sessions.PostgresStaffSessions`."""

    async def begin(self, connection: Connection, session: NewSession) -> None:
        """Keep a new one."""
        ...

    async def open_of(self, connection: Connection, staff: str) -> Sequence[str]:
        """A member's sessions that have not ended, the oldest first."""
        ...

    async def end(
        self, connection: Connection, sessions: Sequence[str], at: dt.datetime, reason: EndReason
    ) -> Sequence[str]:
        """End sessions; those that had not ended before."""
        ...

    async def unlock(self, connection: Connection, session: str, at: dt.datetime) -> bool:
        """Let a locked session go on; False: it was not locked, or has ended."""
        ...

    async def lock(self, connection: Connection, session: str, at: dt.datetime) -> bool:
        """Lock a session; False: it was locked, or has ended."""
        ...

    async def was_at(self, connection: Connection, sign_in_name: str, address: str) -> bool:
        """Whether who has this sign-in name was signed in at this address, as far as that is still kept."""
        ...

    async def lines(self, connection: Connection, staff: str, limit: int) -> Sequence[SessionLine]:
        """A member's latest sessions, the newest first."""
        ...


async def ended(
    tables: SessionTables,
    connection: Connection,
    staff: str,
    sessions: Sequence[str],
    at: dt.datetime,
    reason: EndReason,
) -> Noted:
    """End some of a member's sessions; the events of it."""
    gone = await tables.end(connection, sessions, at, reason)
    return [(staff, StaffSignedOut(staff, session, reason)) for session in gone]
