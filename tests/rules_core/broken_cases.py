"""Cases that break one rule each, with the code of the error that they have to give."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from rules_core.rulesets.parse import ruleset_object
from rules_core.rulesets.shipped import shipped
from tests.rules_core.settling import NO_GAME, QUEENS, Json, blind, box, case

MOST = 2**53 - 1
TRIPS = "9s 9h 9d 4c 2d"
PAIR = "9s 9h 7d 4c 2d"
NOTHING = "Ks Jh 9d 4c 2d"
LIVE, DARK, CLASSIC, THREE, FOUR = (
    "live-shared@1",
    "dark-boxes@1",
    "classic@1",
    "three-box@1",
    "four-box@1",
)
GOOD = case(LIVE, QUEENS, box(TRIPS))


def at(path: str, value: object = ..., start: Json = GOOD) -> Json:
    """A good case with one key, given by a dotted path, set to `value` or taken out."""
    changed: Any = deepcopy(start)
    place: Any = changed
    *way, last = path.split(".")
    for step in way:
        place = place[int(step) if step.isdigit() else step]
    if value is ...:
        del place[last]
    else:
        place[int(last) if last.isdigit() else last] = value
    return dict(changed)


def house(**changes: object) -> Json:
    """A house's own ruleset: `live-shared@1` with another id and other parameters."""
    return ruleset_object(shipped(LIVE)) | {"id": "my-house@1"} | changes


WITHOUT_INSURANCE = house(insurance=None)
WITHOUT_PURCHASE = house(
    purchase=None,
    windows=["options", "final_options"],
    insurance={**house()["insurance"], "may_purchase": False},
)

CROWDED = [
    box("2c 2h 2s 3c 3h", "exchange", "9c 9d 9h 9s Tc", (0, 1, 2, 3, 4), box=1),
    box("3s 4c 4d 4h 4s", "exchange", "Td Th Ts Jc Jh", (4, 3, 2, 1, 0), box=2),
    box("5d 5h 5s 6c 6d", "exchange", "Js Qc Qd Qh Kc", (0, 1, 2, 3, 4), box=3),
    box("6h 6s 7c 7d 7h", "sixth", "Kd", box=4),
    box("7s 8c 8d 8s Ac", box=5),
    box("Ad Ah As Kh Ks", box=6),
]
"""16 cards bought, where six boxes, the dealer and a reserve of two leave 15."""
INSURED = box(TRIPS, insurance=100)
BUYER = box(TRIPS, purchase=True)

