from __future__ import annotations

from typing import Annotated

import pytest
from fastapi import APIRouter

from tests.gateway.pages.signed_in import signed_in
from tests.gateway.staff.conftest import QUICK
from tests.gateway.staff.people import PASSWORD, browser, enrolled, events_of, hours, invited, staffing
from tests.gateway.world import World, open_world
from upcard_gateway.domain.staff import StaffLocked, StaffSignedOut, StaffSignInFailed, StaffUnlocked
from upcard_gateway.entrypoints.pages.frame import Member, needs


@pytest.mark.parametrize(
    ("roles", "idle_s"), [(("dealer",), 300), (("dealer", "admin"), 300), (("support",), 1_800)]
)
async def test_an_idle_session_locks_itself_and_keeps_its_place(
    world: World, roles: tuple[str, ...], idle_s: int
) -> None:
    person = await enrolled(world, *roles)  # type: ignore[arg-type]  # roles, as parameters have them
    async with browser(world) as one:
        await one.sign_in(person.sign_in_name, PASSWORD, person.code())
        world.clock.move(idle_s - 10)
        assert (await one.client.get("/staff/me")).status_code == 200
        world.clock.move(idle_s - 1)
        assert (await one.client.get("/staff/me")).status_code == 200, "a sign keeps it open"
        world.clock.move(idle_s)
        answer = await one.client.get("/staff/me?tab=2")
        assert (answer.status_code, answer.headers["location"]) == (
            303,
            "/staff/locked?next=%2Fstaff%2Fme%3Ftab%3D2",
        )
        assert (await one.client.get("/staff/api/me")).json()["code"] == "locked"
        page = await one.get(answer.headers["location"])
        assert "Sam Doe" in page.text
        place = {"next": "/staff/me?tab=2"}
        assert (await one.post("/staff/locked", password=PASSWORD.upper(), **place)).status_code == 401
        answer = await one.post("/staff/locked", password=PASSWORD, **place)
        assert (answer.status_code, answer.headers["location"]) == (303, "/staff/me?tab=2")
        assert (await one.client.get("/staff/me")).status_code == 200
    told = [
        event
        for event in await events_of(world, person.staff)
        if isinstance(event, (StaffLocked, StaffUnlocked))
    ]
    assert [type(event) for event in told] == [StaffLocked, StaffUnlocked]
    assert isinstance(told[0], StaffLocked)
    assert told[0].idle_s == idle_s
    failed = [event for event in await events_of(world, person.staff) if isinstance(event, StaffSignInFailed)]
    assert [event.session for event in failed] == [told[0].session]


async def test_what_a_page_asks_by_itself_is_no_sign_of_its_member(world: World) -> None:
    async with signed_in(world, "dealer") as staff:
        door = staffing(world).door
        for _ in range(4):
            world.clock.move(70)
            assert await door.standing(staff.token, passive=True)
        world.clock.move(20)
        standing = await door.standing(staff.token, passive=True)
        assert standing is not None
        assert standing.state == "locked"


Tried = Annotated[Member, needs()]


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/staff/tried/live", {}),
        ("/staff/api/me", {"Sec-Fetch-Dest": "empty"}),
        ("/staff/me", {"Cookie": "upcard-reloaded=1; upcard-staff={token}"}),
    ],
)
async def test_no_page_that_lies_open_keeps_its_session_open(
    world: World, path: str, headers: dict[str, str]
) -> None:
    router = APIRouter()

    @router.get("/staff/tried/live")
    async def tried(member: Tried) -> str:
        return member.staff  # a stream that is over at once

    world.app.include_router(router)
    async with signed_in(world, "dealer") as staff:
        filled = {name: value.format(token=staff.token) for name, value in headers.items()}
        world.clock.move(240)
        assert (await staff.client.get(path, headers=filled)).status_code == 200
        world.clock.move(61)
        assert (await staff.client.get("/staff/api/me")).json()["code"] == "locked"


