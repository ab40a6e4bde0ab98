from __future__ import annotations

import re

from tests.gateway.pages.signed_in import SignedIn, signed_in
from tests.gateway.staff.people import (
    PASSWORD,
    Person,
    between,
    browser,
    enrolled,
    events_of,
    staffing,
)
from tests.gateway.world import World
from upcard_gateway.domain.staff import (
    StaffActionAnswered,
    StaffActionAsked,
    StaffDisabled,
    StaffEnabled,
    StaffErased,
    StaffReset,
    StaffRolesChanged,
)

FORM = {"name": "Kim Doe", "sign_in_name": "Kim.Doe", "role": "dealer", "reason": "joins the studio"}


async def added(admin: SignedIn, world: World, **form: str) -> Person:
    """A new member, added at the page."""
    answer = await admin.post("/staff/people", {**FORM, **form})
    assert answer.status_code == 200, answer.text
    one_time = between(answer.text, 'id="one-time">', "<")
    staff = between(answer.text, '<dd class="mono">', "</dl>").split('<dd class="mono">')[1].split("<")[0]
    return Person(world, staff, {**FORM, **form}["sign_in_name"].lower(), one_time)


async def test_an_admin_adds_a_member_who_enrols_with_what_is_shown(world: World) -> None:
    async with signed_in(world, "admin") as admin, browser(world) as new:
        person = await added(admin, world)
        assert re.fullmatch(r"[a-z2-7]{5}(-[a-z2-7]{5}){3}", person.one_time)
        page = await admin.client.get("/staff/people")
        assert "Kim Doe" in page.text
        assert person.one_time not in page.text
        assert (await person.enrol(new)).status_code == 200
        own = list(await events_of(world, admin.member.staff))
        assert [type(event) for event in own] == [StaffActionAsked, StaffActionAnswered]
        assert isinstance(own[0], StaffActionAsked)
        assert (own[0].action, own[0].subject, own[0].reason) == (
            "staff.add",
            person.staff,
            "joins the studio",
        )


async def test_the_same_form_again_adds_nobody_else(world: World) -> None:
    async with signed_in(world, "admin") as admin:
        answers = [await admin.post("/staff/people", FORM, request_id="r-12345678") for _ in range(2)]
        assert answers[0].status_code == answers[1].status_code == 200
        shown = [between(answer.text, 'id="one-time">', "<") for answer in answers]
        assert shown[0] == shown[1]
        async with world.pool.acquire() as connection:
            assert await connection.fetchval("SELECT count(*) FROM gateway.staff_people") == 2


async def test_a_form_with_mistakes_says_which_and_keeps_what_was_typed(world: World) -> None:
    async with signed_in(world, "admin") as admin:
        await added(admin, world)
        for wrong, words in (
            ({"sign_in_name": "Kim Doe"}, "sign_in_name has 1 to 64 small letters"),
            ({"name": ""}, "name has 1 to 80 printable characters"),
            ({"role": "king"}, "&#39;king&#39; is none of"),
            ({"reason": "x"}, "Say why"),
            ({}, "This sign-in name is taken"),
        ):
            answer = await admin.post("/staff/people", {**FORM, **wrong})
            assert (answer.status_code, words in answer.text) == (422, True), (wrong, answer.text)
            assert 'value="Kim' in answer.text or "sign_in_name" in wrong or "name" in wrong


async def test_a_reset_voids_all_of_a_sign_in_at_once(world: World) -> None:
    person = await enrolled(world, "support")
    async with signed_in(world, "admin") as admin, browser(world) as one, browser(world) as again:
        await one.sign_in(person.sign_in_name, PASSWORD, person.code())
        path = f"/staff/people/{person.staff}"
        form = {"reason": "lost the phone", "resets": "0"}
        answer = await admin.post(f"{path}/reset", form, request_id="r-12345678")
        one_time = between(answer.text, 'id="one-time">', "<")
        assert (await one.client.get("/staff/api/me")).status_code == 401
        repeated = await admin.post(f"{path}/reset", form, request_id="r-12345678")
        assert between(repeated.text, 'id="one-time">', "<") == one_time
        world.clock.move(60)
        assert (await one.sign_in(person.sign_in_name, PASSWORD, person.code())).status_code == 401
        assert (await one.sign_in(person.sign_in_name, PASSWORD, person.codes[0])).status_code == 401
        old = person.secret
        person.one_time = one_time
        assert (await person.enrol(again, "another sentence of mine")).status_code == 200
        assert person.secret != old
    resets = [event for event in await events_of(world, person.staff) if isinstance(event, StaffReset)]
    assert [event.reason for event in resets] == ["lost the phone"]