# What is said of the whole case, and not of a box.
WHOLE: list[tuple[str, object]] = [
    ("object_expected", None),
    ("object_expected", [GOOD]),
    ("object_expected", at("dealer", ["Qs"])),
    ("key_missing", at("ruleset")),
    ("key_missing", at("max_payout")),
    ("key_missing", at("dealer")),
    ("key_missing", at("boxes")),
    ("key_missing", at("dealer.draws")),
    ("key_missing", at("dealer.cards")),
    ("key_unknown", GOOD | {"engine": 1}),
    ("key_unknown", GOOD | {1: 1}),
    ("key_unknown", at("dealer.up_card", "2c")),
    ("value_wrong_type", at("boxes", {})),
    ("value_wrong_type", at("ruleset", 1)),
    ("value_wrong_type", at("dealer.cards", "Qs Qd 9c 5h 2c")),
    ("value_wrong_type", at("dealer.draws", None)),
    ("amount_not_integer", at("max_payout", 5.0)),
    ("amount_not_integer", at("max_payout", value=True)),
    ("amount_not_integer", at("max_payout", "500")),
    ("amount_negative", at("max_payout", -1)),
    ("amount_too_large", at("max_payout", MOST + 1)),
    ("card_unreadable", at("dealer.cards.0", "1s")),
    ("card_unreadable", at("dealer.cards.0", "QS")),
    ("card_unreadable", at("dealer.cards.0", ["Qs"])),
    ("card_unreadable", at("dealer.cards.0", 47)),
    ("card_unreadable", at("dealer.draws", ["Qx"])),
    ("ruleset_unknown", at("ruleset", "live-shared@2")),
    ("ruleset_unknown", at("ruleset", "")),
    ("ruleset_invalid", at("ruleset", {})),
    ("ruleset_invalid", at("ruleset", house(exchange_max=6))),
    ("ruleset_invalid", at("ruleset", house(title={1, 2}))),
    ("ruleset_invalid", at("ruleset", house(title="x" * 30_000))),
    ("ruleset_changed", at("ruleset", house(id=LIVE, exchange_max=2))),
    ("ruleset_changed", at("ruleset", house(id=LIVE, title="Live"))),
    ("ruleset_changed", at("ruleset", ruleset_object(shipped(DARK)) | {"id": LIVE})),
    ("boxes_empty", at("boxes", [])),
    ("cards_wrong_number", at("dealer.cards", ["Qs", "Qd", "9c", "5h"])),
    ("card_repeated", at("dealer.cards.4", "Qs")),
    ("card_repeated", case(LIVE, NO_GAME, box(TRIPS, purchase=True), draws="Qs")),
    ("draws_without_purchase", case(LIVE, NO_GAME, box(TRIPS), draws="8s")),
    ("draws_without_purchase", case(LIVE, QUEENS, box(TRIPS), draws="8s")),
    ("draws_missing", case(LIVE, NO_GAME, box(TRIPS, purchase=True))),
    ("draws_missing", case(DARK, NO_GAME, box(TRIPS, purchase=True), draws="Qd")),
    ("draws_missing", case(FOUR, NO_GAME, box(TRIPS, purchase=True), draws="Qd Qh")),
    ("draws_too_many", case(LIVE, NO_GAME, box(TRIPS, purchase=True), draws="Qd 8s")),
    ("draws_too_many", case(DARK, NO_GAME, box(TRIPS, purchase=True), draws="Qd Qh 8s")),
    ("draws_too_many", case(DARK, NO_GAME, box(TRIPS, purchase=True), draws="Kd 8s")),
    ("draws_too_many", case(FOUR, NO_GAME, box(TRIPS, purchase=True), draws="8s Qd")),
    ("deck_too_short", case(DARK, NO_GAME, *CROWDED)),
]  # fmt: skip