async def test_sessions_are_locked_and_ended_though_nobody_asks(world: World) -> None:
    async with signed_in(world, "dealer") as dealer, signed_in(world, "support") as support:
        world.clock.move(300)
        await staffing(world).door.sweep()
        assert [type(event) for event in await events_of(world, dealer.member.staff)] == [StaffLocked]
        assert not await events_of(world, support.member.staff)
        world.clock.move(hours(12))
        await staffing(world).door.sweep()
        await staffing(world).door.sweep()
        for member in (dealer.member, support.member):
            event = (await events_of(world, member.staff))[-1]
            assert isinstance(event, StaffSignedOut)
            assert event.reason == "expired"


async def test_a_session_ends_after_its_longest_time_whatever_happens(world: World) -> None:
    person = await enrolled(world)
    async with browser(world) as one:
        await one.sign_in(person.sign_in_name, PASSWORD, person.code())
        for _ in range(24):
            world.clock.move(1_790)
            assert (await one.client.get("/staff/me")).status_code == 200
        world.clock.move(300)
        answer = await one.client.get("/staff/me")
        assert (answer.status_code, answer.headers["location"]) == (303, "/staff/sign-in?next=%2Fstaff%2Fme")


async def test_a_member_locks_and_signs_out(world: World) -> None:
    person = await enrolled(world)
    async with browser(world) as one:
        await one.sign_in(person.sign_in_name, PASSWORD, person.code())
        await one.get("/staff/me")
        answer = await one.post("/staff/lock", next="/staff/me")
        assert answer.headers["location"] == "/staff/locked?next=%2Fstaff%2Fme"
        page = await one.get("/staff/locked")
        assert page.status_code == 200
        answer = await one.post("/staff/sign-out")
        assert answer.headers["location"] == "/staff/sign-in"
        assert (await one.client.get("/staff/api/me")).status_code == 401
    event = (await events_of(world, person.staff))[-1]
    assert isinstance(event, StaffSignedOut)
    assert event.reason == "signed_out"


async def test_a_member_sees_and_ends_own_sessions_and_nobody_elses(world: World) -> None:
    person = await enrolled(world)
    async with (
        browser(world, "198.51.100.1") as first,
        browser(world, "198.51.100.2") as second,
        signed_in(world, "admin") as other,
    ):
        await first.sign_in(person.sign_in_name, PASSWORD, person.code())
        world.clock.move(30)
        await second.sign_in(person.sign_in_name, PASSWORD, person.code())
        me = (await first.client.get("/staff/api/me")).json()
        page = await second.get("/staff/me")
        assert "198.51.100.1" in page.text
        assert "A browser of tests" in page.text
        foreign = await other.post(f"/staff/me/sessions/{me['session']}/end")
        assert foreign.status_code == 303
        assert (await first.client.get("/staff/api/me")).status_code == 200, "not theirs"
        await second.post(f"/staff/me/sessions/{me['session']}/end")
        assert (await first.client.get("/staff/api/me")).status_code == 401
        assert (await second.client.get("/staff/api/me")).status_code == 200


async def test_the_oldest_session_makes_room(world: World) -> None:
    person = await enrolled(world)
    async with browser(world) as oldest:
        await oldest.sign_in(person.sign_in_name, PASSWORD, person.code())
        for _ in range(5):
            world.clock.move(30)
            async with browser(world) as newer:
                await newer.sign_in(person.sign_in_name, PASSWORD, person.code())
        assert (await oldest.client.get("/staff/api/me")).status_code == 401


async def test_cookies_are_for_https_and_this_host_alone_where_people_use_https(
    service_database: str,
) -> None:
    async with open_world(service_database, public_url="https://play.example", **QUICK) as world:
        person = await invited(world)
        async with browser(world) as one:
            one.client.base_url = one.client.base_url.copy_with(scheme="https")
            answer = await one.sign_in(person.sign_in_name, person.one_time)
            assert answer.status_code == 303, "the cookie of the visit came back"
            (cookie,) = [
                value
                for value in answer.headers.get_list("set-cookie")
                if value.startswith("__Host-upcard-staff=")
            ]
    flags = {flag.strip().lower() for flag in cookie.split(";")[1:]}
    assert flags == {"httponly", "path=/", "samesite=strict", "secure"}
