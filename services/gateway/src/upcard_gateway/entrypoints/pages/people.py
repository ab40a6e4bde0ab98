"""Staff, for admins: who there is, roles, reset, disabling, erasing; each an action with a reason."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Final

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from eventstore.answers import Answer, AnswerKey, RequestIdReused, RequestUnderWay, begin, digest, finish
from eventstore.postgres import Connection
from upcard_gateway.adapters.passwords import TooManyAtOnce
from upcard_gateway.app.staff import Noted, Refused, StaffMember
from upcard_gateway.app.staff_admin import Done, NewStaff, staff_id_of
from upcard_gateway.domain.staff import ROLES, checked_roles
from upcard_gateway.entrypoints.http.edge import edge_of
from upcard_gateway.entrypoints.pages.acting import acted, checked_reason
from upcard_gateway.entrypoints.pages.csrf import FIELD, fields_of
from upcard_gateway.entrypoints.pages.frame import page
from upcard_gateway.entrypoints.pages.guard import needs
from upcard_gateway.entrypoints.pages.member import Member
from upcard_gateway.entrypoints.pages.problems import PageProblem
from upcard_gateway.entrypoints.staffing import Staffing

router = APIRouter(include_in_schema=False)

Admin = Annotated[Member, needs("admin")]
Use = Callable[[Connection], Awaitable[Done | Refused]]

_SEE_OTHER: Final = 303
_MOST: Final = 500
_MOST_SESSIONS: Final = 20
_OF_EVERY_FORM: Final = frozenset({FIELD, "request_id"})
_STATUS: Final = {"staff_unknown": 404, "sign_in_name_taken": 422}


@dataclass(frozen=True, slots=True)
class Asked:
    """What an admin asks for."""

    request: Request
    member: Member
    action: str
    staff: str
    """Whom it is about."""
    form: dict[str, str]
    reason: str


@router.get("/staff/people")
async def people(request: Request, member: Admin) -> Response:
    """All members, by their names, and the form for a new one."""
    return await _list(request, member)


@router.post("/staff/people")
async def add(request: Request, member: Admin) -> Response:
    """Add a member; the answer shows the one-time password."""
    form, roles = await _form(request, member)
    given = {"name": form.get("name", "")[:200], "sign_in_name": form.get("sign_in_name", "")[:200]}
    staffing = _staffing(request)
    try:
        reason = checked_reason(form)
        # The same form again is the same member.
        new = NewStaff(
            staff_id_of(form.get("request_id", "")),
            given["sign_in_name"].lower(),
            given["name"],
            checked_roles(roles),
        )
    except ValueError as error:
        return await _list(request, member, wrong=str(error), given=given, chosen=roles, status=422)
    except PageProblem as problem:
        text = request.app.state.pages.english(problem.key, **problem.values)
        return await _list(request, member, wrong=text, given=given, chosen=roles, status=422)

    async def use(connection: Connection) -> Done | Refused:
        return await staffing.admin.add(connection, new, reason)

    found = await _done(Asked(request, member, "staff.add", new.staff, form, reason), use)
    if isinstance(found, Refused):
        text = request.app.state.pages.english(f"people.refused.{found.reason}")
        return await _list(request, member, wrong=text, given=given, chosen=roles, status=422)
    first = found.member.resets == 0 and found.member.enrolled_at is None
    shown = staffing.admin.one_time_password(found.member) if first else None
    return await _one(request, member, found.member.staff, shown=shown)


@router.get("/staff/people/{staff}")
async def one(staff: str, request: Request, member: Admin) -> Response:
    """One member: roles, state, sessions, and what can be done."""
    return await _one(request, member, staff)


@router.post("/staff/people/{staff}/roles")
async def roles(staff: str, request: Request, member: Admin) -> Response:
    """Give a member other roles, all of them anew."""
    form, given = await _form(request, member)
    reason = checked_reason(form)
    try:
        wanted = checked_roles(given)
    except ValueError:
        raise PageProblem(422, "people.refused.no_role") from None

    async def use(connection: Connection) -> Done | Refused:
        return await _staffing(request).admin.change_roles(connection, staff, wanted, reason, by=member.staff)

    return await _changed(Asked(request, member, "staff.roles", staff, form, reason), use)


@router.post("/staff/people/{staff}/reset")
async def reset(staff: str, request: Request, member: Admin) -> Response:
    """Void a member's password and second factor; the answer shows a new one-time password."""
    form, _ = await _form(request, member)
    reason = checked_reason(form)
    staffing = _staffing(request)
    before = form.get("resets", "")

    async def use(connection: Connection) -> Done | Refused:
        there = await staffing.tables.lock(connection, staff)
        if there is not None and str(there.resets) != before:
            return Refused("page_old")  # a second reset would void what somebody else was told
        return await staffing.admin.reset(connection, staff, reason)

    found = await _done(Asked(request, member, "staff.reset", staff, form, reason), use)
    if isinstance(found, Refused):
        raise _problem(found)
    if str(found.member.resets - 1) != before or found.member.enrolled_at is not None:
        raise _problem(Refused("page_old"))  # this form came again, and what it was answered is void
    return await _one(request, member, staff, shown=staffing.admin.one_time_password(found.member))


@router.post("/staff/people/{staff}/disable")
async def disable(staff: str, request: Request, member: Admin) -> Response:
    """Let a member in no more; all sessions end at once."""
    form, _ = await _form(request, member)
    reason = checked_reason(form)

    async def use(connection: Connection) -> Done | Refused:
        return await _staffing(request).admin.disable(connection, staff, reason, by=member.staff)

    return await _changed(Asked(request, member, "staff.disable", staff, form, reason), use)


