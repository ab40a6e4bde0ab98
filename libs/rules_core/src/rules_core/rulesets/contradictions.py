"""What no ruleset can ask for at once: checks across its keys."""

from __future__ import annotations

from typing import Final

from rules_core.rulesets.model import Ruleset
from rules_core.rulesets.reader import WrongKey

DECK: Final = 52
HAND: Final = 5
SWITCH_CARDS: Final = 5


def refuse_contradictions(ruleset: Ruleset) -> None:
    """Raise `WrongKey` for the first pair of parameters that cannot hold together."""
    _refuse_table(ruleset)
    _refuse_seating(ruleset)
    _refuse_windows(ruleset)
    _refuse_decisions(ruleset)
    _refuse_deck(ruleset)


def _refuse_table(ruleset: Ruleset) -> None:
    if len(ruleset.box_kinds) != ruleset.boxes:
        raise WrongKey("box_kinds", f"must have one entry for each of the {ruleset.boxes} boxes")
    if ruleset.shared and ruleset.private:
        raise WrongKey("open_cards", "must be public on a shared table: its open boxes have many players")
    if ruleset.shared and "any" in ruleset.box_kinds:
        raise WrongKey("box_kinds", "must be open or blind for each box of a shared table, not any")
    if all(kind == "blind" for kind in ruleset.box_kinds):
        raise WrongKey("box_kinds", "must let at least one box be open")


def _refuse_seating(ruleset: Ruleset) -> None:
    seating = ruleset.seating
    can_be_open = sum(kind != "blind" for kind in ruleset.box_kinds)
    can_be_blind = sum(kind != "open" for kind in ruleset.box_kinds)
    if seating.open_boxes_max > can_be_open:
        raise WrongKey("seating.open_boxes_max", f"must be at most {can_be_open}: no more can be open")
    if (seating.blind_boxes_max or 0) > can_be_blind:
        raise WrongKey("seating.blind_boxes_max", f"must be at most {can_be_blind}: no more can be blind")
    if seating.blind_boxes_max is None and can_be_blind == 0:
        raise WrongKey("seating.blind_boxes_max", "must be 0: no box can be blind")
    if seating.blind_boxes_max == 0 and can_be_blind > 0:
        raise WrongKey("seating.blind_boxes_max", "must not be 0: box_kinds lets a box be blind")
    if seating.blind_needs_open_boxes > seating.open_boxes_max:
        raise WrongKey("seating.blind_needs_open_boxes", "is more than seating.open_boxes_max allows")
    if seating.blind_needs_open_boxes and can_be_blind == 0:
        raise WrongKey("seating.blind_needs_open_boxes", "must be 0: no box can be blind")


def _refuse_windows(ruleset: Ruleset) -> None:
    order = ("options", "final_options", "purchase")
    wanted = order if ruleset.purchase else order[:2]
    if ruleset.windows != wanted:
        why = "a purchase is possible" if ruleset.purchase else "no purchase is possible (purchase is null)"
        raise WrongKey("windows", f"must be {', '.join(wanted)}, in this order, since {why}")


def _refuse_decisions(ruleset: Ruleset) -> None:
    insurance, purchase = ruleset.insurance, ruleset.purchase
    if insurance and insurance.may_purchase and purchase is None:
        raise WrongKey("insurance.may_purchase", "must be false: no purchase is possible (purchase is null)")
    if insurance is None and ruleset.cap_includes_insurance:
        raise WrongKey("cap_includes_insurance", "must be false: there is no insurance (insurance is null)")
    if purchase and purchase.blind_boxes and all(kind == "open" for kind in ruleset.box_kinds):
        raise WrongKey("purchase.blind_boxes", "must be false: no box can be blind")


def _refuse_deck(ruleset: Ruleset) -> None:
    reserve = ruleset.purchase.reserve_cards if ruleset.purchase else 0
    switch = SWITCH_CARDS if ruleset.shared else 0
    needed = HAND * ruleset.boxes + HAND + switch + reserve
    if needed > DECK:
        raise WrongKey("boxes", f"would need {needed} cards of {DECK} for hands, switch cards and a purchase")
