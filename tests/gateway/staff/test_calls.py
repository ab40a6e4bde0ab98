"""Staff administered over gRPC: each change an event, each call answered once, no name in a stored answer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import grpc.aio
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from servicekit.answering import Answering
from servicekit.grpc import (
    Actor,
    ActorKind,
    ContextSigner,
    ContextVerifier,
    GrpcServer,
    ServerSettings,
    TrustedKey,
    acting_as,
    failure_of,
    open_channel,
)
from tests.gateway.staff.people import PASSWORD, Person, browser, events_of, staffing
from tests.gateway.world import World
from upcard.gateway.v1 import staff_pb2 as pb
from upcard.gateway.v1.staff_pb2_grpc import StaffServiceStub
from upcard_gateway.domain.staff import StaffAdded, StaffDisabled, StaffEnabled, StaffReset, StaffRolesChanged
from upcard_gateway.entrypoints.grpc import GATEWAY_ERRORS, STAFF, STAFF_ACCESS, StaffDesk, exposed_staff

KEY = Ed25519PrivateKey.generate()
TIMEOUT_S = 60.0
ADMIN = Actor(ActorKind.STAFF, "s1", frozenset({"admin"}))
FIELDS: dict[str, Any] = {"name": "Kim Doe", "sign_in_name": "kim", "roles": ["dealer"], "reason": "new"}


@pytest.fixture
async def stub(world: World) -> AsyncIterator[StaffServiceStub]:
    """The calls about staff, over gRPC in this process."""
    verifier = ContextVerifier("gateway", [TrustedKey("gateway-1", KEY.public_key(), frozenset(ActorKind))])
    desk = StaffDesk(staffing(world), Answering("gateway", world.pool, world.edge.store.announce))
    async with GrpcServer(
        ServerSettings(grace_s=0.2), [exposed_staff(desk)], verifier=verifier, known_errors=GATEWAY_ERRORS
    ) as server:
        signer = ContextSigner("gateway-1", KEY)
        channel = open_channel(server.address, audience="gateway", services=[STAFF], signer=signer)
        async with channel:
            with acting_as(ADMIN):
                yield StaffServiceStub(channel)


async def added(stub: StaffServiceStub, **fields: Any) -> pb.Invited:
    """A new member."""
    request = pb.AddStaffRequest(**{"request_id": "r1", **FIELDS, **fields})
    answer = await stub.AddStaff(request, timeout=TIMEOUT_S)
    assert answer.HasField("invited"), answer
    return answer.invited


async def test_a_member_is_added_once_and_enrols_with_the_one_time_password(
    world: World, stub: StaffServiceStub
) -> None:
    first, again = await added(stub), await added(stub)
    assert first == again
    assert (first.member.name, list(first.member.roles)) == ("Kim Doe", ["dealer"])
    async with world.pool.acquire() as connection:
        stored = await connection.fetch("SELECT a::text AS whole FROM eventstore.answers AS a")
        assert stored
        whole = " ".join(row["whole"] for row in stored)
    for secret in (first.one_time_password, "Kim Doe"):
        assert secret not in whole
        assert secret.encode().hex() not in whole
    person = Person(world, first.member.staff, "kim", first.one_time_password)
    async with browser(world) as new:
        assert (await person.enrol(new)).status_code == 200
    assert (await added(stub)).one_time_password == "", "it is void"
    (event,) = [event for event in await events_of(world, person.staff) if isinstance(event, StaffAdded)]
    assert (event.roles, event.reason) == (("dealer",), "new")


async def test_a_name_that_is_taken_is_refused(stub: StaffServiceStub) -> None:
    await added(stub)
    answer = await stub.AddStaff(pb.AddStaffRequest(request_id="r2", **FIELDS), timeout=TIMEOUT_S)
    assert answer.refusal.reason == "sign_in_name_taken"


async def test_a_member_is_changed_reset_disabled_and_enabled(world: World, stub: StaffServiceStub) -> None:
    invited = await added(stub)
    staff = invited.member.staff
    roles = await stub.ChangeRoles(
        pb.ChangeRolesRequest(request_id="c1", staff=staff, roles=["support", "auditor"], reason="moves"),
        timeout=TIMEOUT_S,
    )
    assert list(roles.member.roles) == ["support", "auditor"]
    reset = await stub.ResetStaff(
        pb.ResetStaffRequest(request_id="c2", staff=staff, reason="lost it"), timeout=TIMEOUT_S
    )
    assert reset.invited.one_time_password not in {"", invited.one_time_password}
    person = Person(world, staff, "kim", reset.invited.one_time_password)
    async with browser(world) as new:
        assert (await new.sign_in("kim", invited.one_time_password)).status_code == 401
        assert (await person.enrol(new, PASSWORD)).status_code == 200
        off = await stub.DisableStaff(
            pb.DisableStaffRequest(request_id="c3", staff=staff, reason="left"), timeout=TIMEOUT_S
        )
        assert off.member.HasField("disabled_at")
        assert (await new.client.get("/staff/api/me")).status_code == 401
    on = await stub.DisableStaff(
        pb.DisableStaffRequest(request_id="c4", staff=staff, reason="back", enable=True), timeout=TIMEOUT_S
    )
    assert not on.member.HasField("disabled_at")
    listed = await stub.ListStaff(pb.ListStaffRequest(), timeout=TIMEOUT_S)
    assert [one.staff for one in listed.members] == [staff]
    kinds = {type(event) for event in await events_of(world, staff)}
    assert kinds >= {StaffAdded, StaffRolesChanged, StaffReset, StaffDisabled, StaffEnabled}


@pytest.mark.parametrize(
    "wrong",
    [
        {"sign_in_name": "Kim Doe"},
        {"sign_in_name": ""},
        {"name": ""},
        {"name": "x" * 81},
        {"roles": []},
        {"roles": ["king"]},
        {"reason": ""},
        {"request_id": ""},
    ],
)
async def test_what_cannot_be_is_an_invalid_call(stub: StaffServiceStub, wrong: dict[str, Any]) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await added(stub, **wrong)
    assert failure_of(refused.value).code is grpc.StatusCode.INVALID_ARGUMENT


async def test_nobody_is_unknown_to_every_call(stub: StaffServiceStub) -> None:
    calls: tuple[tuple[Any, Any], ...] = (
        (stub.ChangeRoles, pb.ChangeRolesRequest(request_id="u1", staff="x1", roles=["admin"], reason="x")),
        (stub.ResetStaff, pb.ResetStaffRequest(request_id="u2", staff="x1", reason="x")),
        (stub.DisableStaff, pb.DisableStaffRequest(request_id="u3", staff="x1", reason="x")),
        (stub.DisableStaff, pb.DisableStaffRequest(request_id="u4", staff="x1", reason="x", enable=True)),
    )
    for call, request in calls:
        assert (await call(request, timeout=TIMEOUT_S)).refusal.reason == "staff_unknown"


@pytest.mark.parametrize("name", sorted(STAFF_ACCESS))
@pytest.mark.parametrize(
    "actor",
    [
        Actor(ActorKind.STAFF, "s2", frozenset({"support", "floor", "operations", "auditor"})),
        Actor(ActorKind.PLAYER, "p1"),
        Actor(ActorKind.DEALER, "d1"),
        Actor(ActorKind.PLATFORM),
    ],
)
async def test_each_call_is_for_admins_alone(stub: StaffServiceStub, name: str, actor: Actor) -> None:
    kind = getattr(pb, f"{name}Request")
    with acting_as(actor), pytest.raises(grpc.aio.AioRpcError) as refused:
        await getattr(stub, name)(kind(), timeout=TIMEOUT_S)
    assert failure_of(refused.value).code is grpc.StatusCode.PERMISSION_DENIED


def test_every_call_says_who_may_make_it() -> None:
    assert set(STAFF_ACCESS) == {method.name for method in STAFF.methods}
