"""Who waits after tries that failed, and who must not: one address is a whole studio's."""

from __future__ import annotations

import ipaddress

import pytest

from tests.gateway.staff.people import PASSWORD, browser, enrolled, staffing
from tests.gateway.world import World
from upcard_gateway.adapters.passwords import Passwords, TooManyAtOnce
from upcard_gateway.adapters.postgres.staff_tries import PostgresTries
from upcard_gateway.app.staff_proofs import Checks
from upcard_gateway.app.staff_signing_in import Entering, SigningIn, Times
from upcard_gateway.domain.addresses import bucket_of
from upcard_gateway.entrypoints.http.limits import RateLimit

WRONG = "wrong, and wrong again"


async def failing(world: World, address: str, count: int, *, every_s: float = 0.0) -> list[int]:
    """The statuses of so many sign-ins at an address, each of another name."""
    told = []
    async with browser(world, address) as one:
        for number in range(count):
            world.clock.move(every_s)
            told.append((await one.sign_in(f"name-{number}-{world.clock().timestamp()}", WRONG)).status_code)
    return told


async def test_a_place_forgets_what_failed_there_bit_by_bit(world: World) -> None:
    assert await failing(world, "198.51.100.20", 21) == [401] * 20 + [429]
    world.clock.move(600)
    assert await failing(world, "198.51.100.20", 11) == [401] * 10 + [429], "ten minutes are ten of them"


async def test_a_place_where_people_try_all_day_forgets_as_well(world: World) -> None:
    assert await failing(world, "198.51.100.20", 33, every_s=50.0) == [401] * 33


async def test_nobody_elses_tries_keep_a_locked_session_from_going_on(world: World) -> None:
    person = await enrolled(world, "dealer")
    async with browser(world) as one, browser(world, "203.0.113.7") as other:
        await one.sign_in(person.sign_in_name, PASSWORD, person.code())
        await one.get("/staff/me")
        await one.post("/staff/lock")
        for _ in range(12):
            await other.sign_in(person.sign_in_name, WRONG)
            world.clock.move(3)
        assert await failing(world, "198.51.100.20", 21) == [401] * 20 + [429], "their own place waits too"
        await one.get("/staff/locked")
        assert (await one.post("/staff/locked", password=PASSWORD)).status_code == 303


async def test_nobody_elses_tries_keep_a_member_out_of_where_they_always_are(world: World) -> None:
    person = await enrolled(world)
    async with browser(world) as usual:
        assert (await usual.sign_in(person.sign_in_name, PASSWORD, person.code())).status_code == 303
    for number in range(12):
        async with browser(world, f"203.0.113.{number}") as other:
            await other.sign_in(person.sign_in_name, WRONG)
    async with browser(world, "203.0.113.99") as other, browser(world) as usual:
        assert (await other.sign_in(person.sign_in_name, WRONG)).status_code == 429
        assert (await usual.sign_in(person.sign_in_name, PASSWORD, person.codes[0])).status_code == 303


async def test_a_locked_session_makes_its_own_tries_wait(world: World) -> None:
    person = await enrolled(world)
    async with browser(world) as one:
        await one.sign_in(person.sign_in_name, PASSWORD, person.code())
        await one.get("/staff/me")
        await one.post("/staff/lock")
        await one.get("/staff/locked")
        told = [(await one.post("/staff/locked", password=WRONG)).status_code for _ in range(6)]
        assert told == [401] * 5 + [429]
        world.clock.move(1)
        assert (await one.post("/staff/locked", password=PASSWORD)).status_code == 303


async def test_all_addresses_of_a_network_are_one(world: World) -> None:
    assert await failing(world, "2001:db8:0:1::1", 20) == [401] * 20
    assert await failing(world, "2001:db8:0:1:ffff::2", 1) == [429]
    assert await failing(world, "2001:db8:0:2::1", 1) == [401]


def test_what_is_counted_as_one_address() -> None:
    assert bucket_of(ipaddress.ip_address("198.51.100.20")) == "198.51.100.20"
    assert bucket_of(ipaddress.ip_address("2001:db8:0:1:2:3:4:5")) == "2001:db8:0:1::/64"
    assert not bucket_of(None)


@pytest.mark.parametrize(("path", "rates"), [("/v1/launch", "launch_rates"), ("/play", "play_rates")])
async def test_what_everybody_may_call_counts_a_network_once(world: World, path: str, rates: str) -> None:
    setattr(world.app.state, rates, RateLimit(lambda: 0.0))
    told = []
    for number in range(101):
        async with browser(world, f"2001:db8::{number + 1:x}") as one:
            answer = await (one.client.post(path, json={}) if path == "/v1/launch" else one.client.get(path))
            told.append(answer.status_code == 429)
    assert told == [False] * 100 + [True]


class Crowded(Passwords):
    """A sign-in that more people are at than it has room for."""

    async def matches(self, kept: str | None, password: str) -> bool:
        del kept, password
        raise TooManyAtOnce


async def test_a_crowd_at_the_sign_in_keeps_no_locked_session_from_going_on(world: World) -> None:
    person = await enrolled(world)
    use = staffing(world)
    async with browser(world) as one:
        await one.sign_in(person.sign_in_name, PASSWORD, person.code())
        await one.get("/staff/me")
        await one.post("/staff/lock")
        token = one.client.cookies["upcard-staff"]
    quick = {"memory_kib": 8_192, "passes": 1, "at_a_time": 1}
    checks = Checks(signing_in=Crowded(**quick), unlocking=Passwords(**quick))
    crowded = SigningIn(use.log, use.tables, use.sessions, PostgresTries(), checks, use.totp, Times(3_600, 5))
    with pytest.raises(TooManyAtOnce):
        await crowded.sign_in(Entering(person.sign_in_name, PASSWORD, "", "", "", ""))
    standing = await use.door.standing(token, passive=True)
    assert standing is not None
    assert await crowded.unlock(standing, PASSWORD) is True