# What is said of box 2 and player p1.
OF_THE_BOX: list[tuple[str, Json]] = [
    ("key_missing", at("boxes.0.cards")),
    ("key_missing", at("boxes.0.blind")),
    ("key_missing", at("boxes.0.option")),
    ("key_missing", at("boxes.0.final")),
    ("key_missing", at("boxes.0.insurance")),
    ("key_missing", at("boxes.0.purchase")),
    ("key_missing", at("boxes.0.wagers")),
    ("key_missing", at("boxes.0.wagers.ante")),
    ("key_missing", at("boxes.0.option.kind")),
    ("key_missing", at("boxes.0.option", {"kind": "sixth"})),
    ("key_missing", at("boxes.0.option", {"kind": "exchange", "cards": ["Kd"]})),
    ("key_missing", at("boxes.0.option", {"kind": "exchange", "positions": [0]})),
    ("key_missing", at("boxes.0.wagers.ante", {"funding": "f1"})),
    ("key_unknown", at("boxes.0.bet", 200)),
    ("key_unknown", at("boxes.0.wagers.bet", 200)),
    ("key_unknown", at("boxes.0.option.card", "Kd")),
    ("key_unknown", at("boxes.0.wagers.ante", {"stake": 100, "funding": "f1", "bonus": 1})),
    ("object_expected", at("boxes.0.option", "bet")),
    ("object_expected", at("boxes.0.option", None)),
    ("object_expected", at("boxes.0.wagers", 100)),
    ("value_wrong_type", at("boxes.0.blind", 0)),
    ("value_wrong_type", at("boxes.0.purchase", None)),
    ("value_wrong_type", at("boxes.0.cards", None)),
    ("value_wrong_type", at("boxes.0.final", "raise")),
    ("value_wrong_type", at("boxes.0.final", ["bet"])),
    ("value_wrong_type", at("boxes.0.option.kind", "raise")),
    ("value_wrong_type", at("boxes.0.option.kind", ["bet"])),
    ("value_wrong_type", at("boxes.0.option", {"kind": "exchange", "positions": 3, "cards": ["Kd"]})),
    ("value_wrong_type", at("boxes.0.option", {"kind": "sixth", "cards": None})),
    ("value_wrong_type", at("boxes.0.option", {"kind": "sixth", "cards": "Kd"})),
    ("value_wrong_type", at("boxes.0.wagers.ante", {"stake": 100, "funding": ""})),
    ("value_wrong_type", at("boxes.0.wagers.ante", {"stake": 100, "funding": 7})),
    ("value_wrong_type", at("boxes.0.wagers.ante", {"stake": 100, "funding": "f\ud800"})),
    ("amount_not_integer", at("boxes.0.insurance", value=False)),
    ("amount_not_integer", at("boxes.0.insurance", {"stake": 100, "funding": "f1"})),
    ("amount_not_integer", at("boxes.0.wagers.ante", 100.0)),
    ("amount_not_integer", at("boxes.0.wagers.ante", value=True)),
    ("amount_not_integer", at("boxes.0.wagers.ante", "100")),
    ("amount_not_integer", at("boxes.0.wagers.ante", None)),
    ("amount_not_integer", at("boxes.0.wagers.ante", {"stake": True})),
    ("amount_not_integer", at("boxes.0.wagers.bonus_player", None)),
    ("amount_not_integer", at("boxes.0.wagers.bonus_dealer", 1.5)),
    ("amount_not_integer", at("boxes.0.max_payout", "none")),
    ("amount_not_integer", at("boxes.0.option", {"kind": "exchange", "positions": [True], "cards": ["Kd"]})),
    ("amount_negative", at("boxes.0.wagers.ante", -100)),
    ("amount_negative", at("boxes.0.wagers.bonus_player", -1)),
    ("amount_negative", at("boxes.0.wagers.bonus_dealer", {"stake": -1, "funding": "f1"})),
    ("amount_negative", at("boxes.0.insurance", -100)),
    ("amount_negative", at("boxes.0.max_payout", -1)),
    ("amount_too_large", at("boxes.0.wagers.ante", MOST + 1)),
    ("amount_too_large", at("boxes.0.wagers.bonus_player", 2**64)),
    ("amount_too_large", at("boxes.0.insurance", 10**30)),
    ("amount_too_large", at("boxes.0.max_payout", MOST + 1)),
    ("amount_too_large", case(LIVE, QUEENS, box(TRIPS, ante=MOST))),
    ("amount_too_large", case(LIVE, QUEENS, box(TRIPS, ante=MOST // 9 + 1))),  # 1 + 2 + 6 antes come back
    ("amount_too_large", case(LIVE, "9s 9h 9d Kc Kd", box("8s 8h 8d 4c 2d", ante=MOST // 3 + 1))),
    ("card_unreadable", at("boxes.0.cards.2", "")),
    ("card_unreadable", at("boxes.0.cards.2", None)),
    ("card_unreadable", case(LIVE, QUEENS, box(TRIPS, "sixth", "10s"))),
    ("cards_wrong_number", case(LIVE, QUEENS, box("9s 9h 9d 4c"))),
    ("cards_wrong_number", case(LIVE, QUEENS, box("9s 9h 9d 4c 2d Kd"))),
    ("card_repeated", case(LIVE, QUEENS, box("9s 9h 9s 4c 2d"))),
    ("card_repeated", case(LIVE, QUEENS, box("9s 9h 9d 4c 2c"))),
    ("card_repeated", case(LIVE, QUEENS, box(TRIPS, "sixth", "9s"))),
    ("card_repeated", case(CLASSIC, QUEENS, box(TRIPS, "exchange", "2d", (4,)))),
    ("card_repeated", case(LIVE, NO_GAME, box(TRIPS, purchase=True), draws="9s")),
    ("card_repeated", case(CLASSIC, QUEENS, box(PAIR, player="p0", box=1), box("9s Th 6d 4s 2s"))),
    ("shared_cards_differ", case(LIVE, QUEENS, box(PAIR, player="p0"), box("9s 9h 7d 4c 2s"))),
    ("shared_cards_differ", case(LIVE, QUEENS, box(PAIR, player="p0"), box("9h 9s 7d 4c 2d"))),
    ("switch_cards_differ", case(
        LIVE, QUEENS, box(PAIR, "exchange", "Kd 7s", (2, 3), player="p0"), box(PAIR, "sixth", "7s"))),
    ("switch_cards_differ", case(
        LIVE, QUEENS, box(PAIR, "sixth", "7s"), box(PAIR, "exchange", "Kd 7s", (2, 3), player="p0"))),
    ("switch_cards_differ", case(
        LIVE, QUEENS,
        box(PAIR, "exchange", "Kd 7s", (2, 3), player="p0"), box(PAIR, "exchange", "Kd 7h", (2, 3)))),
    ("box_unknown", case(LIVE, QUEENS, box(TRIPS, box=2, player="p0"), box(TRIPS, box=0))),
    ("box_unknown", case(LIVE, QUEENS, box(TRIPS, box=2, player="p0"), box(TRIPS, box=4))),
    ("box_not_open", case(LIVE, QUEENS, box(TRIPS, box=1))),
    ("box_not_blind", case(LIVE, QUEENS, blind(TRIPS, box=2))),
    ("box_not_blind", case(THREE, QUEENS, blind(TRIPS, box=2))),
    ("box_taken", case(CLASSIC, QUEENS, box(PAIR, player="p0"), box("8s 8h 7c 4s 2s"))),
    ("player_repeated", case(LIVE, QUEENS, box(PAIR), box(PAIR))),
    ("ante_zero", case(LIVE, QUEENS, box(TRIPS, ante=0))),
    ("ante_zero", case(LIVE, QUEENS, box(TRIPS, ante={"stake": 0, "funding": "f1"}))),
    ("bonus_player_not_offered", case(CLASSIC, QUEENS, box(TRIPS, bonus_player=1))),
    ("bonus_dealer_not_offered", case(DARK, QUEENS, box(TRIPS, bonus_dealer=1))),
    ("free_bet_empty", case(LIVE, QUEENS, box(TRIPS, bonus_player={"stake": 0, "funding": "f1"}))),
    ("free_bet_empty", case(DARK, QUEENS, box(TRIPS, bonus_dealer={"stake": 0, "funding": "f1"}))),
    ("blind_box_option", case(FOUR, QUEENS, box(TRIPS, "bet", blind=True, final=None))),
    ("blind_box_option", case(FOUR, QUEENS, box(TRIPS, "sixth", "Kd", blind=True, final=None))),
    ("blind_box_option", at("boxes.0.option.cards", ["Kd"], case(FOUR, QUEENS, blind(TRIPS, box=2)))),
    ("blind_box_final", case(FOUR, QUEENS, blind(TRIPS, box=2, final="bet"))),
    ("blind_box_final", case(FOUR, QUEENS, blind(TRIPS, box=2, final="fold"))),
    ("option_without_cards", at("boxes.0.option.cards", ["Kd"])),
    ("option_without_cards", at("boxes.0.option.positions", [1])),
    ("sixth_card_number", case(LIVE, QUEENS, box(TRIPS, "sixth", "Kd 7s"))),
    ("sixth_card_number", case(LIVE, QUEENS, box(TRIPS, "sixth", ""))),
    ("sixth_card_number", at("boxes.0.option", {"kind": "sixth", "cards": ["Kd"], "positions": [0]})),
    ("exchange_empty", case(LIVE, QUEENS, box(TRIPS, "exchange", "", ()))),
    ("exchange_too_many", case(CLASSIC, QUEENS, box(TRIPS, "exchange", "Kd Kc Ac Ad Js", (0, 1, 2, 3, 4)))),
    ("exchange_position_out_of_range", case(LIVE, QUEENS, box(TRIPS, "exchange", "Kd", (5,)))),
    ("exchange_position_out_of_range", case(LIVE, QUEENS, box(TRIPS, "exchange", "Kd", (-1,)))),
    ("exchange_position_repeated", case(LIVE, QUEENS, box(TRIPS, "exchange", "Kd 7s", (3, 3)))),
    ("exchange_cards_mismatch", case(LIVE, QUEENS, box(TRIPS, "exchange", "Kd 7s", (3,)))),
    ("exchange_cards_mismatch", case(LIVE, QUEENS, box(TRIPS, "exchange", "Kd", (3, 4)))),
    ("final_missing", case(LIVE, QUEENS, box(TRIPS, final=None))),
    ("final_missing", case(LIVE, QUEENS, box(TRIPS, "none", final=None))),
    ("final_missing", case(LIVE, QUEENS, box(TRIPS, "sixth", "Kd", final=None))),
    ("final_after_fold", case(LIVE, QUEENS, box(TRIPS, "fold", final="fold"))),
    ("final_after_fold", case(LIVE, QUEENS, box(TRIPS, "fold", final="bet"))),
    ("fold_after_bet", case(LIVE, QUEENS, box(TRIPS, "bet", final="fold"))),
    ("insurance_not_offered", at("ruleset", WITHOUT_INSURANCE, case(LIVE, QUEENS, INSURED))),
    ("insurance_blind_box", case(FOUR, QUEENS, blind(TRIPS, box=2, insurance=100))),
    ("insurance_folded", case(LIVE, QUEENS, box(TRIPS, "fold", insurance=100))),
    ("insurance_folded", case(LIVE, QUEENS, box(TRIPS, "sixth", "Kd", final="fold", insurance=100))),
    ("insurance_folded", case(LIVE, QUEENS, box(TRIPS, "none", final="fold", insurance=100))),
    ("insurance_passed", case(LIVE, QUEENS, box(TRIPS, "none", insurance=100))),
    ("insurance_hand_too_low", case(LIVE, QUEENS, box("9s 9h 4d 4c 2d", insurance=100))),
    ("insurance_hand_too_low", case(LIVE, QUEENS, box(TRIPS, "exchange", "Kd", (0,), insurance=100))),
    ("insurance_maximum_below_minimum", case(LIVE, QUEENS, box(TRIPS, insurance=100), cap=199)),
    ("insurance_below_minimum", case(LIVE, QUEENS, box(TRIPS, insurance=99))),
    ("insurance_above_maximum", case(LIVE, QUEENS, box(TRIPS, insurance=301))),
    ("insurance_above_maximum", case(LIVE, QUEENS, box(TRIPS, insurance=201), cap=400)),
    ("insurance_above_maximum", case(DARK, QUEENS, box(TRIPS, insurance=601))),
    ("purchase_not_offered", at("ruleset", WITHOUT_PURCHASE, case(LIVE, NO_GAME, BUYER, draws="8s"))),
    ("purchase_dealer_qualifies", case(LIVE, QUEENS, box(TRIPS, purchase=True), draws="8s")),
    ("purchase_folded", case(LIVE, NO_GAME, box(TRIPS, "fold", purchase=True), draws="8s")),
    ("purchase_folded", case(LIVE, NO_GAME, box(TRIPS, "none", final="fold", purchase=True), draws="8s")),
    ("purchase_blind", case(DARK, NO_GAME, blind(TRIPS, box=2, purchase=True), draws="8s")),
    ("purchase_insured", case(CLASSIC, NO_GAME, box(TRIPS, insurance=100, purchase=True), draws="8s")),
    ("purchase_needs_combination", case(LIVE, NO_GAME, box(NOTHING, purchase=True), draws="8s")),
]  # fmt: skip
