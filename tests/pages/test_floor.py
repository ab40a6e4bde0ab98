"""The floor works in Chromium, on real services: limits, a round that is watched and mended by two people."""

from __future__ import annotations

import pytest
from playwright.async_api import Page, expect

from tests.end_to_end.gateway.dealing import ante
from tests.end_to_end.gateway.processes import CURRENCY
from tests.pages.chromium import WAIT_MS, Browsing
from tests.pages.house import RunningHouse
from tests.pages.staff import signed_in
from upcard_gateway.app.boards_text import amount_text

pytestmark = pytest.mark.pages

TABLE = "p-floor"


async def said(page: Page, text: str) -> None:
    """Wait until the page says so."""
    await expect(page.locator("main")).to_contain_text(text, timeout=WAIT_MS)


async def pressed(page: Page, name: str) -> None:
    """Press a button or link by its words."""
    await page.get_by_role("button", name=name).or_(page.get_by_role("link", name=name)).first.click()


async def test_limits_are_changed_with_the_difference_before_ones_eyes(
    browser: Browsing, house: RunningHouse
) -> None:
    await house.table(TABLE)
    page = await browser.page()
    await signed_in(house, page, "shift_manager", name="Mia Manager")
    await page.goto(f"{house.url}/staff/floor")
    await expect(page.locator("#floor-tables")).to_contain_text(TABLE, timeout=WAIT_MS)
    await browser.both(page, "floor-tables")
    await page.locator(f"a[href='/staff/floor/tables/{TABLE}']").first.click()
    await page.keyboard.press("l")
    await page.locator("[name='betting_ms']").fill("soon")
    await pressed(page, "Look at the difference")
    browser.allow("status of 422")
    await said(page, "Seconds, such as 20 or 1.5.")
    await page.locator("[name='betting_ms']").fill("5.5")
    await pressed(page, "Look at the difference")
    await said(page, "5.5")
    await page.locator("[name='reason']").fill("a slow evening")
    await browser.both(page, "floor-difference")
    await pressed(page, "Change it")
    await said(page, "The change counts from the next round on.")
    await said(page, "5.5 s")


async def test_a_round_is_watched_found_and_corrected_by_two(browser: Browsing, house: RunningHouse) -> None:
    table = await house.table(TABLE)
    player = (await house.launched("floor-player", money=100_000)).player_ref
    page = await browser.page()
    await signed_in(house, page, "operations", name="Otto Operator")
    other = await browser.page()  # enrolled before the proposal, else the approval is refused
    await signed_in(house, other, "admin", name="Ada Admin")
    await page.goto(f"{house.url}/staff/floor/tables/{TABLE}")

    async def bet(number: int) -> None:
        assert await table.bet(number, player, ante(2)) == "accepted"
        await expect(page.locator("#table-now")).to_contain_text("Betting", timeout=WAIT_MS)
        await expect(page.locator("#table-bets")).to_contain_text(player, timeout=WAIT_MS)
        await browser.both(page, "floor-table-betting")

    async def choose(number: int) -> None:
        assert await table.choose_bet(number, player, 2) == "accepted"

    number = await table.play({"betting": bet, "options": choose})
    await expect(page.locator("#table-timeline")).to_contain_text("Settled", timeout=WAIT_MS)
    await browser.both(page, "floor-table-settled")

    await page.goto(f"{house.url}/staff/find")
    await page.locator("#find-box").fill(f"{TABLE}.{number}")
    await page.keyboard.press("Enter")
    await said(page, "Every event")
    await said(page, "What the wallet did")
    await browser.both(page, "floor-round", whole=False)
    await pressed(page, "Correct")
    await page.locator("#f-slug").select_option("wrong_result")
    await page.locator("[name='refund']").check()
    await page.locator("#f-reason").fill("the wrong hand was paid")
    await pressed(page, "Show the effect")
    await said(page, "What it changes")
    await browser.both(page, "floor-effect")
    await pressed(page, "Propose this correction")
    await said(page, "Another person has to approve it.")

    await other.goto(f"{house.url}/staff/floor/corrections")
    await other.locator("[name='reason']").first.fill("seen on the recording")
    await pressed(other, "Approve, and correct the round")
    await said(other, "The round is corrected.")
    await browser.both(other, "floor-corrections")
    for _ in range(20):
        await other.goto(f"{house.url}/staff/significant?round={TABLE}.{number}&kind=round_corrected")
        if await other.locator("tbody tr").count():
            break
        await other.wait_for_timeout(500)
    await expect(other.locator("tbody tr")).to_have_count(1)
    await other.goto(f"{house.url}/staff/players/{player}")
    await said(other, amount_text(0, CURRENCY))
    await browser.both(other, "floor-player")


async def test_a_round_is_cancelled_from_the_tables_page(browser: Browsing, house: RunningHouse) -> None:
    table = await house.table(TABLE)
    page = await browser.page()
    await signed_in(house, page, "shift_manager", name="Mia Manager")
    number = await table.open_round()
    await page.goto(f"{house.url}/staff/floor/tables/{TABLE}")
    await expect(page.locator("#table-now")).to_contain_text("round runs", timeout=WAIT_MS)
    await page.keyboard.press("x")
    await page.locator("#f-slug").select_option("dealer_mistake")
    await page.locator("#f-reason").fill("the dealer dropped the shoe")
    await browser.both(page, "floor-cancel")
    await page.locator("main form button.danger").click()
    await said(page, "The round is cancelled")
    await page.goto(f"{house.url}/staff/floor")
    await expect(page.locator("#floor-latest")).to_contain_text("Round cancelled", timeout=WAIT_MS)
    await expect(page.locator("#floor-latest")).to_contain_text(f"{TABLE}.{number}", timeout=WAIT_MS)
