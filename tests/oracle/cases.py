"""Random settlement cases: mostly legal, and richer in close calls than a table would be."""

from __future__ import annotations

import random
from typing import Any

from tests.oracle.checks import (
    RESERVE,
    Box,
    Case,
    final_hand,
    folded,
    insurance_bounds,
    may_purchase,
    stake_of,
)
from tests.oracle.dealing import Deck, Wish, like, no_game, shaped
from tests.oracle.hands import best, odds
from tests.oracle.rules import RULESETS, Rules
from tests.oracle.settlement import wants_another

Option = dict[str, Any]
ANTES = (1, 2, 5, 7, 25, 33, 100, 100, 250, 1000, 12_345, 1_000_000)


def random_case(rng: random.Random, ruleset_id: str | None = None) -> Case:
    """A case in the form of CONTRACTS.md section 1, of the given ruleset or of any."""
    name = ruleset_id or rng.choice(sorted(RULESETS))
    return case_of_house(rng, name, RULESETS[name])


def case_of_house(rng: random.Random, name: str, rules: Rules) -> Case:
    """A case of a house with these rules."""
    deck = Deck(rng)
    dealer = no_game(deck) if rng.random() < 0.5 else deck.deal(dealer_wishes(rng))
    boxes = shared_boxes(deck, rules, dealer) if rules["shared"] else exclusive_boxes(deck, rules, dealer)
    case: Case = {
        "ruleset": name,
        "max_payout": None,
        "dealer": {"cards": dealer, "draws": []},
        "boxes": boxes,
    }
    set_caps(rng, case, rules)
    for box in boxes:
        insure(rng, case, box, rules)
        box["purchase"] = may_purchase(case, box, rules) and rng.random() < 0.65
    if any(box["purchase"] for box in boxes):
        case["dealer"]["draws"] = draws(deck, dealer, rules)
    return case


def dealer_wishes(rng: random.Random) -> list[Wish]:
    """Any hand as often as one that holds something."""
    return [(None, None)] * 5 if rng.random() < 0.4 else shaped(rng, 5)


def shared_boxes(deck: Deck, rules: Rules, dealer: list[str]) -> list[Box]:
    """Several players on box 2, with one order of switch cards, and others on the blind boxes."""
    rng = deck.rng
    boxes = []
    if rng.random() < 0.9:
        cards, option = open_hand(deck, rules, dealer, most=5)
        switch = option.get("cards", [])
        switch = switch + deck.any(5 - len(switch))
        for player in range(rng.choice([1, 1, 2, 3, 5])):
            chosen = option if player == 0 else shared_option(rng, rules, switch)
            boxes.append(new_box(rng, 2, f"p{player}", rules, cards, chosen))
    for number in (1, 3):
        if rng.random() < 0.3 or not boxes:
            cards = box_cards(deck, dealer)
            players = rng.sample(range(6), rng.choice([1, 1, 2, 3]))
            boxes += [new_box(rng, number, f"p{player}", rules, cards, None) for player in players]
    rng.shuffle(boxes)
    return boxes


def exclusive_boxes(deck: Deck, rules: Rules, dealer: list[str]) -> list[Box]:
    """Boxes of one player or of several, one after the other from one deck; now and then they use it up."""
    rng = deck.rng
    count = rng.choice([1, 1, 2, 3, rules["boxes"]])
    greedy = count == rules["boxes"] and rng.random() < 0.2
    reserve = 0 if greedy and rng.random() < 0.2 else RESERVE[rules["same_rank_redraw"]]
    boxes = []
    for index, number in enumerate(rng.sample(range(1, rules["boxes"] + 1), count)):
        option: Option | None = None
        if number in rules["blind_boxes"] and not greedy and rng.random() < 0.25:
            cards = box_cards(deck, dealer)
        else:
            most = len(deck.left) - 5 * (count - index) - reserve
            cards, option = open_hand(deck, rules, dealer, most, greedy=greedy)
        boxes.append(new_box(rng, number, f"p{rng.randint(1, 3)}", rules, cards, option))
    return boxes


def box_cards(deck: Deck, dealer: list[str]) -> list[str]:
    """Five cards for a box."""
    may_tie_insured = best(dealer) in ("straight", "flush", "straight_flush")
    if deck.rng.random() < (0.6 if may_tie_insured else 0.25):
        return deck.deal(like(deck.rng, dealer))
    return deck.deal(shaped(deck.rng, 5))


