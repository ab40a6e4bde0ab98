"""Administering staff: adding, roles, reset, disabling, erasing; each an event with who did it and why."""

from __future__ import annotations

import base64
import datetime as dt
import hashlib
import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from eventstore.postgres import Connection
from upcard_gateway.app.staff import Noted, Refused, Secrets, StaffMember, StaffTables
from upcard_gateway.app.staff_proofs import Passwords
from upcard_gateway.app.staff_sessions import SessionTables, ended
from upcard_gateway.domain.staff import (
    EndReason,
    Role,
    StaffAdded,
    StaffDisabled,
    StaffEnabled,
    StaffErased,
    StaffEvent,
    StaffReset,
    StaffRolesChanged,
    is_sign_in_name,
)

__all__ = ["LONGEST_NAME", "Done", "NewStaff", "StaffAdministration", "new_staff_id", "staff_id_of"]

LONGEST_NAME: Final = 80
_GROUPS: Final = 4
_LETTERS: Final = 5


@dataclass(frozen=True, slots=True)
class NewStaff:
    """Somebody who is to be a member of staff. Raises ValueError for what cannot be."""

    staff: str
    sign_in_name: str = field(repr=False)
    name: str = field(repr=False)
    roles: frozenset[Role]

    def __post_init__(self) -> None:
        if not is_sign_in_name(self.sign_in_name):
            raise ValueError("sign_in_name has 1 to 64 small letters, digits, and . _ - between them")
        if not 0 < len(self.name) <= LONGEST_NAME or not self.name.isprintable():
            raise ValueError(f"name has 1 to {LONGEST_NAME} printable characters")


@dataclass(frozen=True, slots=True)
class Done:
    """The member after it, and the events of it."""

    member: StaffMember
    noted: Noted


