"""A dealer works at the console in Chromium, on real services: with the shoe reader, and by hand."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import pytest
import pytest_asyncio
from playwright.async_api import Locator, Page, expect

from rules_core.cards import CARD_TEXTS
from servicekit.grpc import open_channel
from tests.end_to_end.gateway.dealing import ScriptedTable, ante
from tests.end_to_end.gateway.processes import WAIT_S, fresh
from tests.pages.chromium import NARROW, WAIT_MS, Browsing
from tests.pages.house import RunningHouse
from upcard.gateway.v1 import staff_pb2
from upcard.gateway.v1.staff_pb2_grpc import StaffServiceStub
from upcard_operate.demo.house import open_table
from upcard_operate.demo.pages import Staff
from upcard_operate.demo.reader_process import ReaderProcess
from upcard_operate.demo.staffing import Hire, add_staff, enrol

pytestmark = pytest.mark.pages

SERVICE: Final = staff_pb2.DESCRIPTOR.services_by_name["StaffService"]
SEED: Final = 20_260_131
RANKS: Final = {"T": "10"}


@pytest_asyncio.fixture(loop_scope="session")
async def dealer(house: RunningHouse) -> AsyncIterator[Staff]:
    """Somebody with the role dealer, enrolled and signed in."""
    fleet = house.edge.fleet
    async with (
        open_channel(
            fleet.address("gateway"), audience="gateway", services=[SERVICE], signer=fleet.gateway.signer()
        ) as channel,
        Staff(house.url) as staff,
    ):
        await channel.wait_serving(WAIT_S)
        hire = Hire(f"dana.{fresh()[:8]}", ("dealer",), "deals")
        await enrol(staff, await add_staff(StaffServiceStub(channel), hire))
        yield staff


async def console(browser: Browsing, house: RunningHouse, staff: Staff, table: str) -> Page:
    """The list of tables, and from there the console."""
    page = await browser.page()
    host = urlsplit(house.url).hostname or ""
    await page.context.add_cookies(
        [
            {"name": one.name, "value": one.value or "", "domain": host, "path": "/"}
            for one in staff.client.cookies.jar
        ]
    )
    await page.goto(f"{house.url}/staff/dealer")
    await page.locator("a", has_text=table).or_(page.locator(f"a[href$='/{table}']")).first.click()
    return page


async def opened(house: RunningHouse, name: str) -> tuple[ScriptedTable, str]:
    """A table that the floor has opened, where nobody deals yet; a player with money."""
    table = ScriptedTable(house.edge.casino, name)
    table._config.name = name
    # Open until everybody has decided: pictures take their time.
    table._config.durations.options_ms = 60_000
    await open_table(house.edge.casino, name, table._config)
    launched = await house.launched(f"player-{name}", money=100_000)
    return table, launched.player_ref


def title(page: Page) -> Locator:
    """What is to be done next."""
    return page.locator(".next-title")


async def says(page: Page, text: str) -> None:
    """Wait until the console says so."""
    await expect(title(page)).to_contain_text(text, timeout=WAIT_MS)


async def press(page: Page, key: str) -> None:
    """Press a key once the console has the answer to the act before: until then its buttons rest."""
    await expect(page.locator("[data-dealer]:not([data-working])")).to_have_count(1, timeout=WAIT_MS)
    await page.keyboard.press(key)


async def prepared(page: Page, deck: str) -> None:
    """Sign in, bring a deck, verify and shuffle it; by the keyboard."""
    await says(page, "Sign in at this table")
    await press(page, "n")
    await says(page, "Bring a deck")
    await page.keyboard.press("k")
    await page.keyboard.type(deck)
    await page.keyboard.press("Enter")
    await says(page, "Verify the deck")
    await page.keyboard.press("Escape")
    await press(page, "n")
    await says(page, "Shuffle the deck")
    await press(page, "n")
    await says(page, "Open the next round")


async def test_a_round_with_the_shoe_reader(
    browser: Browsing, house: RunningHouse, dealer: Staff, tmp_path: Path
) -> None:
    table, player = await opened(house, "p-reader")
    page = await console(browser, house, dealer, "p-reader")
    await prepared(page, "deck-1")
    await browser.both(page, "dealer-open-round")
    with ReaderProcess(
        tmp_path,
        house.edge.fleet.shoe,
        table_address=house.edge.fleet.address("table"),
        tables=["p-reader"],
        seed=SEED,
        card_s=0.4,
    ):
        await press(page, "n")
        await says(page, "Betting is open")
        assert await table.bet(1, player, ante(1), ante(2)) == "accepted"
        await expect(page.locator("[data-closes-at]")).to_contain_text("s")
        await says(page, "the shoe reader reads")
        await expect(page.locator(".felt .card-face.awaited")).to_have_count(1)
        assert await page.locator("#lay-card").count() == 0, "nobody types what a reader reads"
        await browser.both(page, "dealer-reading")
        await says(page, "The players decide")
        await browser.both(page, "dealer-deciding")
        assert await table.choose_bet(1, player, 2) == "accepted"
        await says(page, "Shuffle the deck")
    await expect(page.locator(".felt .card-face.back")).to_have_count(0)
    await browser.both(page, "dealer-round-over")


async def test_a_round_by_hand(browser: Browsing, house: RunningHouse, dealer: Staff) -> None:
    table, player = await opened(house, "p-by-hand")
    page = await console(browser, house, dealer, "p-by-hand")
    await prepared(page, "deck-2")
    await press(page, "m")
    await page.get_by_label("The shoe reader does not work").check()
    await page.locator("#manual-dialog button.primary").click()
    await expect(page.locator(".badge.warn", has_text="By hand")).to_be_visible()
    await press(page, "n")
    await says(page, "Betting is open")
    assert await table.bet(1, player, ante(1)) == "accepted"
    cards = iter(CARD_TEXTS)
    typed = False
    await expect(title(page)).to_contain_text("Lay the card", timeout=WAIT_MS)
    while "Confirm" not in (said := await title(page).inner_text()):
        place = await page.locator(".next-place strong").inner_text()
        await expect(page.locator("[data-dealer]:not([data-working])")).to_have_count(1, timeout=WAIT_MS)
        if "face down" in said:
            await page.locator("button[data-act=lay_card]").first.click()
        elif typed:
            card = next(cards)
            await page.locator(f".next .card-grid button[data-card='{card}']").click()
        else:
            await browser.both(page, "dealer-by-hand")
            card = next(cards)
            await page.locator("#lay-card").fill(RANKS.get(card[0], card[0]) + card[1].upper())
            await page.keyboard.press("Enter")
            typed = True
        await expect(page.locator(".next-place strong", has_text=place)).to_have_count(0, timeout=WAIT_MS)
    await page.locator(".felt button[data-correct]").first.click()
    await page.locator("#correct-dialog button[data-card='As']").click()
    await expect(page.locator(".felt [aria-label='Correct: Ace of spades']")).to_have_count(1)
    await page.locator("#confirm-form button.primary").click()
    told = page.locator("#dealer-told")
    await expect(told).to_contain_text("Name the card that lies here")
    fields = page.locator("#confirm-names input")
    await expect(fields.first).to_be_visible()
    for index in range(await fields.count()):
        await fields.nth(index).fill(next(cards))
    await page.wait_for_timeout(1_000)
    assert await fields.first.input_value(), "what was typed stays while the page goes on"
    await browser.both(page, "dealer-naming")
    await page.locator("#confirm-form button.primary").click()
    await says(page, "Shuffle the deck")
    await press(page, "m")
    await expect(page.locator(".badge.warn", has_text="By hand")).to_have_count(0)


async def test_a_round_is_cancelled_with_a_reason(
    browser: Browsing, house: RunningHouse, dealer: Staff
) -> None:
    await opened(house, "p-cancelled")
    page = await console(browser, house, dealer, "p-cancelled")
    await prepared(page, "deck-3")
    await press(page, "n")
    await says(page, "Betting is open")
    await press(page, "x")
    await browser.both(page, "dealer-cancel", whole=False)
    await page.locator("#cancel-dialog").get_by_label("A card was dropped").check()
    await page.locator("#cancel-dialog button.danger").click()
    await says(page, "Shuffle the deck")
    await press(page, "n")
    await says(page, "Open the next round")
    await press(page, "n")
    await expect(page.locator("#dealer-told.bad")).to_contain_text("verified")
    await page.get_by_role("button", name="Verify", exact=True).click()
    await expect(page.locator("#dealer-told.good")).to_be_visible()
    await page.get_by_role("button", name="Sign out of this table").click()
    await says(page, "Sign in at this table")
    small = await browser.page(size=NARROW)
    await small.context.add_cookies(await page.context.cookies())  # type: ignore[arg-type]  # as it gives them
    await small.goto(page.url)
    await browser.picture(small, "dealer-narrow")
    await small.goto(f"{house.url}/staff/dealer")
    await browser.picture(small, "dealer-tables-narrow")
