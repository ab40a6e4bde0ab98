"""One change to a legal case, which may or may not break a rule: to agree on what is refused, too."""

from __future__ import annotations

import random
from collections.abc import Callable
from copy import deepcopy
from typing import Any

from tests.oracle.checks import Box, Case, insurance_bounds, stake_of
from tests.oracle.hands import DECK
from tests.oracle.rules import RULESETS, Rules

NOT_CARDS = ("", "A", "1h", "10h", "ah", "AH", "Ax", "Ah ", "hA", "??")
NOT_SUMS = (-1, -100, 0, 1, 2**40)
FREE_BETS: tuple[Any, ...] = (
    {"stake": 10, "funding": "free-1"},
    {"stake": 0, "funding": "free-1"},
    {"stake": 10, "funding": None},
    {"stake": 10, "funding": ""},
    {"stake": 10, "funding": 7},
    {"stake": 10},
    {"funding": "free-1"},
)
NOT_WHOLE: tuple[Any, ...] = (True, "100", None, [], 1.5)


def mutate_case(rng: random.Random, case: Case) -> Case:
    """A copy of the case with one thing changed."""
    changed = deepcopy(case)
    box = rng.choice(changed["boxes"])
    change = rng.choice(CHANGES)
    change(rng, changed, box)
    return changed


def change_card(rng: random.Random, case: Case, _: Box) -> None:
    """Another card somewhere; it may lie on the table already."""
    cards = rng.choice(places_of_cards(case))
    if cards:
        cards[rng.randrange(len(cards))] = rng.choice(DECK)


def copy_card(rng: random.Random, case: Case, _: Box) -> None:
    """A card that lies in another place as well."""
    places = [cards for cards in places_of_cards(case) if cards]
    cards, others = rng.choice(places), rng.choice(places)
    cards[rng.randrange(len(cards))] = rng.choice(others)


def spoil_card(rng: random.Random, case: Case, _: Box) -> None:
    """Something that is no card."""
    cards = rng.choice(places_of_cards(case))
    if cards:
        cards[rng.randrange(len(cards))] = rng.choice(NOT_CARDS)


def count_of_cards(rng: random.Random, case: Case, _: Box) -> None:
    """One card more or less somewhere."""
    cards = rng.choice(places_of_cards(case))
    if cards and rng.random() < 0.5:
        del cards[rng.randrange(len(cards))]
    else:
        cards.append(rng.choice(DECK))


def order_of_cards(rng: random.Random, case: Case, _: Box) -> None:
    """The same cards in another order: of no matter, or that of the shared cards."""
    rng.shuffle(rng.choice(places_of_cards(case)))


def places_of_cards(case: Case) -> list[list[str]]:
    """Every list of cards in the case."""
    places: list[list[str]] = [case["dealer"]["cards"], case["dealer"]["draws"]]
    places += [box["cards"] for box in case["boxes"]]
    places += [box["option"]["cards"] for box in case["boxes"] if "cards" in box["option"]]
    return places


def no_cards(rng: random.Random, case: Case, box: Box) -> None:
    """Something else where cards should be."""
    holder: dict[str, Any] = rng.choice([case["dealer"], box, box["option"]])
    holder["cards"] = rng.choice([None, "AhKh", 5, {}, []])


def draws(rng: random.Random, case: Case, _: Box) -> None:
    """Fewer draws, more, or others."""
    dealer = case["dealer"]
    dealer["draws"] = rng.choice(
        [[], dealer["draws"][:-1], [*dealer["draws"], rng.choice(DECK)], [rng.choice(DECK)]]
    )


def ruleset(rng: random.Random, case: Case, _: Box) -> None:
    """The same case in another house."""
    case["ruleset"] = rng.choice([*RULESETS, *RULESETS, "no-such-house@1", "classic@2", "classic", ""])


def option_kind(rng: random.Random, _: Case, box: Box) -> None:
    """Another option, its cards and positions left as they were."""
    box["option"]["kind"] = rng.choice(["bet", "sixth", "exchange", "fold", "none", "raise", "", None])


def whole_option(rng: random.Random, _: Case, box: Box) -> None:
    """Another option, whole."""
    box["option"] = {"kind": rng.choice(["bet", "fold", "none", "sixth", "exchange"])}


def positions(rng: random.Random, _: Case, box: Box) -> None:
    """Positions that repeat, run out of the hand, or are too many or too few."""
    old = list(box["option"].get("positions", [0]))
    new = rng.choice(
        [
            [],
            old[:-1],
            [*old, 4],
            [*old, old[0]],
            [5, *old[1:]],
            [-1, *old[1:]],
            ["0", *old[1:]],
            [True, *old[1:]],
            [0, 1, 2, 3, 4],
            None,
        ]
    )
    box["option"]["positions"] = new


def final(rng: random.Random, _: Case, box: Box) -> None:
    """Another final option."""
    box["final"] = rng.choice(["bet", "fold", None, "insurance", "none", ""])


def insurance(rng: random.Random, case: Case, box: Box) -> None:
    """Insurance on a bound, beside it, or where there is none."""
    ante = stake_of(box, "ante")
    bounds = insurance_bounds(case, box, rules_of(case)) or (ante, 3 * ante)
    box["insurance"] = rng.choice(
        [bounds[0], bounds[0] - 1, bounds[1], bounds[1] + 1, -ante, 0, rng.choice(NOT_WHOLE)]
    )


