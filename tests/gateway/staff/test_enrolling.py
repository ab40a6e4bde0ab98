"""The way in: what a new member is shown is shown to nobody else."""

from __future__ import annotations

import asyncio

import pytest

from eventstore.postgres import Connection
from tests.gateway.pages.signed_in import signed_in
from tests.gateway.staff.people import PASSWORD, between, browser, enrolled, events_of, invited, staffing
from tests.gateway.world import World
from upcard_gateway.app.staff import Refused
from upcard_gateway.app.staff_admin import Done, NewStaff, new_staff_id
from upcard_gateway.domain.staff import StaffEnrolled, StaffSignedOut

_WAITING = """
SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
"""


async def test_each_enrolling_session_has_a_second_factor_of_its_own_and_is_the_only_one(
    world: World,
) -> None:
    person = await invited(world)
    async with browser(world) as first, browser(world, "203.0.113.5") as second:
        await first.sign_in(person.sign_in_name, person.one_time)
        shown = between((await first.get("/staff/enrol")).text, '<code id="secret">', "<")
        await second.sign_in(person.sign_in_name, person.one_time)
        person.secret = between((await second.get("/staff/enrol")).text, '<code id="secret">', "<")
        assert person.secret
        assert person.secret != shown
        entry = {"password": PASSWORD, "password_again": PASSWORD, "code": person.code()}
        gone = await first.post("/staff/enrol", **entry)
        assert (gone.status_code, gone.headers["location"][:14]) == (303, "/staff/sign-in")
        assert (await second.post("/staff/enrol", **entry)).status_code == 200
    told = [
        event
        for event in await events_of(world, person.staff)
        if isinstance(event, (StaffSignedOut, StaffEnrolled))
    ]
    assert [getattr(event, "reason", "enrolled") for event in told] == ["replaced", "replaced", "enrolled"]


async def test_a_password_is_what_was_typed(world: World) -> None:
    person = await invited(world)
    typed = f"  {PASSWORD} "
    async with browser(world) as one:
        assert (await person.enrol(one, typed)).status_code == 200
    world.clock.move(60)
    async with browser(world) as one:
        assert (await one.sign_in(person.sign_in_name, PASSWORD, person.code())).status_code == 401
        assert (await one.sign_in(person.sign_in_name, typed, person.code())).status_code == 303


async def test_a_one_time_password_is_shown_again_to_nobody_else(world: World) -> None:
    person = await enrolled(world)
    form = {"reason": "lost the phone", "resets": "0"}
    async with signed_in(world, "admin") as admin, signed_in(world, "admin") as other:
        path = f"/staff/people/{person.staff}/reset"
        answer = await admin.post(path, form, request_id="r-12345678")
        one_time = between(answer.text, 'id="one-time">', "<")
        assert one_time
        for _ in range(2):
            later = await other.post(path, form, request_id="r-87654321")
            assert later.status_code == 409
            assert one_time not in later.text
        again = await admin.post(path, form, request_id="r-12345678")
        assert between(again.text, 'id="one-time">', "<") == one_time
        async with browser(world) as new:
            person.one_time = one_time
            assert (await person.enrol(new)).status_code == 200
        assert (await admin.post(path, form, request_id="r-12345678")).status_code == 409, "it is void"


async def test_a_form_that_comes_again_does_not_undo_what_was_done_since(world: World) -> None:
    person = await enrolled(world, "support")
    path = f"/staff/people/{person.staff}"
    async with signed_in(world, "admin") as admin:
        await admin.post(f"{path}/disable", {"reason": "left the house"}, request_id="r-12345678")
        await admin.post(f"{path}/enable", {"reason": "is back"})
        again = await admin.post(f"{path}/disable", {"reason": "left the house"}, request_id="r-12345678")
        assert again.status_code == 303
        roles = {"role": "auditor", "reason": "moves"}
        await admin.post(f"{path}/roles", roles, request_id="r-22345678")
        await admin.post(f"{path}/roles", {"role": "dealer", "reason": "moves on"})
        await admin.post(f"{path}/roles", roles, request_id="r-22345678")
        other = await admin.post(f"{path}/roles", {**roles, "role": "admin"}, request_id="r-22345678")
        assert other.status_code == 409, "the same id is the same form"
        async with world.pool.acquire() as connection:
            found = await staffing(world).tables.find(connection, person.staff)
        assert found is not None
        assert found.disabled_at is None
        assert found.roles == {"dealer"}


async def test_the_last_admin_is_the_last_who_can_sign_in(world: World) -> None:
    person = await enrolled(world, "admin")
    await invited(world, "admin")
    use = staffing(world).admin
    async with world.pool.acquire() as connection, connection.transaction():
        assert await use.disable(connection, person.staff, "left", by="s1") == Refused("last_admin")
        moved = await use.change_roles(connection, person.staff, frozenset({"support"}), "x", by="s1")
        assert moved == Refused("last_admin")


async def test_of_two_who_take_a_name_at_once_one_leaves_nothing(world: World) -> None:
    use = staffing(world).admin
    one, two = (NewStaff(new_staff_id(), "kim", "Kim Doe", frozenset({"support"})) for _ in range(2))
    there = asyncio.Event()

    async def add(connection: Connection, new: NewStaff) -> Done | Refused:
        return await use.add(connection, new, "a test")

    async with world.pool.acquire() as first, world.pool.acquire() as second:
        beginning = first.transaction()
        await beginning.start()
        assert isinstance(await add(first, one), Done)

        async def later() -> Done | Refused:
            async with second.transaction():
                there.set()
                return await add(second, two)

        waiting = asyncio.create_task(later())
        await there.wait()
        await _until_it_waits(first)
        await beginning.commit()
        assert await asyncio.wait_for(waiting, 60) == Refused("sign_in_name_taken")
        assert await first.fetchval("SELECT count(*) FROM gateway.staff") == 1


async def _until_it_waits(connection: Connection) -> None:
    async with asyncio.timeout(60):
        while not await connection.fetchval(_WAITING):  # noqa: ASYNC110 - a database has no event
            await asyncio.sleep(0.02)


@pytest.mark.parametrize("path", ["/staff/find?q=%00", "/staff/me?tab=%00", "/staff/people/a%00b"])
async def test_an_address_with_a_nul_is_told_that_it_cannot_be_read(world: World, path: str) -> None:
    async with signed_in(world, "admin") as staff:
        assert (await staff.client.get(path)).status_code == 400


async def test_a_form_with_a_nul_is_told_that_it_cannot_be_read(world: World) -> None:
    async with browser(world) as one:
        assert (await one.sign_in("a\0b", PASSWORD)).status_code == 400
        await one.get("/staff/sign-in")
        answer = await one.post("/staff/sign-in", **{"name": "a", "password": "x", "a\0b": "1"})
        assert answer.status_code == 400
