"""Which cases break a rule (CONTRACTS.md section 1: what a settlement checks).

Each check says in words what must hold; `Broken` carries those words, for the reader of a failed comparison.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, TypeGuard

from tests.oracle.hands import DECK, best, level, odds, qualifies
from tests.oracle.rules import Rules

Case = dict[str, Any]
Box = dict[str, Any]
BOX_FIELDS = {"box", "player", "blind", "cards", "option", "final", "insurance", "purchase", "wagers"}
BRINGS: dict[str, set[str]] = {
    "bet": set(),
    "sixth": {"cards"},
    "exchange": {"positions", "cards"},
    "fold": set(),
    "none": set(),
}

RESERVE = {"never": 1, "once": 2, "until_different": 4}  # cards kept back for a purchase (section 6)


class Broken(Exception):
    """The case breaks a rule."""


def need(holds: object, words: str) -> None:
    """Raise Broken unless it holds."""
    if not holds:
        raise Broken(words)


def is_whole(value: object) -> TypeGuard[int]:
    """An integer; JSON's true and false are none."""
    return isinstance(value, int) and not isinstance(value, bool)


def stake_of(box: Box, wager: str) -> int:
    """The stake of a wager placed before the deal, in minor units; 0 when it was not made."""
    placed = box["wagers"].get(wager, 0)
    return int(placed["stake"]) if isinstance(placed, dict) else int(placed)


def funding_of(box: Box, wager: str) -> str | None:
    """The free bet that pays for the wager; None for cash."""
    placed = box["wagers"].get(wager, 0)
    return placed.get("funding") if isinstance(placed, dict) else None


def cap_of(case: Case, box: Box) -> int | None:
    """The box's own maximum payout, else the case's; None for no cap."""
    cap: int | None = box["max_payout"] if "max_payout" in box else case["max_payout"]
    return cap


def bought_cards(box: Box) -> list[str]:
    """The cards that the box received for its option, in order."""
    return list(box["option"]["cards"]) if box["option"]["kind"] in ("sixth", "exchange") else []


def final_hand(box: Box) -> list[str]:
    """The box's cards at the showdown, five or six."""
    cards, option = list(box["cards"]), box["option"]
    if option["kind"] == "sixth":
        cards += option["cards"]
    if option["kind"] == "exchange":
        for position, card in zip(option["positions"], option["cards"], strict=True):
            cards[position] = card
    return cards


def folded(box: Box) -> bool:
    """Whether the box folded, in either window."""
    return "fold" in (box["option"]["kind"], box["final"])


def check_case(case: Case, rules: Rules) -> None:
    """Everything but the draws, which only the settlement can count."""
    check_shape(case)
    need(is_cap(case["max_payout"]), "max_payout is null or a sum")
    check_cards(case["dealer"]["cards"])
    check_cards(case["dealer"]["draws"])
    need(len(case["dealer"]["cards"]) == 5, "the dealer has five cards")
    need(case["boxes"], "a round has a box in play")
    for box in case["boxes"]:
        check_place(box, rules)
        check_wagers(box, rules)
        check_option(box, rules)
        check_final(box)
    check_boxes_together(case, rules)
    check_no_card_twice(case, rules)
    check_deck_was_enough(case, rules)
    for box in case["boxes"]:
        check_insurance(case, box, rules)
        check_purchase(case, box, rules)


def check_shape(case: Case) -> None:
    """Exactly the fields of CONTRACTS.md section 1: nothing missing is guessed, nothing unknown skipped."""
    need_fields(case, {"ruleset", "max_payout", "dealer", "boxes"})
    need_fields(case["dealer"], {"cards", "draws"})
    need(isinstance(case["boxes"], list), "boxes is a list")
    for box in case["boxes"]:
        need_fields(box, BOX_FIELDS, {"max_payout"})
        need(is_whole(box["box"]), "box is a number")
        need(isinstance(box["player"], str) and box["player"], "player is a name")
        need(isinstance(box["blind"], bool), "blind is true or false")
        need(isinstance(box["purchase"], bool), "purchase is true or false")
        need(is_whole(box["insurance"]), "insurance is a sum")
        need_fields(box["wagers"], {"ante"}, {"bonus_player", "bonus_dealer"})
        need_fields(box["option"], {"kind"}, {"cards", "positions"})
        kind = box["option"]["kind"]
        need(isinstance(kind, str) and kind in BRINGS, "a known option")
        need_fields(box["option"], {"kind"} | BRINGS[kind], {"cards", "positions"})
        for name in {"cards", "positions"} - BRINGS[kind]:
            need(
                box["option"].get(name) in (None, []),
                "no cards without buying, no positions without exchange",
            )


