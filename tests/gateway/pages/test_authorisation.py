"""Every page says who may open it, and lets in nobody else."""

from __future__ import annotations

import contextlib
import re

import pytest

from tests.gateway.pages.authorisation import ANYONE, PAGES, SIGNED_IN
from tests.gateway.pages.signed_in import signed_in
from tests.gateway.world import World
from upcard_gateway.domain.staff import ROLES, Role

GUARDED = {line: who for line, who in PAGES.items() if who != ANYONE}


def asked(line: str) -> tuple[str, str]:
    """A method and a path of a line of the table, with ids in place of names."""
    method, _, path = line.partition(" ")
    return method, re.sub(r"\{[^}]*\}", "x1", path)


def test_nothing_of_staff_is_for_anyone_but_the_way_in() -> None:
    """What a member does without being signed in is signing in, and out."""
    ways = ("/staff/sign-in", "/staff/locked", "/staff/enrol", "/staff/sign-out", "/static/{name}")
    assert {asked(line)[1] for line, who in PAGES.items() if who == ANYONE} == {
        asked(f"GET {way}")[1] for way in ways
    }


async def test_a_page_lets_nobody_in_who_is_not_signed_in(world: World) -> None:
    client = await world.client()
    for line in GUARDED:
        method, path = asked(line)
        answer = await client.request(method, path)
        if path.startswith("/staff/api/"):
            assert (answer.status_code, answer.json()["code"]) == (401, "not_signed_in"), line
        else:
            assert answer.status_code == 303, line
            assert answer.headers["location"].startswith("/staff/sign-in"), line


@pytest.mark.parametrize("role", ROLES)
async def test_a_page_lets_in_the_roles_it_says_and_no_other(world: World, role: Role) -> None:
    async with signed_in(world, role) as staff:
        for line, who in GUARDED.items():
            method, path = asked(line)
            if path == "/staff/lock":
                continue  # it would be the last that is asked
            if path.endswith("/live") and method == "GET" and (who == SIGNED_IN or role in who):
                continue  # a stream; that it begins is tested where it is
            # Without the form's fields nothing is done; who is let in is told that these are missing.
            answer = await staff.client.request(method, path)
            missing = "role_missing" in answer.text or "Your roles do not let you do this" in answer.text
            may = who == SIGNED_IN or role in who
            assert (answer.status_code == 403 and missing) is not may, (line, role, answer.status_code)


@pytest.mark.parametrize("role", ROLES)
async def test_what_changes_something_takes_no_form_from_elsewhere(world: World, role: Role) -> None:
    lines = [
        line for line, who in GUARDED.items() if line.startswith("POST") and (who == SIGNED_IN or role in who)
    ]
    async with signed_in(world, role) as staff:
        for line in lines:
            path = asked(line)[1]
            for headers, csrf in (
                ({"Sec-Fetch-Site": "cross-site"}, staff.csrf),
                ({"Origin": "https://elsewhere.example"}, staff.csrf),
                ({}, "0" * 64),
                ({}, ""),
            ):
                form = {"csrf": csrf, "reason": "a reason", "request_id": "r-12345678"}
                if path.startswith("/staff/api/"):
                    more = {**headers, "Upcard-Csrf": csrf}
                    answer = await staff.client.post(path, json={}, headers=more)
                else:
                    answer = await staff.client.post(path, data=form, headers=headers)
                assert answer.status_code in {403, 422}, (
                    line,
                    headers,
                    answer.status_code,
                    answer.text[-500:],
                )
                if answer.status_code == 422:
                    assert path.startswith("/staff/api/"), (
                        line,
                        "the body was looked at before the form's token",
                    )


async def test_a_locked_session_opens_nothing(world: World) -> None:
    async with contextlib.AsyncExitStack() as stack:
        staff = await stack.enter_async_context(signed_in(world, *ROLES))
        await staff.post("/staff/lock")
        for line in GUARDED:
            method, path = asked(line)
            answer = await staff.client.request(method, path)
            told = answer.headers.get("location", "") if answer.status_code == 303 else answer.text
            assert answer.status_code in {303, 401}, line
            assert "locked" in told, line


async def test_a_role_that_is_taken_is_gone_at_the_next_request(world: World) -> None:
    async with signed_in(world, "admin") as admin, signed_in(world, "admin") as other:
        assert (await other.client.get("/staff/people")).status_code == 200
        path = f"/staff/people/{other.member.staff}/roles"
        answer = await admin.post(path, {"role": "support", "reason": "moves to another desk"})
        assert answer.status_code == 303, answer.text
        assert (await other.client.get("/staff/people")).status_code == 403
        assert (await other.client.get("/staff/me")).status_code == 200
