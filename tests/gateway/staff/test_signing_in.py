from __future__ import annotations

import asyncio

from tests.gateway.staff.people import PASSWORD, browser, enrolled, events_of, hours, invited
from tests.gateway.world import World
from upcard_gateway.domain.staff import (
    StaffAdded,
    StaffEnrolled,
    StaffSignedIn,
    StaffSignedOut,
    StaffSignInFailed,
)


async def test_a_first_sign_in_chooses_a_password_and_a_second_factor(world: World) -> None:
    person = await invited(world, "support", "auditor")
    async with browser(world) as new:
        answer = await person.enrol(new)
        assert answer.status_code == 200, answer.text
        assert len(person.codes) == 10
        me = (await new.client.get("/staff/api/me")).json()
        assert (me["staff"], me["roles"]) == (person.staff, ["auditor", "support"])
    kinds = [type(event) for event in await events_of(world, person.staff)]
    assert kinds == [StaffAdded, StaffSignedOut, StaffEnrolled, StaffSignedIn]


async def test_a_one_time_password_is_good_for_enrolling_only(world: World) -> None:
    person = await invited(world, "admin")
    async with browser(world) as new:
        await new.sign_in(person.sign_in_name, person.one_time)
        for path in ("/staff", "/staff/me", "/staff/people"):
            answer = await new.client.get(path)
            assert (answer.status_code, answer.headers["location"][:12]) == (303, "/staff/enrol")
        assert (await new.client.get("/staff/api/me")).json()["code"] == "not_enrolled"


async def test_a_one_time_password_is_void_after_the_enrolment_and_after_its_time(world: World) -> None:
    person = await enrolled(world)
    async with browser(world) as other:
        assert (await other.sign_in(person.sign_in_name, person.one_time, person.code())).status_code == 401
    late = await invited(world)
    world.clock.move(hours(73))
    async with browser(world) as other:
        assert (await other.sign_in(late.sign_in_name, late.one_time)).status_code == 401


async def test_a_password_and_a_code_sign_in_and_the_code_is_good_once(world: World) -> None:
    person = await enrolled(world, "support")
    code = person.code()
    async with browser(world) as first, browser(world) as second:
        answer = await first.sign_in(person.sign_in_name, PASSWORD, code)
        assert (answer.status_code, answer.headers["location"]) == (303, "/staff")
        assert (await second.sign_in(person.sign_in_name, PASSWORD, code)).status_code == 401
        world.clock.move(30)
        assert (await second.sign_in(person.sign_in_name, PASSWORD, person.code())).status_code == 303


async def test_a_code_that_two_use_at_a_time_lets_one_in(world: World) -> None:
    person = await enrolled(world)
    code = person.code()
    async with browser(world, "198.51.100.1") as first, browser(world, "198.51.100.2") as second:
        answers = await asyncio.gather(
            *(one.sign_in(person.sign_in_name, PASSWORD, code) for one in (first, second))
        )
    assert sorted(one.status_code for one in answers) == [303, 401]


async def test_a_recovery_code_stands_for_the_app_once(world: World) -> None:
    person = await enrolled(world)
    async with browser(world) as first:
        assert (await first.sign_in(person.sign_in_name, PASSWORD, person.codes[0])).status_code == 303
        assert "9 recovery codes are left" in (await first.client.get("/staff/me")).text
    async with browser(world) as second:
        assert (await second.sign_in(person.sign_in_name, PASSWORD, person.codes[0])).status_code == 401
        again = person.codes[1].replace("-", " ").upper()
        assert (await second.sign_in(person.sign_in_name, PASSWORD, again)).status_code == 303
    signed_in = [event for event in await events_of(world, person.staff) if isinstance(event, StaffSignedIn)]
    assert [event.with_recovery_code for event in signed_in] == [False, True, True]


