"""Operations in a browser, on real services: everything at a glance, by keyboard, and the money."""

from __future__ import annotations

import pytest
from playwright.async_api import Page, expect

from tests.end_to_end.gateway.processes import SEAMLESS
from tests.pages import staff
from tests.pages.chromium import NARROW, Browsing
from tests.pages.house import RunningHouse

pytestmark = pytest.mark.pages


async def test_health_shows_every_service_and_goes_by_keyboard(
    browser: Browsing, house: RunningHouse
) -> None:
    page = await browser.page()
    await staff.signed_in(house, page, "operations", name="Robin Vega")
    await page.goto(f"{house.url}/staff/health")
    services = page.locator("#services tbody tr")
    await expect(services).to_have_count(5)
    for name in ("Tables", "Wallet", "Bonus", "History", "Gateway"):
        row = services.filter(has_text=name)
        await expect(row).to_contain_text("ready")
        await expect(row).to_contain_text("1 of 1")
    lags = page.locator("#lags tbody tr")
    for what in ("publishes to upcard.table.v1", "follows table", "follows bonus"):
        await expect(lags.filter(has_text=what).first).to_be_visible()
    await expect(page.locator("#partners")).to_contain_text(SEAMLESS)
    await browser.both(page, "health-real")
    await page.keyboard.press("2")
    await expect(page.get_by_role("heading", name="Parked events")).to_be_visible()
    await expect(page.locator("main")).to_contain_text("Nothing is parked.")
    await expect(page.locator("main")).not_to_contain_text("No answer from")
    await page.keyboard.press("3")
    await expect(page.get_by_role("heading", name="Dead letters")).to_be_visible()
    await expect(page.locator("main")).to_contain_text("There are no dead letters.")
    await page.keyboard.press("4")
    await expect(page.get_by_role("heading", name="Bets gone wrong")).to_be_visible()
    await page.goto(f"{house.url}/staff/health/partners/{SEAMLESS}")
    await expect(page.get_by_role("heading", name=SEAMLESS)).to_be_visible()


async def test_the_money_of_a_round_is_shown(browser: Browsing, house: RunningHouse) -> None:
    page = await browser.page()
    await staff.signed_in(house, page, "auditor", name="Kim Ode")
    await page.goto(f"{house.url}/staff/money?by=table&span=24h")
    await expect(page.get_by_role("heading", name="Money")).to_be_visible()
    await expect(page.locator("#invariants")).to_contain_text("All invariants hold.")
    await expect(page.locator("#jackpots")).not_to_contain_text("cannot be read")
    await _pictures_are_drawn(page)
    await browser.both(page, "money-real")
    narrow = await browser.page(size=NARROW)
    await staff.signed_in(house, narrow, "auditor")
    await narrow.goto(f"{house.url}/staff/money")
    # Tables scroll by themselves; the page does not.
    wide = await narrow.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    assert wide <= 1
    await browser.picture(narrow, "money-real-narrow")


async def _pictures_are_drawn(page: Page) -> None:
    """Every plot that is shown has a size of its own, which one that the policy blocks has not."""
    drawn = await page.evaluate(
        "[...document.querySelectorAll('img.plot')].map((one) => one.complete && one.naturalWidth > 0)"
    )
    assert all(drawn)
