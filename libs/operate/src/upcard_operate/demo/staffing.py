"""The demonstration's staff: added by an admin, enrolled and signed in as people are."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Final

import grpc.aio

from servicekit.grpc import acting_as, failure_of, open_channel
from upcard.gateway.v1 import staff_pb2
from upcard.gateway.v1.staff_pb2_grpc import StaffServiceStub
from upcard_operate.demo.casino import READY_S, new_id, staff
from upcard_operate.demo.house import DemoFailed, accepted
from upcard_operate.demo.pages import Forms, SignIn, Staff, now_s, totp
from upcard_operate.demo.tables import TABLES
from upcard_operate.local.fleet import Fleet

__all__ = ["Hire", "People", "SignIn", "add_staff", "enrol", "hired", "table_dealers"]

_CALL_S: Final = 60.0
_STAFF: Final = staff_pb2.DESCRIPTOR.services_by_name["StaffService"]
_SIGN_IN: Final = "/staff/sign-in"
_ENROL: Final = "/staff/enrol"
_PASSWORD_BYTES: Final = 18
_ASKED: Final = 3
"""Times that a call is made, the same each time, until it is answered."""
_TRIES: Final = 20
"""Of a sign-in while too many passwords are looked at."""
_PAUSE_S: Final = 0.5
_BUSY: Final = 503
_DEALERS: Final = ("Mira Holm", "Jonas Reyes", "Aiko Brandt", "Nadia Cole", "Tomas Lind")
"""What the tables' dealers are called, a table each."""


@dataclass(frozen=True, slots=True)
class Hire:
    """Somebody who works here."""

    name: str
    """What they sign in as."""
    roles: tuple[str, ...]
    what: str
    called: str = ""
    """Their name, whose first word players see of a dealer; empty: as they sign in."""


OTHERS: Final = (
    Hire("admin", ("admin",), "adds people, gives and takes roles"),
    Hire("floor", ("shift_manager",), "opens and closes tables, limits, corrections, chat"),
    Hire("operations", ("operations",), "sees how everything stands, retries and skips"),
    Hire("support", ("support",), "looks up rounds and players"),
    Hire("auditor", ("auditor",), "looks at everything, changes nothing"),
    Hire("dealer", ("dealer",), "deals at a table; the shoe reader goes on reading", "Robin Vale"),
)
"""For the people who look at a demonstration that is kept running."""


@dataclass(frozen=True, slots=True)
class People:
    """Who was hired."""

    dealers: Sequence[Staff]
    """One for each table, signed in at the pages."""
    others: Sequence[SignIn]
    """Each with a one-time password that nobody has used yet."""


@contextlib.asynccontextmanager
async def hired(fleet: Fleet) -> AsyncIterator[People]:
    """Add everybody, and have the tables' dealers enrol; they stay signed in. Raises DemoFailed."""
    dealers = table_dealers()
    channel = open_channel(
        fleet.address("gateway"), audience="gateway", services=[_STAFF], signer=fleet.gateway.signer()
    )
    async with contextlib.AsyncExitStack() as stack:
        await stack.enter_async_context(channel)
        await channel.wait_serving(READY_S)
        stub = StaffServiceStub(channel)
        added = [await add_staff(stub, one) for one in (*dealers, *OTHERS)]
        members = []
        # One after another: passwords are hashed a few at a time, and who comes beyond that is sent away.
        for one in added[: len(dealers)]:
            members.append(await stack.enter_async_context(Staff(fleet.platform_url)))
            await enrol(members[-1], one)
        yield People(members, added[len(dealers) :])


def table_dealers() -> Sequence[Hire]:
    """A dealer for each table, in the tables' order."""
    return [
        Hire(f"dealer.{table.table}", ("dealer",), f"deals at {table.table}", called)
        for table, called in zip(TABLES, _DEALERS, strict=True)
    ]


async def add_staff(stub: StaffServiceStub, one: Hire) -> SignIn:
    """Add a member of staff as an admin does, with a one-time password. Raises DemoFailed."""
    request = staff_pb2.AddStaffRequest(
        request_id=new_id(),
        sign_in_name=one.name,
        name=one.called or one.name.replace(".", " ").title(),
        roles=one.roles,
        reason="the demonstration needs them",
    )
    with acting_as(staff("admin-1")):
        answer = accepted(f"add {one.name}", await _answered(stub, request))
    return SignIn(one.name, answer.invited.one_time_password, what=one.what)


async def _answered(stub: StaffServiceStub, request: staff_pb2.AddStaffRequest) -> staff_pb2.AddStaffResponse:
    """The answer; a busy gateway is asked the same again, which adds nobody twice."""
    for left in reversed(range(_ASKED)):
        try:
            return await stub.AddStaff(request, timeout=_CALL_S)
        except grpc.aio.AioRpcError as error:
            if not left or not failure_of(error).may_pass:
                raise
            await asyncio.sleep(_PAUSE_S)
    raise DemoFailed("the gateway was never asked")


async def enrol(member: Staff, sign_in: SignIn) -> None:
    """Sign in with a one-time password, and choose another and a second factor: `sign_in` has them then.

    The member is signed in afterwards. Raises DemoFailed.
    """
    await _posted(member, _SIGN_IN, {"name": sign_in.name, "password": sign_in.password})
    secret = Forms(await member.page(_ENROL)).texts["secret"].replace(" ", "")
    password = secrets.token_urlsafe(_PASSWORD_BYTES)
    given = {"password": password, "password_again": password, "code": totp(secret, now_s())}
    await _posted(member, _ENROL, given)
    sign_in.password, sign_in.secret = password, secret


async def _posted(member: Staff, path: str, given: dict[str, str]) -> None:
    for _ in range(_TRIES):
        answer = await member.submit(path, path, given)
        if not answer.is_error:
            return
        if answer.status_code != _BUSY:
            raise DemoFailed(f"{path} answered {answer.status_code}")
        await asyncio.sleep(_PAUSE_S)
    raise DemoFailed(f"{path} is busy")
