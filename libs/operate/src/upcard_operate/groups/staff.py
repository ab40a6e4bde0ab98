"""`upcard staff`: who may sign in to the pages, and with which roles."""

from __future__ import annotations

import uuid
from typing import Annotated, Final

import typer

from upcard.gateway.v1 import staff_pb2 as pb
from upcard.gateway.v1.staff_pb2_grpc import StaffServiceStub
from upcard_operate.calling import CALL_S, called, granted
from upcard_operate.options import AsJson
from upcard_operate.output import Output, Row
from upcard_operate.running import run

app = typer.Typer(no_args_is_help=True, help="Members of staff: who signs in to the pages.")

STAFF: Final = pb.DESCRIPTOR.services_by_name["StaffService"]
_PAGE: Final = 200
_ROLES: Final = "dealer, shift_manager, operations, support, auditor, admin"

Member = Annotated[str, typer.Argument(help="The member's opaque id, which `upcard staff list` shows.")]
Roles = Annotated[list[str], typer.Option("--role", help=f"One of {_ROLES}; several by several --role.")]
Reason = Annotated[str, typer.Option("--reason", help="Why; it is recorded.")]
RequestId = Annotated[
    str, typer.Option("--request-id", help="The same as before to repeat a command; else a new one.")
]


@app.command()
def add(
    sign_in_name: Annotated[str, typer.Argument(help="What the member signs in with.")],
    role: Roles,
    name: Annotated[str, typer.Option("--name", help="What people call the member.")],
    reason: Reason = "added on the command line",
    request_id: RequestId = "",
    as_json: AsJson = False,
) -> None:
    """Add a member. The one-time password lets them in once, to choose another and a second factor."""
    request = pb.AddStaffRequest(
        request_id=request_id or _new_id(), sign_in_name=sign_in_name, name=name, roles=role, reason=reason
    )

    async def work() -> None:
        async with called("gateway", STAFF) as channel:
            invited = granted(await StaffServiceStub(channel).AddStaff(request, timeout=CALL_S)).invited
        _show(invited, as_json=as_json)

    run(work())


@app.command()
def roles(
    staff: Member, role: Roles, reason: Reason, request_id: RequestId = "", as_json: AsJson = False
) -> None:
    """Give a member other roles, all of them anew."""
    request = pb.ChangeRolesRequest(
        request_id=request_id or _new_id(), staff=staff, roles=role, reason=reason
    )

    async def work() -> None:
        async with called("gateway", STAFF) as channel:
            answer = granted(await StaffServiceStub(channel).ChangeRoles(request, timeout=CALL_S))
        Output(as_json=as_json).record(_row(answer.member))

    run(work())


@app.command()
def reset(staff: Member, reason: Reason, request_id: RequestId = "", as_json: AsJson = False) -> None:
    """Void a member's password and second factor, end all sessions, and show a new one-time password."""
    request = pb.ResetStaffRequest(request_id=request_id or _new_id(), staff=staff, reason=reason)

    async def work() -> None:
        async with called("gateway", STAFF) as channel:
            invited = granted(await StaffServiceStub(channel).ResetStaff(request, timeout=CALL_S)).invited
        _show(invited, as_json=as_json)

    run(work())


@app.command()
def disable(
    staff: Member,
    reason: Reason,
    enable: Annotated[bool, typer.Option("--enable", help="Let the member in again.")] = False,
    request_id: RequestId = "",
    as_json: AsJson = False,
) -> None:
    """Let a member in no more; all sessions end at once."""
    request = pb.DisableStaffRequest(
        request_id=request_id or _new_id(), staff=staff, reason=reason, enable=enable
    )

    async def work() -> None:
        async with called("gateway", STAFF) as channel:
            answer = granted(await StaffServiceStub(channel).DisableStaff(request, timeout=CALL_S))
        Output(as_json=as_json).record(_row(answer.member))

    run(work())


@app.command("list")
def list_all(as_json: AsJson = False) -> None:
    """All members of staff."""

    async def work() -> None:
        rows: list[Row] = []
        async with called("gateway", STAFF) as channel:
            stub = StaffServiceStub(channel)
            after, more = "", True
            while more:
                page = await stub.ListStaff(pb.ListStaffRequest(after=after, limit=_PAGE), timeout=CALL_S)
                rows += [_row(one) for one in page.members]
                more = page.more and bool(page.members)
                after = page.members[-1].staff if page.members else ""
        Output(as_json=as_json).rows(rows, "There is no member of staff yet: `upcard staff add`.")

    run(work())


def _show(invited: pb.Invited, *, as_json: bool) -> None:
    password = {"one_time_password": invited.one_time_password} if invited.one_time_password else {}
    output = Output(as_json=as_json)
    output.record({**_row(invited.member), **password})
    if password:
        output.say("The one-time password is good once: tell it to the member on a way that nobody reads.")


def _new_id() -> str:
    return str(uuid.uuid4())


def _row(found: pb.StaffMember) -> Row:
    state = "active" if found.HasField("enrolled_at") else "waits for the first sign-in"
    if found.HasField("disabled_at"):
        state = "disabled"
    return {
        "staff": found.staff,
        "sign_in_name": found.sign_in_name or None,
        "name": found.name or None,
        "roles": " ".join(found.roles),
        "state": state,
        "added_at": found.added_at.ToDatetime().isoformat(),
    }
