"""The rules page follows the ruleset and the table: change either, and what it says changes."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest

from rules_core.rulesets.model import Fraction, Ruleset
from rules_core.rulesets.shipped import shipped, shipped_ids
from tests.gateway.lobby.tables import EUR, table
from upcard_gateway.app import boards_english as english
from upcard_gateway.app.boards import limits_board, payouts_board
from upcard_gateway.app.boards_page import CONTENT_SECURITY_POLICY, rules_page
from upcard_gateway.app.boards_rules import rules_of
from upcard_gateway.app.boards_text import RulesText, amount_text, in_words
from upcard_gateway.app.lobby_tables import TableNow
from upcard_gateway.domain.operators import CurrencyLimits

BASE = shipped("dark-boxes@1")


def words(shown: TableNow) -> RulesText:
    return in_words(rules_of(shown, limits_board(shown), payouts_board(shown)))


def said(text: RulesText) -> str:
    """Everything that a player reads, the ruleset's own name and digest aside."""
    return "\n".join(
        [sentence.text for section in text.sections for sentence in section.sentences]
        + [
            " | ".join((one.title, *one.columns, *(cell for row in one.rows for cell in row)))
            for section in text.sections
            for one in section.tables
        ]
    )


def variants(rules: Ruleset) -> Iterator[tuple[str, Ruleset]]:
    """The ruleset with each of its parameters changed, one at a time."""
    seating, insurance, purchase = rules.seating, rules.insurance, rules.purchase
    assert insurance is not None
    assert purchase is not None
    assert rules.bonus_player is not None
    changes: dict[str, Any] = {
        "table": "shared",
        "box_kinds": ("open", *rules.box_kinds[1:]),
        "open_cards": "public",
        "exchange_max": 3,
        "insurance": None,
        "purchase": None,
        "cap_includes_insurance": not rules.cap_includes_insurance,
        "paired_straight": "straight_and_pair",
        "bonus_player": None,
        "windows": ("options", "final_options"),
    }
    for name, value in changes.items():
        yield name, replace(rules, **{name: value})
    of_seating: dict[str, Any] = {
        "open_boxes_max": 3,
        "blind_boxes_max": 0,
        "blind_needs_open_boxes": 2,
        "neighbours_only": False,
        "equal_antes": "no",
    }
    for name, value in of_seating.items():
        yield f"seating.{name}", replace(rules, seating=replace(seating, **{name: value}))
    of_insurance: dict[str, Any] = {
        "fraction": Fraction(1, 3),
        "on_tie": "lost",
        "when_beaten": "lost",
        "ante_on_no_game": "returned",
        "may_purchase": False,
    }
    for name, value in of_insurance.items():
        yield f"insurance.{name}", replace(rules, insurance=replace(insurance, **{name: value}))
    of_purchase: dict[str, Any] = {
        "blind_boxes": True,
        "needs_combination": True,
        "same_rank_redraw": "until_different",
        "ante_after_failed": "one_to_one",
    }
    for name, value in of_purchase.items():
        yield f"purchase.{name}", replace(rules, purchase=replace(purchase, **{name: value}))
    rows = rules.bonus_player
    yield "bonus_player.pays", replace(rules, bonus_player=(*rows[:-1], replace(rows[-1], pays=3)))
    share = replace(rows[1], jackpot_share_percent=20)
    yield "bonus_player.share", replace(rules, bonus_player=(rows[0], share, *rows[2:]))


@pytest.mark.parametrize(("name", "changed"), [pytest.param(*one, id=one[0]) for one in variants(BASE)])
def test_each_parameter_of_a_ruleset_changes_the_page(name: str, changed: Ruleset) -> None:
    before = said(words(table(ruleset=BASE.id)))
    after = said(words(replace(table(ruleset=BASE.id), ruleset=changed)))
    assert after != before, name


