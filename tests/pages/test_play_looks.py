"""The players' page as it looks and works, with a connection that the test speaks for."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.pages import play_scenes as scenes
from tests.pages.chromium import NARROW, WIDE, Browsing
from tests.pages.play_stage import AT, Stage, staged

pytestmark = pytest.mark.pages

AT_TABLE = {"table": "t-1"}


async def at_table(browser: Browsing, *, size: tuple[int, int] = WIDE) -> Stage:
    stage = await staged(browser, welcome=AT_TABLE, size=size)
    await scenes.seated(stage)
    return stage


async def test_the_launch_token_opens_the_session_and_leaves_the_address(browser: Browsing) -> None:
    stage = await staged(browser, where="?x=1#launch_token=secret-1", welcome=AT_TABLE)
    hello = await stage.wait_asked("hello")
    assert {"launch_token": "secret-1"}.items() <= hello.items()
    await scenes.seated(stage)
    assert "secret-1" not in stage.page.url
    kept = await stage.page.evaluate("JSON.stringify(sessionStorage)")
    assert "st-1" in kept
    assert "secret-1" not in kept
    stage.asked.clear()
    await stage.page.reload()
    again = await stage.wait_asked("hello")
    assert {"session_token": "st-1"}.items() <= again.items()
    assert "launch_token" not in again


@pytest.mark.parametrize(("tag", "size"), [("wide", WIDE), ("narrow", NARROW)])
async def test_every_moment_of_a_round_is_shown(browser: Browsing, tag: str, size: tuple[int, int]) -> None:
    stage = await at_table(browser, size=size)
    page = stage.page
    scenes.betting(stage)
    await expect(page.get_by_role("radio", name="Chip 500.00 EUR")).to_be_visible()
    await expect(page.locator("#window-name")).to_have_text("Place your bets")
    await browser.both(page, f"play-betting-{tag}")
    scenes.options(stage)
    await expect(page.get_by_role("button", name="Bet 10.00 EUR")).to_be_visible()
    await expect(page.get_by_label("Box 2", exact=True)).to_contain_text("A pair of aces")
    await expect(
        page.get_by_label("Box 1", exact=True).get_by_role("img", name="a card face down")
    ).to_have_count(5)
    await browser.both(page, f"play-options-{tag}")
    scenes.finals(stage)
    await expect(page.get_by_text("The bet wins at most 30.00 EUR.")).to_be_attached()
    await browser.both(page, f"play-finals-{tag}")
    scenes.settled(stage)
    await expect(page.get_by_text("You win +20.00")).to_be_visible()
    await expect(page.locator("#dealer")).to_contain_text("Ace-king")
    await browser.both(page, f"play-settled-{tag}")
    width = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert width <= 0, "nothing is wider than the window"


async def test_chips_and_fields_bet_what_the_server_allows(browser: Browsing) -> None:
    stage = await at_table(browser)
    scenes.betting(stage)
    page = stage.page
    await page.get_by_role("radio", name="Chip 5.00 EUR").click()
    await page.get_by_role("button", name="Add 5.00 EUR to Bonus B, box 2").click()
    bet = await stage.wait_asked("bet")
    assert bet["placements"] == [{"box": 2, "wager": "bonus_player", "amount": 500, "blind": False}]
    assert bet["round"] == 7
    await expect(page.locator("#said")).to_have_text("Bet accepted: 5.00 EUR.")
    # The largest chip is more than the ante may still grow: the most is what is offered.
    await page.keyboard.press("0")
    await expect(page.get_by_role("radio", name="Chip 500.00 EUR")).to_have_attribute("aria-checked", "true")
    await page.get_by_role("button", name="Add 15.00 EUR to Ante, box 2").click()
    # A free bet pays for its own wager.
    await page.get_by_role("radio", name="Free Ante 2.00").click()
    stage.asked.clear()
    await page.get_by_role("button", name="Add 2.00 EUR to the ante of box 1").click()
    free = await stage.wait_asked("bet")
    assert free["placements"] == [
        {"box": 1, "wager": "ante", "amount": 200, "blind": True, "funding": "fb-1"}
    ]
    for key, kind in (("u", "undo"), ("d", "double"), ("c", "clear")):
        await page.keyboard.press(key)
        assert (await stage.wait_asked(kind))["round"] == 7
    await page.get_by_role("button", name="Take Ante of box 2 back").click()
    taken = await stage.wait_asked("withdraw")
    assert (taken["box"], taken["wager"]) == (2, "ante")


async def test_what_is_not_accepted_is_told_in_words(browser: Browsing) -> None:
    stage = await at_table(browser)
    scenes.betting(stage)
    stage.refuse["bet"] = "Your casino's wallet does not answer at the moment."
    await stage.page.get_by_role("button", name="Add 0.50 EUR to Bonus D, box 2").click()
    said = "Not accepted: Your casino's wallet does not answer at the moment."
    await expect(stage.page.locator("#said")).to_have_text(said)


async def test_an_exchange_picks_cards_in_order_and_folding_is_asked_twice(browser: Browsing) -> None:
    stage = await at_table(browser)
    scenes.options(stage)
    page = stage.page
    await page.get_by_role("button", name="Exchange").click()
    await page.get_by_role("button", name="Change card 5, two of spades").click()
    await page.get_by_role("button", name="Change card 4, seven of clubs").click()
    await browser.both(page, "play-exchange-wide")
    await page.get_by_role("button", name="Exchange 2 for 5.00 EUR").click()
    option = await stage.wait_asked("option")
    assert option["positions"] == [4, 3]
    assert (option["box"], option["kind"]) == (2, "exchange")
    stage.asked.clear()
    await page.get_by_role("button", name="Fold").click()
    await page.get_by_role("button", name="Really fold?").click()
    assert (await stage.wait_asked("option"))["kind"] == "fold"
    assert len(stage.asked) == 1


async def test_insurance_stays_within_its_bounds(browser: Browsing) -> None:
    stage = await at_table(browser)
    scenes.deal(stage)
    scenes.finals(stage)
    page = stage.page
    await page.get_by_label("Insurance, 5.00 to 15.00 EUR").check()
    field = page.get_by_role("textbox", name="Amount of the insurance")
    await field.fill("99")
    await field.press("Tab")
    await page.get_by_role("button", name="Bet 10.00 + insure 15.00 EUR").click()
    final = await stage.wait_asked("final")
    assert (final["choice"], final["insurance"]) == ("bet", 1_500)


async def test_a_purchase_is_bought_or_not_by_one_key(browser: Browsing) -> None:
    stage = await at_table(browser)
    scenes.deal(stage)
    stage.window("purchase")
    scenes.own(stage, [scenes.box_of(2, asked=True)], actions={"purchases": [{"box": 2, "fee": 500}]})
    await expect(stage.page.get_by_role("button", name="Buy a card for the dealer: 5.00 EUR")).to_be_visible()
    await stage.page.keyboard.press("x")
    assert (await stage.wait_asked("purchase"))["buy"] is False


async def test_others_boxes_of_an_exclusive_table_are_seen(browser: Browsing) -> None:
    stage = await staged(browser, welcome={"table": "t-2"})
    await scenes.seated(stage, scenes.DARK)
    scenes.exclusive(stage)
    page = stage.page
    await expect(page.get_by_label("Box 4", exact=True)).to_contain_text("taken")
    await expect(page.get_by_label("Box 5", exact=True)).to_contain_text("10.00")
    await page.get_by_role("button", name="All antes +0.50").click()
    placements = (await stage.wait_asked("bet"))["placements"]
    assert [one["box"] for one in placements] == [1, 2]
    await browser.both(page, "play-exclusive-wide")


async def test_a_lost_connection_is_shown_and_goes_on_where_it_was(browser: Browsing) -> None:
    stage = await at_table(browser)
    scenes.betting(stage)
    page = stage.page
    await expect(page.get_by_role("button", name="Undo")).to_be_enabled()
    stage.asked.clear()
    last = stage.seq
    await stage.sockets[-1].close()
    await expect(page.locator("#lost")).to_be_visible()
    await browser.both(page, "play-lost-wide", whole=False)
    hello = await stage.wait_asked("hello")
    assert {"session_token": "st-1"}.items() <= hello.items()
    assert hello["table"] == "t-1"
    assert int(hello["resume"]["own"]) <= last
    assert set(hello["resume"]) == {"table", "own", "chat"}
    await expect(page.locator("#lost")).to_be_hidden()
    await expect(page.get_by_role("button", name="Undo")).to_be_enabled()


async def test_an_end_is_told_and_nothing_goes_on(browser: Browsing) -> None:
    stage = await at_table(browser)
    stage.tell("ended", reason="taken_over", text="You play on another device now.", resumable=False)
    await expect(stage.page.get_by_text("You play on another device now.")).to_be_visible()
    await browser.both(stage.page, "play-over-wide", whole=False)
    await stage.page.wait_for_timeout(1_500)
    assert len(stage.sockets) == 1


@pytest.mark.parametrize(("reason", "again"), [("viewing_over", False), ("session_over", True)])
async def test_who_has_looked_on_long_enough_is_not_asked_to_do_so_again(
    browser: Browsing, reason: str, *, again: bool
) -> None:
    viewer = {**AT_TABLE, "viewing": True, "viewing_until": AT, "session": None, "session_token": None}
    stage = await staged(browser, where="", welcome=viewer)
    await stage.wait_asked("hello")
    await expect(stage.page.locator("#viewing-text")).to_be_visible()
    stage.tell("ended", reason=reason, text="That was all.", resumable=False)
    await expect(stage.page.get_by_text("That was all.")).to_be_visible()
    await expect(stage.page.locator("#over-again")).to_be_visible(visible=again)


async def test_no_tip_is_offered_where_none_can_be_given(browser: Browsing) -> None:
    stage = await staged(browser, welcome={**AT_TABLE, "tips": False})
    await scenes.seated(stage)
    await expect(stage.page.locator("#say")).to_be_visible()
    await expect(stage.page.locator("#tip")).to_be_hidden()


async def test_looking_on_counts_down_and_offers_nothing(browser: Browsing) -> None:
    until = AT.replace("03:04:05", "03:19:05")
    stage = await staged(
        browser,
        where="?table=t-1",
        welcome={
            "viewing": True,
            "viewing_until": until,
            "session": None,
            "session_token": None,
            "currency": None,
        },
    )
    stage.data["lobby"] = scenes.LOBBY
    page = stage.page
    assert (await stage.wait_asked("hello"))["view"] is True
    await expect(page.locator("#viewing-text")).to_contain_text("left")
    await page.get_by_role("button", name="Look on").first.click()
    await scenes.seated(stage)
    stage.window("betting")
    await expect(page.get_by_text("To play, open the game from your casino.")).to_be_visible()
    await expect(page.locator("#side")).to_be_hidden()
    await browser.both(page, "play-viewing-wide", whole=False)


async def test_the_lobby_leads_to_a_table(browser: Browsing) -> None:
    stage = await staged(browser)
    stage.data["lobby"] = scenes.LOBBY
    page = stage.page
    await expect(page.get_by_role("heading", name="Grand hall 1")).to_be_visible()
    await expect(page.get_by_role("heading", name="Shut")).to_have_count(0)
    await browser.both(page, "play-lobby-wide")
    await page.get_by_role("button", name="Play").first.click()
    assert (await stage.wait_asked("join"))["table"] == "t-1"


async def test_drawers_show_rounds_and_statement_and_go_on(browser: Browsing) -> None:
    stage = await at_table(browser)
    stage.data["history"] = scenes.HISTORY
    stage.data["statement"] = scenes.STATEMENT
    page = stage.page
    # A key does what a button does that is shown: not before it is.
    await expect(page.locator("#to-history")).to_be_visible()
    await page.keyboard.press("h")
    await expect(page.get_by_role("dialog")).to_contain_text("+20.00")
    await browser.both(page, "play-history-wide", whole=False)
    await page.get_by_role("button", name="Older").click()
    await expect(page.get_by_role("dialog").locator("tbody tr")).to_have_count(2)
    assert stage.asked[-1]["after"] == "p2"
    await page.keyboard.press("Escape")
    await page.keyboard.press("m")
    await expect(page.get_by_role("dialog")).to_contain_text("Paid in")
    await browser.both(page, "play-statement-wide", whole=False)


async def test_chat_and_tips(browser: Browsing) -> None:
    stage = await at_table(browser)
    page = stage.page
    await page.get_by_label("Say something").fill("Good luck <b>all</b>")
    await page.keyboard.press("Enter")
    assert (await stage.wait_asked("chat"))["text"] == "Good luck <b>all</b>"
    line = {"line": 9, "nickname": "Kim", "who": "player", "own": False, "text": "<img src=x>", "said_at": AT}
    stage.tell("chat", lines=[line])
    await expect(page.locator("#lines")).to_contain_text("<img src=x>")
    await page.get_by_label("Tip for the dealer").fill("2.50")
    await page.get_by_role("button", name="Give").click()
    assert (await stage.wait_asked("tip"))["amount"] == 250


async def test_the_theme_is_chosen_and_kept(browser: Browsing) -> None:
    stage = await at_table(browser)
    page = stage.page
    await page.get_by_role("button", name="Light or dark").click()
    assert await page.evaluate("document.documentElement.dataset.theme") == "dark"
    cookies = await page.context.cookies()
    assert [one["value"] for one in cookies if one["name"] == "upcard-theme"] == ["dark"]