class StaffAdministration:
    """The use cases, each in a transaction of the caller's."""

    def __init__(
        self,
        tables: StaffTables,
        sessions: SessionTables,
        passwords: Passwords,
        now: Callable[[], dt.datetime],
        one_time_key: bytes,
        one_time_s: int,
    ) -> None:
        """`one_time_key`: what one-time passwords follow from, so that a repeated call has the same one."""
        self.tables = tables
        self._sessions = sessions
        self._passwords = passwords
        self._now = now
        self._key = one_time_key
        self._one_time_s = one_time_s

    async def add(self, connection: Connection, new: NewStaff, reason: str) -> Done | Refused:
        """Add a member, who signs in with `one_time_password`. Raises what `Passwords.hash` does."""
        now = self._now()
        member = StaffMember(new.staff, new.roles, now, sign_in_name=new.sign_in_name, name=new.name)
        if await self.tables.named(connection, new.sign_in_name) is not None:
            return Refused("sign_in_name_taken")
        if await self.tables.find(connection, new.staff) is not None:
            return Refused("staff_exists")
        if not await self.tables.add(connection, member):
            return Refused("sign_in_name_taken")
        await self._one_time(connection, member)
        return Done(member, [(new.staff, StaffAdded(new.staff, _sorted(new.roles), reason))])

    async def change_roles(
        self, connection: Connection, staff: str, roles: frozenset[Role], reason: str, *, by: str
    ) -> Done | Refused:
        """Give a member other roles, all of them anew; without an event where they are what they were."""
        admins = await self.tables.lock_admins(connection)
        member = await self.tables.lock(connection, staff)
        if member is None:
            return Refused("staff_unknown")
        if member.roles == roles:
            return Done(member, ())
        if "admin" in member.roles and "admin" not in roles:
            if staff == by:
                return Refused("not_yourself")
            if admins <= {staff}:
                return Refused("last_admin")
        after = replace(member, roles=roles)
        await self.tables.store(connection, after)
        event = StaffRolesChanged(staff, _sorted(member.roles), _sorted(roles), reason)
        return Done(after, [(staff, event)])

    async def reset(self, connection: Connection, staff: str, reason: str) -> Done | Refused:
        """Void what a member proves who they are with; a new one-time password lets them enrol again."""
        member = await self.tables.lock(connection, staff)
        if member is None or member.sign_in_name is None:
            return Refused("staff_unknown")
        if member.disabled_at is not None:
            return Refused("staff_disabled")
        after = replace(member, enrolled_at=None, resets=member.resets + 1)
        await self.tables.store(connection, after)
        await self._one_time(connection, after)
        over = await self._all_end(connection, staff, "reset")
        return Done(after, [(staff, StaffReset(staff, reason)), *over])

    async def disable(self, connection: Connection, staff: str, reason: str, *, by: str) -> Done | Refused:
        """Let a member in no more; all sessions end at once."""
        admins = await self.tables.lock_admins(connection)
        member = await self.tables.lock(connection, staff)
        if member is None:
            return Refused("staff_unknown")
        if member.disabled_at is not None:
            return Done(member, ())
        if staff == by:
            return Refused("not_yourself")
        if "admin" in member.roles and admins <= {staff}:
            return Refused("last_admin")
        after = replace(member, disabled_at=self._now())
        await self.tables.store(connection, after)
        over = await self._all_end(connection, staff, "disabled")
        return Done(after, [(staff, StaffDisabled(staff, reason)), *over])

    async def enable(self, connection: Connection, staff: str, reason: str) -> Done | Refused:
        """Let a disabled member in again, with the password and the second factor of before."""
        member = await self.tables.lock(connection, staff)
        if member is None or member.sign_in_name is None:
            return Refused("staff_unknown")
        if member.disabled_at is None:
            return Done(member, ())
        after = replace(member, disabled_at=None)
        await self.tables.store(connection, after)
        return Done(after, [(staff, StaffEnabled(staff, reason))])

    async def erase(self, connection: Connection, staff: str, reason: str) -> Done | Refused:
        """Forget a disabled member's names; what they did stays, under the opaque id."""
        member = await self.tables.lock(connection, staff)
        if member is None:
            return Refused("staff_unknown")
        if member.disabled_at is None:
            return Refused("not_disabled")
        if member.sign_in_name is None:
            return Done(member, ())
        await self.tables.erase_names(connection, staff)
        after = replace(member, sign_in_name=None, name=None)
        return Done(after, [(staff, StaffErased(staff, reason))])

    async def end_sessions(self, connection: Connection, staff: str) -> Noted:
        """End all sessions of a member, who may sign in again."""
        return await self._all_end(connection, staff, "ended")

    def one_time_password(self, member: StaffMember) -> str:
        """What a member who was just added or reset signs in with, once."""
        place = f"upcard: one-time password\0{member.staff}\0{member.resets}"
        digest = hmac.digest(self._key, place.encode(), hashlib.sha256)
        text = base64.b32encode(digest).decode().lower()
        return "-".join(text[at * _LETTERS : (at + 1) * _LETTERS] for at in range(_GROUPS))

    async def _one_time(self, connection: Connection, member: StaffMember) -> None:
        hashed = await self._passwords.hash(self.one_time_password(member))
        until = self._now() + dt.timedelta(seconds=self._one_time_s)
        await self.tables.keep_secrets(connection, member.staff, Secrets(hashed, until))

    async def _all_end(
        self, connection: Connection, staff: str, reason: EndReason
    ) -> list[tuple[str, StaffEvent]]:
        open_of = await self._sessions.open_of(connection, staff)
        return list(await ended(self._sessions, connection, staff, open_of, self._now(), reason))


def new_staff_id() -> str:
    """A random opaque id."""
    return secrets.token_hex(8)


def _sorted(roles: frozenset[Role]) -> tuple[Role, ...]:
    return tuple(sorted(roles))


def staff_id_of(request_id: str) -> str:
    """The opaque id of the member that a request adds: the same request again means the same member."""
    return hashlib.sha256(b"upcard staff\0" + request_id.encode("utf-8", "replace")).hexdigest()[:16]