@pytest.mark.parametrize(
    "change",
    [
        {"limits": (replace(EUR, bonus_dealer=None, max_payout=900_000),)},
        {"limits": (replace(EUR, bonus_dealer=None, insurance_max=None),)},
        {"limits": (replace(EUR, bonus_dealer=None, player_total_max=None),)},
        {"limits": (replace(EUR, bonus_dealer=None, boxes=()),)},
        {"reserve_bet_with_ante": True},
        {"durations": replace(table().durations, betting_ms=12_500)},
    ],
    ids=str,
)
def test_each_setting_of_a_table_changes_the_page(change: dict[str, Any]) -> None:
    shown = table(ruleset=BASE.id, limits=(replace(EUR, bonus_dealer=None),))
    assert said(words(replace(shown, **change))) != said(words(shown))


def test_every_word_of_the_catalogue_is_said_somewhere() -> None:
    codes: set[str] = set()
    tables: set[str] = set()
    for rules in (*map(shipped, shipped_ids()), *(changed for _, changed in variants(BASE))):
        for shown in (
            replace(table(ruleset=BASE.id), ruleset=rules, reserve_bet_with_ante=True),
            replace(table(), ruleset=rules, limits=(replace(EUR, max_payout=None, boxes=()),)),
        ):
            text = words(shown)
            codes |= {sentence.code for section in text.sections for sentence in section.sentences}
            tables |= {one.code.partition(":")[0] for section in text.sections for one in section.tables}
    assert set(english.SENTENCES) - codes == set()
    assert set(english.TABLES) == tables


@pytest.mark.parametrize("name", shipped_ids())
def test_no_placeholder_is_left_in_the_words(name: str) -> None:
    assert not re.search(r"[{}]", said(words(table(ruleset=name))))


def test_numbers_that_players_rely_on_are_there() -> None:
    text = said(words(table(ruleset="dark-boxes@1")))
    for expected in (
        "10 % of the jackpot, and the stake back",
        "200 to 1",
        "You may play 2 open boxes in a round.",
        "All your boxes lie side by side.",
        "Bets are taken for 15 seconds",
        "There are 7.5 seconds to decide; whoever lets them pass does not buy.",
        "Of the deck 2 cards are kept back",
        "2.00 EUR | 500.00 EUR",
        "100 JPY | 100000 JPY",
        "10000.00 EUR",
    ):
        assert expected in text, expected


def test_what_the_operator_allows_is_said() -> None:
    shown = table()
    board = limits_board(shown, {"EUR": CurrencyLimits("EUR", 300, 9_000)})
    text = said(in_words(rules_of(shown, board, payouts_board(shown))))
    assert "One wager, by your casino | 3.00 EUR | 90.00 EUR" in text
    assert "JPY" not in text


@pytest.mark.parametrize(
    ("amount", "currency", "text"),
    [(5, "EUR", "0.05 EUR"), (1_234, "JPY", "1234 JPY"), (5, "KWD", "0.005 KWD"), (-150, "EUR", "-1.50 EUR")],
)
def test_amounts_have_the_digits_of_their_currency(amount: int, currency: str, text: str) -> None:
    assert amount_text(amount, currency) == text


class Reader(HTMLParser):
    """Checks that tags nest, and remembers them."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        assert not any(name.startswith("on") for name, _ in attrs)
        if tag == "a":
            assert all((value or "").startswith("#") for _, value in attrs), "links lead to its own sections"
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@pytest.mark.parametrize("name", shipped_ids())
def test_the_page_is_whole_html_without_script_or_anything_from_elsewhere(name: str) -> None:
    page = rules_page(words(table(ruleset=name)))
    reader = Reader()
    reader.feed(page)
    assert reader.open == []
    assert set(reader.seen).isdisjoint({"script", "img", "link", "iframe", "form"})
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)
    assert style is not None
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in CONTENT_SECURITY_POLICY
    assert "default-src 'none'" in CONTENT_SECURITY_POLICY
    text = "".join(reader.text)
    for section in words(table(ruleset=name)).sections:
        for sentence in section.sentences:
            assert sentence.text in text


def test_a_name_that_the_floor_typed_is_text_on_the_page() -> None:
    page = rules_page(words(replace(table(), name='<script>alert("x")</script>')))
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
