"""The pages that need no sign-in and no script: a round by its link, the rules of a table."""

from __future__ import annotations

import datetime as dt

import pytest
from playwright.async_api import Page, Route, expect

from tests.gateway.lobby.tables import table
from tests.pages.chromium import NARROW, WIDE, Browsing
from upcard_gateway.app.boards import limits_board, payouts_board
from upcard_gateway.app.boards_page import CONTENT_SECURITY_POLICY as RULES_POLICY
from upcard_gateway.app.boards_page import rules_page
from upcard_gateway.app.boards_rules import rules_of
from upcard_gateway.app.boards_text import in_words
from upcard_gateway.app.round_page import CONTENT_SECURITY_POLICY as ROUND_POLICY
from upcard_gateway.app.round_page import message_page, round_page
from upcard_gateway.app.rounds import Box, Dealer, Detail, Hand, Played, Wager

pytestmark = pytest.mark.pages

CARDS = {
    "box.2": "As Ah Kd 7c 2s",
    "dealer": "Ac Kc Qd 8h 5c",
    "switch": "Ad Tc hidden hidden hidden",
}


def played_round() -> Detail:
    """A round that was won with an exchange and insurance."""
    opened = dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC)
    played = Played(
        round="grand-hall-1.815",
        table="grand-hall-1",
        number=815,
        ruleset="live-shared@1",
        player="p-1",
        currency="EUR",
        state="settled",
        reason=None,
        opened_at=opened,
        ended_at=opened + dt.timedelta(minutes=2),
        staked=2_500,
        returned=5_500,
        net=3_000,
        revision=1,
        by_platform=0,
        dealer=Dealer(
            "ace_king", "ace_king", tuple(CARDS["dealer"].split()), qualified=True, purchased=False
        ),
    )
    box = Box(
        box=2,
        blind=False,
        cards=tuple(CARDS["box.2"].split()),
        option="exchange",
        positions=(3, 4),
        bought=2,
        final="bet",
        final_by="player",
        purchase=None,
        folded=False,
        hand=Hand("three_of_a_kind", ("three_of_a_kind",), 3),
        wagers=(
            Wager("ante", 500, 500, "returned"),
            Wager("bet", 1_000, 4_000, "won"),
            Wager("option_fee", 500, 0, "lost"),
            Wager("insurance", 500, 1_000, "won"),
        ),
        outcome="win",
        staked=2_500,
        returned=5_500,
        net=3_000,
        words=(
            "The player exchanged two cards and bet.",
            "Three aces beat ace-king: the bet is paid 3 to 1.",
        ),
    )
    cards = {f"{hand}.{i}": card for hand, all_of in CARDS.items() for i, card in enumerate(all_of.split())}
    return Detail(played, "settled", 0, cards, (box,), ("The dealer has ace-king: game.",))


async def shown(page: Page, html: str, policy: str) -> None:
    """Open a page as the gateway serves it."""

    async def serve(route: Route) -> None:
        headers = {"Content-Security-Policy": policy}
        await route.fulfill(body=html, content_type="text/html; charset=utf-8", headers=headers)

    await page.route("http://public.test/**", serve)
    await page.goto("http://public.test/")


@pytest.mark.parametrize(("tag", "size"), [("wide", WIDE), ("narrow", NARROW)])
async def test_a_round_by_its_link_is_read_at_a_glance(
    browser: Browsing, tag: str, size: tuple[int, int]
) -> None:
    page = await browser.page(size=size, javascript=False)
    await shown(page, round_page(played_round()), ROUND_POLICY)
    await expect(page.get_by_role("listitem", name="ace of spades")).to_be_visible()
    await browser.both(page, f"public-round-{tag}")
    await shown(
        page, message_page("No such round", "This link shows no round. Was it copied whole?"), ROUND_POLICY
    )
    await browser.both(page, f"public-none-{tag}", whole=False)


@pytest.mark.parametrize(("tag", "size"), [("wide", WIDE), ("narrow", NARROW)])
async def test_the_rules_of_a_table_are_a_page(browser: Browsing, tag: str, size: tuple[int, int]) -> None:
    found = table(ruleset="dark-boxes@1")
    html = rules_page(in_words(rules_of(found, limits_board(found), payouts_board(found))))
    page = await browser.page(size=size, javascript=False)
    await shown(page, html, RULES_POLICY)
    await expect(page.get_by_role("heading", level=2).first).to_be_visible()
    await browser.both(page, f"public-rules-{tag}", whole=False)
    last = page.get_by_role("navigation").get_by_role("link").last
    await last.click()
    await expect(page.get_by_role("heading", name=await last.inner_text())).to_be_in_viewport()
