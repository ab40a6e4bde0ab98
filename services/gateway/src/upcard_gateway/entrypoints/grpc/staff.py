"""The calls about staff."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import grpc.aio
from google.protobuf.timestamp_pb2 import Timestamp

from eventstore import StreamAppend
from eventstore.postgres import Connection
from servicekit.answering import Answering, answer_once, invalid, read, who_acts
from servicekit.grpc import Access, ActorKind, Exposed, by, call_context
from upcard.call.v1 import refusal_pb2
from upcard.gateway.v1 import staff_pb2 as pb
from upcard.gateway.v1 import staff_pb2_grpc as pb_grpc
from upcard_gateway.app.staff import Refused, StaffMember
from upcard_gateway.app.staff_admin import Done, NewStaff, staff_id_of
from upcard_gateway.domain.staff import ROLES, Role, checked_roles
from upcard_gateway.entrypoints.grpc.desk import check_role
from upcard_gateway.entrypoints.staffing import Staffing

__all__ = ["STAFF", "STAFF_ACCESS", "exposed_staff"]

Context = grpc.aio.ServicerContext[Any, Any]
Appends = Sequence[StreamAppend]

STAFF: Final = pb.DESCRIPTOR.services_by_name["StaffService"]
"""The service, for whoever opens a channel."""
STAFF_ACCESS: Final[dict[str, Access]] = dict.fromkeys(
    ("AddStaff", "ChangeRoles", "ResetStaff", "DisableStaff", "ListStaff"), by(ActorKind.STAFF)
)
_MOST: Final = 500
_USUAL: Final = 100
_LONGEST_REASON: Final = 500
_MESSAGES: Final = {
    "sign_in_name_taken": "another member signs in with this name",
    "staff_exists": "this member is there already",
    "staff_unknown": "there is no member of this id",
    "staff_disabled": "the member is disabled; enable them first",
    "last_admin": "this is the last admin who can sign in; somebody else has to enrol as one first",
    "not_yourself": "nobody does this to themselves",
}


@dataclass(frozen=True, slots=True)
class StaffDesk:
    """What all calls about staff stand on."""

    staffing: Staffing
    answering: Answering


def exposed_staff(desk: StaffDesk) -> Exposed:
    """The calls about staff for a `GrpcServer`."""
    register = partial(pb_grpc.add_StaffServiceServicer_to_server, StaffCalls(desk))
    return Exposed(STAFF, register, access=STAFF_ACCESS)


class StaffCalls(pb_grpc.StaffServiceServicer):
    """All calls about staff. No stored answer has a name or a password: these are put in at last."""

    def __init__(self, desk: StaffDesk) -> None:
        self._desk = desk

    async def AddStaff(  # noqa: N802 - the name of the call
        self,
        request: pb.AddStaffRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.AddStaffResponse:
        """Add a member."""
        check_role()
        reason = _reason(request.reason)
        try:
            name = request.name.strip()
            # Of whoever asks: an id of a request is theirs.
            staff = staff_id_of(f"{who_acts()}\0{request.request_id}")
            new = NewStaff(staff, request.sign_in_name, name, checked_roles(frozenset(request.roles)))
        except ValueError as error:
            raise invalid(str(error)) from None

        async def work(connection: Connection) -> tuple[pb.AddStaffResponse, Appends]:
            done = await self._desk.staffing.admin.add(connection, new, reason)
            if isinstance(done, Refused):
                return pb.AddStaffResponse(refusal=_refusal(done)), ()
            invited = pb.Invited(member=pb.StaffMember(staff=done.member.staff))
            return pb.AddStaffResponse(invited=invited), self._appends(done)

        answer = await answer_once(self._desk.answering, request, pb.AddStaffResponse, work)
        if answer.HasField("invited"):
            answer.invited.CopyFrom(await self._invited(answer.invited.member.staff))
        return answer

    async def ChangeRoles(  # noqa: N802 - the name of the call
        self,
        request: pb.ChangeRolesRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.ChangeRolesResponse:
        """Give a member other roles."""
        check_role()
        roles = _roles(request.roles)
        reason = _reason(request.reason)

        async def use(connection: Connection) -> Done | Refused:
            return await self._desk.staffing.admin.change_roles(
                connection, request.staff, roles, reason, by=_actor_id()
            )

        async def work(connection: Connection) -> tuple[pb.ChangeRolesResponse, Appends]:
            done = await use(connection)
            if isinstance(done, Refused):
                return pb.ChangeRolesResponse(refusal=_refusal(done)), ()
            member = pb.StaffMember(staff=done.member.staff)
            return pb.ChangeRolesResponse(member=member), self._appends(done)

        answer = await answer_once(self._desk.answering, request, pb.ChangeRolesResponse, work)
        if answer.HasField("member"):
            answer.member.CopyFrom(_message(await self._found(answer.member.staff)))
        return answer

    async def ResetStaff(  # noqa: N802 - the name of the call
        self,
        request: pb.ResetStaffRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.ResetStaffResponse:
        """Void what a member signs in with; a one-time password lets them enrol again."""
        check_role()
        reason = _reason(request.reason)

        async def work(connection: Connection) -> tuple[pb.ResetStaffResponse, Appends]:
            done = await self._desk.staffing.admin.reset(connection, request.staff, reason)
            if isinstance(done, Refused):
                return pb.ResetStaffResponse(refusal=_refusal(done)), ()
            invited = pb.Invited(member=pb.StaffMember(staff=done.member.staff))
            return pb.ResetStaffResponse(invited=invited), self._appends(done)

        answer = await answer_once(self._desk.answering, request, pb.ResetStaffResponse, work)
        if answer.HasField("invited"):
            answer.invited.CopyFrom(await self._invited(answer.invited.member.staff))
        return answer

    async def DisableStaff(  # noqa: N802 - the name of the call
        self,
        request: pb.DisableStaffRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.DisableStaffResponse:
        """Let a member in no more, or in again."""
        check_role()
        reason = _reason(request.reason)
        admin = self._desk.staffing.admin
        use: Callable[[Connection], Awaitable[Done | Refused]] = (
            (lambda connection: admin.enable(connection, request.staff, reason))
            if request.enable
            else (lambda connection: admin.disable(connection, request.staff, reason, by=_actor_id()))
        )

        async def work(connection: Connection) -> tuple[pb.DisableStaffResponse, Appends]:
            done = await use(connection)
            if isinstance(done, Refused):
                return pb.DisableStaffResponse(refusal=_refusal(done)), ()
            member = pb.StaffMember(staff=done.member.staff)
            return pb.DisableStaffResponse(member=member), self._appends(done)

        answer = await answer_once(self._desk.answering, request, pb.DisableStaffResponse, work)
        if answer.HasField("member"):
            answer.member.CopyFrom(_message(await self._found(answer.member.staff)))
        return answer

    async def ListStaff(  # noqa: N802 - the name of the call
        self,
        request: pb.ListStaffRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.ListStaffResponse:
        """A page of members."""
        check_role()
        if not 0 <= request.limit <= _MOST:
            raise invalid(f"limit is 0 to {_MOST}")
        limit = request.limit or _USUAL

        async def work(connection: Connection) -> Sequence[StaffMember]:
            return await self._desk.staffing.tables.page(connection, request.after, limit + 1)

        found = await read(self._desk.answering, work)
        return pb.ListStaffResponse(members=[_message(one) for one in found[:limit]], more=len(found) > limit)

    def _appends(self, done: Done) -> Appends:
        return self._desk.staffing.log.appends(who_acts(), done.noted) if done.noted else ()

    async def _found(self, staff: str) -> StaffMember:
        async def work(connection: Connection) -> StaffMember | None:
            return await self._desk.staffing.tables.find(connection, staff)

        found = await read(self._desk.answering, work)
        assert found is not None, "no member is ever deleted"  # noqa: S101 - an invariant of the table
        return found

    async def _invited(self, staff: str) -> pb.Invited:
        """A member with the one-time password, for as long as that may be good."""
        found = await self._found(staff)
        good = found.enrolled_at is None and found.disabled_at is None
        password = self._desk.staffing.admin.one_time_password(found) if good else ""
        return pb.Invited(member=_message(found), one_time_password=password)


def _actor_id() -> str:
    return call_context().actor.id


def _roles(given: Sequence[str]) -> frozenset[Role]:
    try:
        return checked_roles(frozenset(given))
    except ValueError as error:
        raise invalid(str(error)) from None


def _reason(given: str) -> str:
    reason = given.strip()
    if not 0 < len(reason) <= _LONGEST_REASON or not reason.isprintable():
        raise invalid(f"reason has 1 to {_LONGEST_REASON} printable characters")
    return reason


def _refusal(refused: Refused) -> refusal_pb2.Refusal:
    return refusal_pb2.Refusal(reason=refused.reason, message=_MESSAGES[refused.reason])


def _message(found: StaffMember) -> pb.StaffMember:
    made = pb.StaffMember(
        staff=found.staff,
        sign_in_name=found.sign_in_name or "",
        name=found.name or "",
        roles=[role for role in ROLES if role in found.roles],
    )
    for name, at in (
        ("added_at", found.added_at),
        ("enrolled_at", found.enrolled_at),
        ("disabled_at", found.disabled_at),
    ):
        if at is not None:
            stamp: Timestamp = getattr(made, name)
            stamp.FromDatetime(at)
    return made