def need_fields(value: object, required: set[str], optional: AbstractSet[str] = frozenset()) -> None:
    """An object with these fields and no others."""
    need(isinstance(value, Mapping), "an object")
    assert isinstance(value, Mapping)
    need(required <= set(value), f"fields {sorted(required)}")
    need(set(value) <= required | optional, f"no fields but {sorted(required | optional)}")


def check_cards(cards: object) -> None:
    """A list of real cards."""
    need(isinstance(cards, list), "cards are a list")
    assert isinstance(cards, list)
    for card in cards:
        need(isinstance(card, str) and card in DECK, f"{card!r} is a card")


def is_cap(value: object) -> bool:
    """No cap, or a sum."""
    return value is None or (is_whole(value) and value >= 0)


def check_place(box: Box, rules: Rules) -> None:
    """The box exists, and can be open or blind in this ruleset; five cards lie in it."""
    need(1 <= box["box"] <= rules["boxes"], "the box is on the table")
    allowed = rules["blind_boxes"] if box["blind"] else rules["open_boxes"]
    need(box["box"] in allowed, "this box can be blind, or open, here")
    check_cards(box["cards"])
    need(len(box["cards"]) == 5, "a box has five cards")


def check_wagers(box: Box, rules: Rules) -> None:
    """An ante, bonuses only where the ruleset has them, and a cap that is a sum."""
    for placed in box["wagers"].values():
        if isinstance(placed, dict):
            check_free_bet(placed)
        stake = placed["stake"] if isinstance(placed, dict) else placed
        need(is_whole(stake), "a stake is a whole sum")
        need(stake >= 0, "a stake is not negative")
    need(stake_of(box, "ante") > 0, "there is an ante")
    need(not stake_of(box, "bonus_player") or rules["bonus_player"], "bonus B exists here")
    need(not stake_of(box, "bonus_dealer") or rules["bonus_dealer"], "bonus D exists here")
    need(is_cap(box.get("max_payout")), "a box's max_payout is null or a sum")


def check_free_bet(placed: dict[str, Any]) -> None:
    """A stake, and the id of the free bet that pays for it; without an id it is cash."""
    need_fields(placed, {"stake"}, {"funding"})
    funding = placed.get("funding")
    need(funding is None or (isinstance(funding, str) and funding), "funding is an id")
    need(funding is None or placed["stake"] != 0, "a free bet of something")


def check_option(box: Box, rules: Rules) -> None:
    """One of the options, with exactly the cards it brings."""
    option = box["option"]
    kind = option["kind"]
    need(kind == "none" or not box["blind"], "a blind box chooses nothing")
    if kind in ("sixth", "exchange"):
        check_cards(option["cards"])
    if kind == "sixth":
        need(len(option["cards"]) == 1, "one sixth card")
    if kind == "exchange":
        check_positions(option["positions"], rules)
        need(len(option["cards"]) == len(option["positions"]), "a card for each position")


def check_positions(positions: object, rules: Rules) -> None:
    """One to exchange_max distinct places of the hand."""
    need(isinstance(positions, list), "positions are a list")
    assert isinstance(positions, list)
    need(all(is_whole(position) for position in positions), "positions are numbers")
    need(1 <= len(positions) <= rules["exchange_max"], "exchange size")
    need(len(set(positions)) == len(positions), "distinct positions")
    need(set(positions) <= {0, 1, 2, 3, 4}, "positions of the hand")