@router.post("/staff/people/{staff}/enable")
async def enable(staff: str, request: Request, member: Admin) -> Response:
    """Let a disabled member in again."""
    form, _ = await _form(request, member)
    reason = checked_reason(form)

    async def use(connection: Connection) -> Done | Refused:
        return await _staffing(request).admin.enable(connection, staff, reason)

    return await _changed(Asked(request, member, "staff.enable", staff, form, reason), use)


@router.post("/staff/people/{staff}/erase")
async def erase(staff: str, request: Request, member: Admin) -> Response:
    """Forget a disabled member's names."""
    form, _ = await _form(request, member)
    reason = checked_reason(form)

    async def use(connection: Connection) -> Done | Refused:
        return await _staffing(request).admin.erase(connection, staff, reason)

    return await _changed(Asked(request, member, "staff.erase", staff, form, reason), use)


@router.post("/staff/people/{staff}/sessions/end")
async def end_sessions(staff: str, request: Request, member: Admin) -> Response:
    """End all sessions of a member, who may sign in again."""
    form, _ = await _form(request, member)
    reason = checked_reason(form)
    staffing = _staffing(request)

    async def use(connection: Connection) -> Done | Refused:
        found = await staffing.tables.lock(connection, staff)
        if found is None:
            return Refused("staff_unknown")
        return Done(found, await staffing.admin.end_sessions(connection, staff))

    return await _changed(Asked(request, member, "staff.end_sessions", staff, form, reason), use)


async def _form(request: Request, member: Member) -> tuple[dict[str, str], frozenset[str]]:
    """The fields, all roles in one of them, and the roles that are ticked."""
    fields = await fields_of(request, member)
    ticked = frozenset(value for name, value in fields if name == "role")
    return {**dict(fields), "role": " ".join(sorted(ticked))}, ticked


async def _changed(asked: Asked, use: Use) -> Response:
    found = await _done(asked, use)
    if isinstance(found, Refused):
        raise _problem(found)
    return RedirectResponse(f"/staff/people/{found.member.staff}", _SEE_OTHER)


async def _done(asked: Asked, use: Use) -> Done | Refused:
    """Do it as an action of the member's, once, with its events in one transaction.

    A form that comes again is told what came of it, with the member as they are now.
    """
    staffing = _staffing(asked.request)
    who = f"staff:{asked.member.staff}"
    request_id = asked.form.get("request_id", "")
    said = sorted((name, value) for name, value in asked.form.items() if name not in _OF_EVERY_FORM)

    async def work() -> Done | Refused:
        key = AnswerKey(who, f"action {asked.action}", request_id)

        async def committed(connection: Connection) -> tuple[Done | Refused, Noted]:
            before = await begin(connection, key, digest(repr((asked.staff, said)).encode()))
            if isinstance(before, Answer):
                there = await staffing.tables.find(connection, asked.staff)
                if before.answer or there is None:
                    return Refused(before.answer.decode() or "staff_unknown"), ()
                return Done(there, ()), ()
            found = await use(connection)
            refused = found.reason if isinstance(found, Refused) else ""
            await finish(connection, key, refused.encode())
            return found, () if isinstance(found, Refused) else found.noted

        try:
            return await staffing.log.commit(who, committed)
        except RequestIdReused:
            raise PageProblem(409, "frame.request_reused") from None
        except RequestUnderWay:
            raise PageProblem(409, "frame.request_under_way") from None

    try:
        return await acted(
            edge_of(asked.request),
            asked.member,
            action=asked.action,
            subject=asked.staff,
            reason=asked.reason,
            request_id=request_id,
            work=work,
            told=lambda found: f"refused: {found.reason}" if isinstance(found, Refused) else "done",
        )
    except TooManyAtOnce:
        raise PageProblem(503, "signing_in.busy", retry_after_s=2.0) from None


async def _list(
    request: Request,
    member: Member,
    *,
    wrong: str | None = None,
    given: dict[str, str] | None = None,
    chosen: frozenset[str] = frozenset(),
    status: int = 200,
) -> Response:
    staffing = _staffing(request)
    async with staffing.log.pool.acquire() as connection:
        found = list(await staffing.tables.page(connection, "", _MOST))
    found.sort(key=lambda one: (one.disabled_at is not None, (one.name or "￿").casefold(), one.staff))
    return page(
        request,
        member,
        "people/list.html",
        status=status,
        members=found,
        state_of=_state_of,
        roles=ROLES,
        wrong=wrong,
        given=given or {"name": "", "sign_in_name": ""},
        chosen=chosen,
    )


async def _one(request: Request, member: Member, staff: str, *, shown: str | None = None) -> Response:
    staffing = _staffing(request)
    async with staffing.log.pool.acquire() as connection:
        found = await staffing.tables.find(connection, staff)
        if found is None:
            raise PageProblem(404, "people.refused.staff_unknown")
        lines = await staffing.sessions.lines(connection, staff, _MOST_SESSIONS)
    return page(
        request,
        member,
        "people/one.html",
        one=found,
        state=_state_of(found),
        lines=lines,
        roles=ROLES,
        shown=shown,
        hours=edge_of(request).settings.staff_one_time_s // 3_600,
    )


def _state_of(member: StaffMember) -> str:
    """A slug of how a member stands."""
    if member.sign_in_name is None:
        return "erased"
    if member.disabled_at is not None:
        return "disabled"
    return "active" if member.enrolled_at is not None else "invited"


def _problem(refused: Refused) -> PageProblem:
    return PageProblem(_STATUS.get(refused.reason, 409), f"people.refused.{refused.reason}")


def _staffing(request: Request) -> Staffing:
    found: Staffing = request.app.state.pages.staffing
    return found