async def test_nothing_tells_which_part_was_wrong_nor_whether_a_name_exists(world: World) -> None:
    person = await enrolled(world)
    tries = (
        (person.sign_in_name, "not the password at all", person.code()),
        (person.sign_in_name, PASSWORD, "000000"),
        ("nobody-of-this-name", PASSWORD, person.code()),
        ("not a name!", "x", ""),
    )
    told = set()
    for number, (name, password, code) in enumerate(tries):
        async with browser(world, f"198.51.100.{number + 1}") as one:
            answer = await one.sign_in(name, password, code)
            alert = answer.text.partition('role="alert">')[2].partition("<")[0]
            told.add((answer.status_code, alert, "upcard-staff" in str(answer.headers)))
    assert len(told) == 1
    assert next(iter(told))[0] == 401
    failed = [event for event in await events_of(world, person.staff) if isinstance(event, StaffSignInFailed)]
    assert [event.reason for event in failed] == ["password", "code"]
    assert len(await events_of(world, "unknown")) == 1, "anybody can make as many as they like"
    world.clock.move(60)
    async with browser(world, "198.51.100.9") as one:
        await one.sign_in("nobody-of-this-name", PASSWORD)
    assert len(await events_of(world, "unknown")) == 2


async def test_waits_grow_with_tries_that_fail_also_for_names_that_nobody_has(world: World) -> None:
    person = await enrolled(world)
    for name in (person.sign_in_name, "nobody-of-this-name"):
        told = []
        async with browser(world) as one:
            for _ in range(4):
                answer = await one.sign_in(name, "wrong, and wrong again", "000000")
                told.append((answer.status_code, answer.headers.get("retry-after")))
            world.clock.move(3)
            told += [
                (answer.status_code, answer.headers.get("retry-after"))
                for answer in [await one.sign_in(name, "wrong, and wrong again", "000000") for _ in range(2)]
            ]
        assert told == [(401, None), (401, None), (401, None), (429, "1"), (401, None), (429, "2")], name
        world.clock.move(60)
    # A right sign-in is looked at from elsewhere meanwhile, and forgets what failed.
    async with browser(world, "203.0.113.1") as other:
        assert (await other.sign_in(person.sign_in_name, PASSWORD, person.code())).status_code == 303


async def test_tries_at_the_same_time_are_all_counted(world: World) -> None:
    person = await enrolled(world)

    async def attempt() -> int:
        async with browser(world) as one:
            return (await one.sign_in(person.sign_in_name, "wrong, and wrong again", "000000")).status_code

    statuses = await asyncio.gather(*(attempt() for _ in range(8)))
    assert statuses.count(401) == 3
    assert statuses.count(429) == 5


async def test_an_address_that_tries_many_names_has_to_wait(world: World) -> None:
    async with browser(world) as one:
        statuses = [
            (await one.sign_in(f"name-{number}", "whatever it is", "")).status_code for number in range(24)
        ]
    assert statuses == [401] * 20 + [429] * 4


async def test_an_enrolment_says_what_a_password_lacks(world: World) -> None:
    person = await invited(world, name="Bernadette")
    async with browser(world) as new:
        await new.sign_in(person.sign_in_name, person.one_time)
        page = await new.get("/staff/enrol")
        person.secret = page.text.partition('<code id="secret">')[2].partition("<")[0]
        for password, again, words in (
            ("short", "short", "too short"),
            ("aaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaa", "easy to guess"),
            ("my name is bernadette!", "my name is bernadette!", "easy to guess"),
            (PASSWORD, PASSWORD + "x", "not the same"),
            ("x" * 257, "x" * 257, "too long"),
        ):
            answer = await new.post(
                "/staff/enrol", password=password, password_again=again, code=person.code()
            )
            assert (answer.status_code, words in answer.text) == (422, True), (password, answer.text)
            assert person.secret in answer.text, "the secret stays the same"
        answer = await new.post("/staff/enrol", password=PASSWORD, password_again=PASSWORD, code="000000")
        assert "not the code" in answer.text
        answer = await new.post(
            "/staff/enrol", password=PASSWORD, password_again=PASSWORD, code=person.code()
        )
        assert answer.status_code == 200


async def test_no_page_event_or_table_has_a_secret_in_plain(world: World) -> None:
    person = await enrolled(world)
    async with world.pool.acquire() as connection:
        for table in (
            "staff",
            "staff_people",
            "staff_secrets",
            "staff_recovery_codes",
            "staff_sessions",
            "staff_tries",
        ):
            question = f"SELECT t::text AS whole FROM gateway.{table} AS t"  # noqa: S608 - our own tables
            rows = await connection.fetch(question)
            whole = " ".join(row["whole"] for row in rows)
            for secret in (PASSWORD, person.secret, person.one_time, *person.codes):
                assert secret not in whole, table
    written = str(await world.edge.store.read_stream(f"staff-{person.staff}"))
    for secret in (PASSWORD, person.secret, person.one_time, *person.codes, person.sign_in_name, "Sam Doe"):
        assert secret not in written