def check_final(box: Box) -> None:
    """Null for blind and folded boxes; a box that bet stands; every other bets or folds."""
    final = box["final"]
    if box["blind"] or box["option"]["kind"] == "fold":
        need(final is None, "nothing left to choose")
    elif box["option"]["kind"] == "bet":
        need(final == "bet", "a bet stands")
    else:
        need(final in ("bet", "fold"), "bet or fold")


def insurance_bounds(case: Case, box: Box, rules: Rules) -> tuple[int, int] | None:
    """The least and the most that the box may insure; None where it is not offered (sections 4.5 and 5)."""
    if box["blind"] or folded(box) or box["option"]["kind"] == "none":
        return None
    hand = final_hand(box)
    if level(best(hand)) < level("three_of_a_kind"):
        return None
    ante = stake_of(box, "ante")
    expected = odds(hand, rules["paired_straight"]) * 2 * ante
    cap = cap_of(case, box)
    if cap is not None:
        expected = min(expected, cap)
    parts, whole = rules["insurance_fraction"]
    most = parts * expected // whole
    return (ante, most) if most >= ante else None


def check_insurance(case: Case, box: Box, rules: Rules) -> None:
    """None, or within the bounds."""
    if box["insurance"] == 0:
        return
    bounds = insurance_bounds(case, box, rules)
    need(bounds is not None, "insurance is offered")
    assert bounds is not None
    least, most = bounds
    need(least <= box["insurance"] <= most, f"insurance between {least} and {most}")


def may_purchase(case: Case, box: Box, rules: Rules) -> bool:
    """Whether the box may pay for the dealer's exchange (sections 4.8 and 6)."""
    return (
        not qualifies(case["dealer"]["cards"])
        and not folded(box)
        and (rules["insured_may_purchase"] or box["insurance"] == 0)
        and (rules["blind_may_purchase"] or not box["blind"])
        and (not rules["purchase_needs_ace_king"] or qualifies(final_hand(box)))
    )


def check_purchase(case: Case, box: Box, rules: Rules) -> None:
    """Nobody bought who may not."""
    need(not box["purchase"] or may_purchase(case, box, rules), "the box may purchase")


def check_boxes_together(case: Case, rules: Rules) -> None:
    """One entry a box, or on shared tables one entry a player and box with the same cards for all."""
    boxes = case["boxes"]
    if not rules["shared"]:
        need(no_repeats([box["box"] for box in boxes]), "one player a box")
        return
    need(no_repeats([(box["box"], box["player"]) for box in boxes]), "one entry a player and box")
    for one in boxes:
        for other in boxes:
            if one["box"] == other["box"]:
                need(one["cards"] == other["cards"], "one hand a box")
            need_prefix(bought_cards(one), bought_cards(other))


def need_prefix(one: Sequence[str], other: Sequence[str]) -> None:
    """The shorter of two purchases is the beginning of the longer."""
    need(all(a == b for a, b in zip(one, other, strict=False)), "switch cards in one order for all")


def no_repeats(things: Sequence[object]) -> bool:
    """Whether all are different."""
    return len(set(things)) == len(things)


def check_no_card_twice(case: Case, rules: Rules) -> None:
    """Every card that lay on the table is another one."""
    seen = case["dealer"]["cards"] + case["dealer"]["draws"]
    if rules["shared"]:
        for cards in {box["box"]: box["cards"] for box in case["boxes"]}.values():
            seen = seen + cards
        seen = seen + max((bought_cards(box) for box in case["boxes"]), key=len)
    else:
        for box in case["boxes"]:
            seen = seen + box["cards"] + bought_cards(box)
    need(no_repeats(seen), "a card appears once")


def check_deck_was_enough(case: Case, rules: Rules) -> None:
    """No more cards were bought than the deck holds, less the reserve (section 6, end)."""
    if not rules["shared"]:
        dealt = 5 + 5 * len(case["boxes"])
        bought = sum(len(bought_cards(box)) for box in case["boxes"])
        need(dealt + bought + RESERVE[rules["same_rank_redraw"]] <= 52, "the deck could serve the options")
