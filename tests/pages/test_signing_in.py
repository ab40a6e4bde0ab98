"""Staff sign in, enrol and sign out in a browser."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.pages import staff
from tests.pages.chromium import Browsing
from tests.pages.house import RunningHouse

pytestmark = pytest.mark.pages


async def test_a_new_member_enrols_signs_out_and_comes_back(browser: Browsing, house: RunningHouse) -> None:
    member = await staff.added(house, "admin")
    page = await browser.page()
    await page.goto(f"{house.url}/staff/sign-in")
    await browser.both(page, "staff-sign-in", whole=False)
    browser.allow("status of 401")
    await page.locator("#name").fill(member.sign_in_name)
    await page.locator("#password").fill("not the password")
    await page.locator("main form button").click()
    await expect(page.get_by_role("alert")).to_be_visible()
    await staff.enrolled(house, page, member)
    await browser.both(page, "staff-enrolled", whole=False)
    await page.locator("main .actions a").click()
    await expect(page.locator(".me")).to_have_text("Sam Doe")
    await page.goto(f"{house.url}/staff/people")
    await browser.both(page, "staff-people", whole=False)
    await page.goto(f"{house.url}/staff/me")
    await browser.both(page, "staff-me", whole=False)
    await page.get_by_role("button", name="Sign out").click()
    await expect(page.locator("#name")).to_be_visible()
    await page.locator("#name").fill(member.sign_in_name)
    await page.locator("#password").fill(member.password)
    await page.locator("#code").fill(member.recovery_codes[0])
    await page.locator("main form button").click()
    await expect(page.locator(".me")).to_have_text("Sam Doe")
