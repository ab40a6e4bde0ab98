"""A player in a browser, on real services: dealer and shoe reader are driven by the test."""

from __future__ import annotations

import asyncio

import pytest
from playwright.async_api import Page, WebSocketRoute, expect

from tests.pages.chromium import NARROW, Browsing
from tests.pages.house import RunningHouse

pytestmark = pytest.mark.pages

MONEY = 100_000


async def come_in(page: Page, house: RunningHouse, player: str, table: str) -> None:
    """Follow a launch link and sit down."""
    launched = await house.launched(player, money=MONEY)
    await page.goto(launched.launch_url)
    await page.locator(f'[data-k="join-{table}"]').click()
    await expect(page.locator("#place")).to_have_text(table)


async def test_a_whole_round_is_played(browser: Browsing, house: RunningHouse) -> None:
    table = await house.table("by-hand")
    page = await browser.page()
    await come_in(page, house, "p-round", "by-hand")
    assert "launch_token" not in page.url
    await expect(page.locator("#balance")).to_have_text("1,000.00 EUR")
    playing = asyncio.create_task(table.play({}))
    await expect(page.locator("#window-name")).to_have_text("Place your bets")
    await page.get_by_role("radio", name="Chip 2.00 EUR").click()
    await page.get_by_role("button", name="Add 2.00 EUR to Ante, box 2").click()
    await expect(page.locator("#said")).to_contain_text("Bet accepted")
    await page.get_by_role("button", name="Add 2.00 EUR to Bonus B, box 2").click()
    await expect(page.get_by_label("Box 2", exact=True)).to_contain_text("yours")
    await expect(page.locator("#staked")).to_have_text("4.00")
    await browser.both(page, "real-betting", whole=False)
    await expect(page.get_by_role("button", name="Bet 4.00 EUR")).to_be_visible()
    await expect(page.get_by_label("Box 2", exact=True)).to_contain_text("aces")
    await browser.both(page, "real-options", whole=False)
    await page.get_by_role("button", name="Bet 4.00 EUR").click()
    await expect(page.locator("#act")).to_contain_text("You win")
    # The bet pays 2:1 for a pair of aces and ace-king, bonus B pays 1:1 for ace-king: 8.00 + 2.00.
    await expect(page.locator("#act")).to_contain_text("+10.00")
    await expect(page.locator("#balance")).to_have_text("1,010.00 EUR")
    await expect(page.locator("#dealer")).to_contain_text("game")
    await browser.both(page, "real-settled", whole=False)
    number = await playing
    await page.get_by_role("button", name="My rounds").click()
    await expect(page.get_by_role("dialog").locator("tbody tr").first).to_contain_text(str(number))
    await browser.picture(page, "real-history", whole=False)
    await page.keyboard.press("Escape")
    await page.get_by_role("button", name="Statement").click()
    await expect(page.get_by_role("dialog")).to_contain_text("Paid in")
    await page.keyboard.press("Escape")
    await page.get_by_role("button", name="Rules and limits").click()
    await expect(page.get_by_role("dialog").get_by_role("heading", level=3).first).to_be_visible()
    await browser.both(page, "real-rules", whole=False)


async def test_a_connection_that_is_lost_in_a_round_goes_on(browser: Browsing, house: RunningHouse) -> None:
    table = await house.table("lost-line")
    page = await browser.page(size=NARROW)
    lines: list[WebSocketRoute] = []

    def passed_on(line: WebSocketRoute) -> None:
        line.connect_to_server()
        lines.append(line)

    await page.route_web_socket("**/play/ws", passed_on)
    await come_in(page, house, "p-lost", "lost-line")
    playing = asyncio.create_task(table.play({}))
    await page.get_by_role("button", name="Add 1.00 EUR to Ante, box 2").click()
    await expect(page.locator("#staked")).to_have_text("1.00")
    await lines[-1].close()
    await expect(page.locator("#lost")).to_be_visible()
    await expect(page.locator("#lost")).to_be_hidden()
    assert len(lines) >= 2
    await page.get_by_role("button", name="Exchange").click()
    await page.get_by_role("button", name="Change card 5").click()
    await page.get_by_role("button", name="Exchange 1 for 1.00 EUR").click()
    await expect(page.get_by_label("Box 2", exact=True)).to_contain_text("exchange")
    await expect(page.get_by_role("button", name="Bet 2.00 EUR")).to_be_visible()
    await browser.both(page, "real-finals-narrow")
    await lines[-1].close()
    await expect(page.locator("#lost")).to_be_hidden()
    await page.get_by_role("button", name="Bet 2.00 EUR").click()
    await expect(page.locator("#act")).to_contain_text("Staked 4.00 EUR")
    await playing


async def test_a_second_window_takes_over(browser: Browsing, house: RunningHouse) -> None:
    await house.table("taken-over")
    first = await browser.page()
    await come_in(first, house, "p-twice", "taken-over")
    kept = await first.evaluate("sessionStorage.getItem('upcard.play')")
    second = await browser.page(beside=first)
    await second.goto(f"{house.url}/static/play.css")
    await second.evaluate("(kept) => sessionStorage.setItem('upcard.play', kept)", kept)
    await second.goto(f"{house.url}/play")
    await expect(second.locator("#place")).to_have_text("taken-over")
    await expect(first.get_by_role("heading", name="The session is over")).to_be_visible()
    await browser.picture(first, "real-taken-over", whole=False)
    await expect(second.locator("#balance")).to_have_text("1,000.00 EUR")
    await first.get_by_role("button", name="Go on here").click()
    await expect(first.locator("#balance")).to_have_text("1,000.00 EUR")
    await expect(second.get_by_role("heading", name="The session is over")).to_be_visible()


async def test_whoever_is_not_signed_in_looks_on(browser: Browsing, house: RunningHouse) -> None:
    await house.table("looked-at")
    page = await browser.page()
    await page.goto(f"{house.url}/play?table=looked-at")
    await expect(page.locator("#place")).to_have_text("looked-at")
    await expect(page.locator("#viewing-text")).to_contain_text("left")
    await expect(page.get_by_text("To play, open the game from your casino.")).to_be_visible()
    await browser.both(page, "real-viewing", whole=False)