async def test_disabling_ends_everything_until_it_is_undone(world: World) -> None:
    person = await enrolled(world, "support")
    async with signed_in(world, "admin") as admin, browser(world) as one:
        await one.sign_in(person.sign_in_name, PASSWORD, person.code())
        path = f"/staff/people/{person.staff}"
        assert (await admin.post(f"{path}/disable", {"reason": "left the house"})).status_code == 303
        assert (await one.client.get("/staff/api/me")).status_code == 401
        world.clock.move(60)
        assert (await one.sign_in(person.sign_in_name, PASSWORD, person.code())).status_code == 401
        assert (await admin.post(f"{path}/reset", {"reason": "again here", "resets": "0"})).status_code == 409
        assert (await admin.post(f"{path}/enable", {"reason": "is back"})).status_code == 303
        world.clock.move(60)
        assert (await one.sign_in(person.sign_in_name, PASSWORD, person.code())).status_code == 303
    events = await events_of(world, person.staff)
    assert [event.reason for event in events if isinstance(event, (StaffDisabled, StaffEnabled))] == [
        "left the house",
        "is back",
    ]


async def test_erasing_forgets_the_names_and_keeps_what_was_done(world: World) -> None:
    person = await enrolled(world, "support", name="Robin Quill")
    async with signed_in(world, "admin") as admin:
        path = f"/staff/people/{person.staff}"
        assert (await admin.post(f"{path}/erase", {"reason": "asked for it"})).status_code == 409
        await admin.post(f"{path}/disable", {"reason": "left the house"})
        assert (await admin.post(f"{path}/erase", {"reason": "asked for it"})).status_code == 303
        for page in (path, "/staff/people"):
            text = (await admin.client.get(page)).text
            assert "Robin Quill" not in text
            assert person.sign_in_name not in text
        assert (await admin.post(f"{path}/enable", {"reason": "is back"})).status_code == 404
    async with world.pool.acquire() as connection:
        for table in ("staff_people", "staff_secrets", "staff_recovery_codes"):
            count = await connection.fetchval(
                f"SELECT count(*) FROM gateway.{table} WHERE staff = $1",  # noqa: S608 - constants
                person.staff,
            )
            assert count == 0, table
        addresses = await connection.fetch(
            "SELECT DISTINCT address, browser FROM gateway.staff_sessions WHERE staff = $1", person.staff
        )
        assert [tuple(row) for row in addresses] == [("", "")]
    assert isinstance((await events_of(world, person.staff))[-1], StaffErased)


async def test_nobody_locks_all_admins_out(world: World) -> None:
    async with signed_in(world, "admin") as admin, signed_in(world, "admin", "auditor") as other:
        me, them = f"/staff/people/{admin.member.staff}", f"/staff/people/{other.member.staff}"
        for path, form in (
            (f"{me}/disable", {"reason": "to try it"}),
            (f"{me}/roles", {"reason": "to try it", "role": "support"}),
        ):
            answer = await admin.post(path, form)
            assert (answer.status_code, "do this to yourself" in answer.text) == (409, True)
        assert (
            await admin.post(f"{them}/roles", {"reason": "only reads", "role": "auditor"})
        ).status_code == 303
        use = staffing(world).admin
        async with world.pool.acquire() as connection, connection.transaction():
            for refused in (
                await use.disable(connection, admin.member.staff, "by hand", by="somebody"),
                await use.change_roles(connection, admin.member.staff, frozenset({"support"}), "x", by="y"),
            ):
                assert getattr(refused, "reason", None) == "last_admin"
    changed = [
        event for event in await events_of(world, other.member.staff) if isinstance(event, StaffRolesChanged)
    ]
    assert [(event.before, event.roles) for event in changed] == [(("admin", "auditor"), ("auditor",))]


async def test_all_sessions_of_a_member_can_be_ended(world: World) -> None:
    async with signed_in(world, "admin") as admin, signed_in(world, "support") as other:
        answer = await admin.post(
            f"/staff/people/{other.member.staff}/sessions/end", {"reason": "left a desk open"}
        )
        assert answer.status_code == 303
        assert (await other.client.get("/staff/api/me")).status_code == 401
        assert (await admin.client.get("/staff/api/me")).status_code == 200
