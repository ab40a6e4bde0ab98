"""The browser itself, and the pages that everyone may open."""

from __future__ import annotations

import pytest
from playwright.async_api import Route

from tests.pages.chromium import Browsing
from tests.pages.house import RunningHouse

pytestmark = pytest.mark.pages


async def test_a_complaint_of_a_page_is_kept_unless_it_is_meant(browser: Browsing) -> None:
    page = await browser.page()
    await page.goto("data:text/html,<title>x</title><script>console.error('oh'); throw Error('no')</script>")
    assert any("oh" in one for one in browser.complaints)
    assert any("no" in one for one in browser.complaints)
    browser.allow("oh", "no")
    assert browser.unexpected() == []


async def test_a_violation_of_the_policy_is_a_complaint(browser: Browsing) -> None:
    page = await browser.page()

    async def strict(route: Route) -> None:
        await route.fulfill(
            body="<title>x</title><p style='color:red'>x</p>",
            content_type="text/html",
            headers={"Content-Security-Policy": "default-src 'none'"},
        )

    await page.route("http://x.test/", strict)
    await page.goto("http://x.test/")
    await page.wait_for_timeout(100)
    assert any("ontent" in one and "ecurity" in one for one in browser.unexpected()), browser.complaints
    browser.allow("ecurity")


async def test_the_house_runs(browser: Browsing, house: RunningHouse) -> None:
    launched = await house.launched("p-look", money=50_000)
    assert launched.launch_url.startswith(house.url)
    table = await house.table("looks-1")
    assert await table.open_round() == 1
    page = await browser.page()
    answer = await page.goto(f"{house.url}/healthz")
    assert answer is not None
    browser.allow("status of 404")