def purchase(rng: random.Random, _: Case, box: Box) -> None:
    """A purchase more or less, the draws left as they were."""
    box["purchase"] = rng.choice([True, False, not box["purchase"], 1, 0, None, "yes"])


def purchase_with_draws(rng: random.Random, case: Case, box: Box) -> None:
    """One more purchase, and a fresh card for the dealer if nobody else bought."""
    box["purchase"] = True
    if not case["dealer"]["draws"]:
        case["dealer"]["draws"] = [fresh_card(rng, case)]


def insured_purchase(rng: random.Random, case: Case, box: Box) -> None:
    """A purchase with insurance at its minimum."""
    box["insurance"] = stake_of(box, "ante")
    purchase_with_draws(rng, case, box)


def exchange_more(rng: random.Random, case: Case, box: Box) -> None:
    """One more fresh card exchanged, or all that are left."""
    old = box["option"] if box["option"]["kind"] == "exchange" else {"positions": [], "cards": []}
    box["option"] = {"kind": "exchange", "positions": list(old["positions"]), "cards": list(old["cards"])}
    free = sorted({0, 1, 2, 3, 4} - set(old["positions"])) or [5]
    for position in rng.sample(free, rng.choice([1, len(free)])):
        box["option"]["positions"].append(position)
        box["option"]["cards"].append(fresh_card(rng, case))


def fresh_card(rng: random.Random, case: Case) -> str:
    """A card that is not in the case; any card when all are."""
    seen = {card for cards in places_of_cards(case) for card in cards}
    return rng.choice([card for card in DECK if card not in seen] or DECK)


def blind(rng: random.Random, _: Case, box: Box) -> None:
    """A box blind that was open, or open that was blind; sometimes with the choices that this needs."""
    box["blind"] = not box["blind"]
    if rng.random() < 0.5:
        box["option"] = {"kind": "none"} if box["blind"] else {"kind": "bet"}
        box["final"] = None if box["blind"] else "bet"


def number(rng: random.Random, _: Case, box: Box) -> None:
    """Another box."""
    box["box"] = rng.choice([0, 1, 2, 3, 4, 5, 6, 7, -1, "2", None, True, 2.0])


def player(rng: random.Random, case: Case, box: Box) -> None:
    """Another player, perhaps one who sits there already."""
    box["player"] = rng.choice([other["player"] for other in case["boxes"]] + ["p7", "", None, 7])


def entry_twice(rng: random.Random, case: Case, box: Box) -> None:
    """An entry again, for the same player or another, or none left but one."""
    again = deepcopy(box)
    again["player"] = rng.choice([box["player"], "p8"])
    case["boxes"].append(again)


def entry_gone(_: random.Random, case: Case, box: Box) -> None:
    """One entry fewer; the case may be left without any."""
    case["boxes"].remove(box)


def wager(rng: random.Random, _: Case, box: Box) -> None:
    """Another stake, perhaps of a bonus that the house does not have."""
    stake = rng.choice([*NOT_SUMS, rng.choice(NOT_WHOLE), *FREE_BETS])
    box["wagers"][rng.choice(["ante", "ante", "bonus_player", "bonus_dealer"])] = stake


def cap(rng: random.Random, case: Case, box: Box) -> None:
    """Another cap, for all or for one box."""
    rng.choice([case, box])["max_payout"] = rng.choice([1, 50, 500, 2**40, None, -1, "500", True, 0])


def field_gone(rng: random.Random, case: Case, box: Box) -> None:
    """A field missing; some can be."""
    holder = rng.choice(objects_of(case, box))
    del holder[rng.choice(list(holder))]


def field_more(rng: random.Random, case: Case, box: Box) -> None:
    """A field that means nothing there, or one that another object has."""
    name = rng.choice(["cards", "draws", "positions", "stake", "bet", "funding", "note"])
    rng.choice(objects_of(case, box)).setdefault(name, rng.choice([None, [], 1, "x"]))


def objects_of(case: Case, box: Box) -> list[dict[str, Any]]:
    """Every object of the case that has fields, of the boxes the given one."""
    free_bets = [placed for placed in box["wagers"].values() if isinstance(placed, dict)]
    return [case, case["dealer"], box, box["option"], box["wagers"], *free_bets]


def something_else(rng: random.Random, case: Case, box: Box) -> None:
    """Anything where something particular should be."""
    holder = rng.choice(objects_of(case, box))
    holder[rng.choice(list(holder))] = rng.choice([None, True, 0, 1, -1, 1.5, "", "x", [], {}, [{}], ["Ah"]])


def rules_of(case: Case) -> Rules:
    """The ruleset of a case that is still whole."""
    return RULESETS[case["ruleset"]]


CHANGES: list[Callable[[random.Random, Case, Box], None]] = [
    change_card,
    copy_card,
    spoil_card,
    count_of_cards,
    order_of_cards,
    no_cards,
    draws,
    draws,
    ruleset,
    ruleset,
    option_kind,
    whole_option,
    positions,
    positions,
    final,
    insurance,
    insurance,
    insurance,
    purchase,
    purchase_with_draws,
    purchase_with_draws,
    insured_purchase,
    exchange_more,
    exchange_more,
    blind,
    number,
    player,
    entry_twice,
    entry_gone,
    wager,
    wager,
    cap,
    field_gone,
    field_more,
    something_else,
]
