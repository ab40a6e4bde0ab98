"""What all use cases about staff stand on: members as they are now, and how changes are recorded."""

from __future__ import annotations

import datetime as dt
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from eventstore import Appended, Expect, NewEvent, StreamAppend
from eventstore.postgres import Connection, Pool, append_in_transaction
from servicekit.answering import fit_correlation_id
from upcard_gateway.app.recording import Recorder
from upcard_gateway.domain.staff import EVENT_TYPES, Role, StaffEvent, staff_stream

__all__ = ["Noted", "Refused", "Secrets", "StaffLog", "StaffMember", "StaffTables", "appends_of"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class StaffMember:
    """A member of staff as they are now."""

    staff: str
    roles: frozenset[Role]
    added_at: dt.datetime
    enrolled_at: dt.datetime | None = None
    disabled_at: dt.datetime | None = None
    resets: int = 0
    sign_in_name: str | None = field(default=None, repr=False)
    """None: it was erased."""
    name: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Secrets:
    """What a member proves who they are with. Nothing of it is ever printed."""

    password_hash: str = field(repr=False)
    one_time_until: dt.datetime | None
    """The password is for one time, up to then. None: the member chose it."""
    factor: bytes | None = field(default=None, repr=False)
    """The second factor's secret, of 20 bytes."""
    last_step: int = 0


class StaffTables(Protocol):
    """Members in the tables, within a transaction: `adapters.postgres.staff.PostgresStaff`."""

    async def add(self, connection: Connection, member: StaffMember) -> bool:
        """Keep a new member; False: the sign-in name is taken, and nothing was kept."""
        ...

    async def find(self, connection: Connection, staff: str) -> StaffMember | None:
        """A member as they are now."""
        ...

    async def lock(self, connection: Connection, staff: str) -> StaffMember | None:
        """A member whom nobody else changes before the transaction has ended."""
        ...

    async def named(self, connection: Connection, sign_in_name: str) -> StaffMember | None:
        """The member who signs in with this name."""
        ...

    async def page(self, connection: Connection, after: str, limit: int) -> Sequence[StaffMember]:
        """Members behind an id, by their ids, so many at the most."""
        ...

    async def lock_admins(self, connection: Connection) -> frozenset[str]:
        """Admins who can sign in, or if nobody has enrolled yet those who may; nobody else changes one.

        So until the transaction has ended.
        """
        ...

    async def store(self, connection: Connection, member: StaffMember) -> None:
        """Keep what has changed of a member, but for the names."""
        ...

    async def erase_names(self, connection: Connection, staff: str) -> None:
        """Forget the names, secrets, and where sessions were."""
        ...

    async def secrets(self, connection: Connection, staff: str) -> Secrets | None:
        """What a member proves who they are with; None: there is nothing. Raises what a keyring does."""
        ...

    async def keep_secrets(self, connection: Connection, staff: str, secrets: Secrets) -> None:
        """Keep it, in place of what was there; recovery codes are forgotten."""
        ...

    async def use_step(self, connection: Connection, staff: str, step: int) -> bool:
        """Take a time step of the second factor; False: it, or a later one, was taken already."""
        ...

    async def keep_recovery(self, connection: Connection, staff: str, hashes: Sequence[bytes]) -> None:
        """Keep recovery codes, in place of those that were there."""
        ...

    async def use_recovery(self, connection: Connection, staff: str, code_hash: bytes) -> bool:
        """Take a recovery code; False: there is none such."""
        ...

    async def recovery_left(self, connection: Connection, staff: str) -> int:
        """How many recovery codes are left."""
        ...


@dataclass(frozen=True, slots=True)
class Refused:
    """Nothing was done, for this reason, a slug."""

    reason: str


Noted = Sequence[tuple[str, StaffEvent]]
"""Events, each with the stream's member; `unknown` for nobody's."""


class StaffLog:
    """Commits what use cases change together with its events."""

    def __init__(
        self,
        pool: Pool,
        announce: Callable[[Sequence[Appended]], None],
        now: Callable[[], dt.datetime],
    ) -> None:
        """`announce`: told what was appended, once it is committed. `now`: the wall clock, in UTC."""
        self.pool = pool
        self.now = now
        self._announce = announce
        self._recorder = Recorder(EVENT_TYPES, now=now)

    async def commit(self, actor: str, work: Callable[[Connection], Awaitable[tuple[T, Noted]]]) -> T:
        """What `work` gives, once its changes and its events are stored, all of them or none.

        Raises what asyncpg does.
        """
        appended: Sequence[Appended] = ()
        async with self.pool.acquire() as connection, connection.transaction():
            result, noted = await work(connection)
            if noted:
                appended = await append_in_transaction(connection, self.appends(actor, noted))
        if appended:
            self._announce(appended)
        return result

    def appends(self, actor: str, noted: Noted) -> list[StreamAppend]:
        """Events as they are appended."""
        return appends_of(self._recorder, actor, noted)


def appends_of(recorder: Recorder, actor: str, noted: Noted) -> list[StreamAppend]:
    """Events of several members, as they are appended: one `StreamAppend` a stream."""
    by_stream: dict[str, list[NewEvent]] = {}
    for staff, event in noted:
        stream = staff_stream(staff)
        made = recorder.event(stream, event, actor=actor, correlation_id=fit_correlation_id())
        by_stream.setdefault(stream, []).append(made)
    return [StreamAppend(stream, Expect.ANY, events) for stream, events in sorted(by_stream.items())]