def open_hand(
    deck: Deck, rules: Rules, dealer: list[str], most: int, *, greedy: bool = False
) -> tuple[list[str], Option]:
    """A box's five cards and an option; what was bought makes a hand worth having, often enough."""
    rng = deck.rng
    weights = (0, 0, 1, 0, 0) if greedy else (30, 30, 25, 6, 9)
    kind = rng.choices(("bet", "sixth", "exchange", "fold", "none"), weights)[0]
    size = min(rules["exchange_max"] if greedy else rng.randint(1, rules["exchange_max"]), most)
    if kind == "sixth" and most >= 1:
        *cards, sixth = deck.deal(shaped(rng, 6))
        return cards, {"kind": "sixth", "cards": [sixth]}
    if kind == "exchange" and size >= 1:
        cards = box_cards(deck, dealer)
        positions = rng.sample(range(5), size)
        bought = [cards[position] for position in positions]
        for position, card in zip(positions, deck.any(size), strict=True):
            cards[position] = card
        return cards, {"kind": "exchange", "positions": positions, "cards": bought}
    return box_cards(deck, dealer), {"kind": kind if kind in ("fold", "none") else "bet"}


def shared_option(rng: random.Random, rules: Rules, switch: list[str]) -> Option:
    """What another player does with the same box and the same switch cards."""
    kind = rng.choice(("bet", "sixth", "exchange", "exchange", "fold", "none"))
    if kind == "sixth":
        return {"kind": kind, "cards": switch[:1]}
    if kind == "exchange":
        size = rng.randint(1, rules["exchange_max"])
        return {"kind": kind, "positions": rng.sample(range(5), size), "cards": switch[:size]}
    return {"kind": kind}


def new_box(
    rng: random.Random, number: int, player: str, rules: Rules, cards: list[str], option: Option | None
) -> Box:
    """A box with its wagers and choices, before insurance and purchase; without an option it is blind."""
    kind = option["kind"] if option else "blind"
    final = "bet" if kind == "bet" or rng.random() < 0.85 else "fold"
    wagers: dict[str, Any] = {"ante": money(rng, rng.choice(ANTES))}
    for wager, table in (("bonus_player", rules["bonus_player"]), ("bonus_dealer", rules["bonus_dealer"])):
        placed = table is not None and rng.random() < 0.5
        wagers[wager] = money(rng, rng.choice(ANTES)) if placed else 0
    return {
        "box": number,
        "player": player,
        "blind": option is None,
        "cards": list(cards),
        "option": dict(option) if option else {"kind": "none"},
        "final": None if kind in ("blind", "fold") else final,
        "insurance": 0,
        "purchase": False,
        "wagers": wagers,
    }


def money(rng: random.Random, stake: int) -> int | dict[str, Any]:
    """Cash, or now and then a free bet."""
    return {"stake": stake, "funding": f"free-{rng.randint(1, 9)}"} if rng.random() < 0.07 else stake


def set_caps(rng: random.Random, case: Case, rules: Rules) -> None:
    """A maximum payout for all, or for a box, near what the box could win."""
    if rng.random() < 0.5:
        case["max_payout"] = cap_near(rng, rng.choice(case["boxes"]), rules)
    for box in case["boxes"]:
        if rng.random() < 0.15:
            box["max_payout"] = cap_near(rng, box, rules) if rng.random() < 0.8 else None


def cap_near(rng: random.Random, box: Box, rules: Rules) -> int:
    """A sum at, or about, the winnings of the box, or a part of them."""
    ante = stake_of(box, "ante")
    winnings = odds(final_hand(box), rules["paired_straight"]) * 2 * ante
    near = rng.choice([winnings, winnings // 2, winnings * 2 // 3, winnings * 2, 2 * ante, 3 * ante, ante])
    return max(1, near + rng.choice([-1, 0, 0, 1]))


def insure(rng: random.Random, case: Case, box: Box, rules: Rules) -> None:
    """Insurance at a bound, between the bounds, and rarely just beyond them."""
    bounds = insurance_bounds(case, box, rules)
    if bounds and rng.random() < 0.6:
        least, most = bounds
        between = rng.randint(least, most)
        box["insurance"] = rng.choice([least, most, most, between, between])
        if rng.random() < 0.04:
            box["insurance"] = rng.choice([least - 1, most + 1])
    elif not folded(box) and rng.random() < 0.01:
        box["insurance"] = stake_of(box, "ante")


def draws(deck: Deck, dealer: list[str], rules: Rules) -> list[str]:
    """As many cards as the ruleset needs, often of the rank that was replaced or that pairs another."""
    rng = deck.rng
    place = max(range(5), key=lambda position: "23456789TJQKA".index(dealer[position][0]))
    hand, drawn = list(dealer), list[str]()
    others = [card for position, card in enumerate(dealer) if position != place]
    while deck.left and wants_another(hand, dealer[place], drawn, rules):
        near = rng.choice(others)
        wishes: list[Wish] = [
            (dealer[place][0], None),
            (dealer[place][0], others[0][1]),
            (near[0], None),
            (None, None),
        ]
        drawn.append(deck.take(rng.choices(wishes, (40, 8, 35, 17))[0]))
        hand[place] = drawn[-1]
    return drawn
