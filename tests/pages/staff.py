"""Members of staff in a browser: added as `upcard staff add` does, enrolled on the pages like a person.

member = await signed_in(house, page, "shift_manager")
await page.goto(f"{house.url}/staff/floor")
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field

import pyotp
from playwright.async_api import Page, expect

from servicekit.grpc import acting_as, open_channel
from tests.end_to_end.gateway.processes import ADMIN, CALL_S, WAIT_S, fresh
from tests.pages.house import RunningHouse
from upcard.gateway.v1 import staff_pb2 as pb
from upcard.gateway.v1.staff_pb2_grpc import StaffServiceStub


@dataclass
class StaffInBrowser:
    """A member, and what lets them in again."""

    staff: str
    sign_in_name: str
    password: str = field(repr=False)
    secret: str = field(default="", repr=False)
    """Of the second factor, in base32."""
    recovery_codes: tuple[str, ...] = field(default=(), repr=False)
    """Each lets in once, in place of a code: a code's half minute is good for one sign-in only."""


async def added(house: RunningHouse, *roles: str, name: str = "Sam Doe") -> StaffInBrowser:
    """A new member, whose password is the one-time one."""
    fleet = house.edge.fleet
    service = pb.DESCRIPTOR.services_by_name["StaffService"]
    request = pb.AddStaffRequest(
        request_id=fresh(),
        sign_in_name=f"staff-{secrets.token_hex(4)}",
        name=name,
        roles=roles,
        reason="a test of pages",
    )
    channel = open_channel(
        fleet.address("gateway"), audience="gateway", services=[service], signer=fleet.gateway.signer()
    )
    async with channel as opened:
        await opened.wait_serving(WAIT_S)
        with acting_as(ADMIN):
            answer = await StaffServiceStub(opened).AddStaff(request, timeout=CALL_S)
    assert answer.HasField("invited"), answer
    return StaffInBrowser(answer.invited.member.staff, request.sign_in_name, answer.invited.one_time_password)


async def enrolled(house: RunningHouse, page: Page, member: StaffInBrowser) -> None:
    """Sign a new member in for the first time: a password of their own and the second factor."""
    await page.goto(f"{house.url}/staff/sign-in")
    await page.locator("#name").fill(member.sign_in_name)
    await page.locator("#password").fill(member.password)
    await page.locator("main form button").click()
    member.secret = await page.locator("#secret").inner_text()
    member.password = f"long enough {secrets.token_hex(8)}"
    await page.locator("#password").fill(member.password)
    await page.locator("#password_again").fill(member.password)
    await page.locator("#code").fill(pyotp.TOTP(member.secret).now())
    await page.locator("main form button").click()
    await expect(page.locator("#codes li").first).to_be_visible()
    member.recovery_codes = tuple(await page.locator("#codes li").all_inner_texts())


async def signed_in(house: RunningHouse, page: Page, *roles: str, name: str = "Sam Doe") -> StaffInBrowser:
    """A new member with these roles, signed in on this page."""
    member = await added(house, *roles, name=name)
    await enrolled(house, page, member)
    return member
