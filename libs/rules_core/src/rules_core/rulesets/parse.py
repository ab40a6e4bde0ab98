"""A ruleset from its JSON object and back (keys: docs/rulesets.md)."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from typing import Final

from rules_core.canonical import canonical_bytes
from rules_core.rulesets.bonus_table import bonus_table_object, read_bonus_table
from rules_core.rulesets.contradictions import refuse_contradictions
from rules_core.rulesets.model import (
    AnteFate,
    BoxKind,
    EqualAntes,
    Fate,
    Fraction,
    InsuranceRules,
    OpenCards,
    PairedStraight,
    PurchaseRules,
    Redraw,
    Ruleset,
    Seating,
    TableKind,
    WindowName,
)
from rules_core.rulesets.reader import (
    RulesetError,
    WrongKey,
    joined,
    read_boolean,
    read_choice,
    read_integer,
    read_list,
    read_object,
    read_text,
)

__all__ = ["RulesetError", "parse_ruleset", "ruleset_object"]

_ID: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*@[1-9][0-9]{0,5}")
_LONGEST_ID: Final = 64
_LONGEST_TITLE: Final = 100
_MOST_BOXES: Final = 9
_HIGHEST_DENOMINATOR: Final = 10_000

TABLES: Final[tuple[TableKind, ...]] = ("shared", "exclusive")
BOX_KINDS: Final[tuple[BoxKind, ...]] = ("open", "blind", "any")
OPEN_CARDS: Final[tuple[OpenCards, ...]] = ("public", "private")
EQUAL_ANTES: Final[tuple[EqualAntes, ...]] = ("no", "open_boxes", "all_boxes")
FATES: Final[tuple[Fate, ...]] = ("lost", "returned")
ANTE_FATES: Final[tuple[AnteFate, ...]] = ("returned", "one_to_one")
REDRAWS: Final[tuple[Redraw, ...]] = ("never", "once", "until_different")
PAIRED_STRAIGHTS: Final[tuple[PairedStraight, ...]] = ("two_straights", "straight_and_pair")
WINDOWS: Final[tuple[WindowName, ...]] = ("options", "final_options", "purchase")

RULESET_KEYS: Final = (
    "id",
    "title",
    "table",
    "boxes",
    "box_kinds",
    "open_cards",
    "seating",
    "windows",
    "exchange_max",
    "insurance",
    "purchase",
    "cap_includes_insurance",
    "paired_straight",
    "bonus_player",
    "bonus_dealer",
)
SEATING_KEYS: Final = (
    "open_boxes_max",
    "blind_boxes_max",
    "blind_needs_open_boxes",
    "neighbours_only",
    "equal_antes",
)
INSURANCE_KEYS: Final = ("fraction", "on_tie", "when_beaten", "ante_on_no_game", "may_purchase")
FRACTION_KEYS: Final = ("numerator", "denominator")
PURCHASE_KEYS: Final = ("blind_boxes", "needs_combination", "same_rank_redraw", "ante_after_failed")


def parse_ruleset(obj: object) -> Ruleset | RulesetError:
    """The ruleset that `obj` (parsed JSON) describes, or the first key that is wrong and why.

    Strict: every key is stated, nothing is assumed, and parameters that contradict each other are refused.
    """
    try:
        ruleset = _ruleset(obj)
        refuse_contradictions(ruleset)
    except WrongKey as wrong:
        return wrong.error
    return replace(ruleset, sha256=hashlib.sha256(canonical_bytes(ruleset_object(ruleset))).hexdigest())


def _ruleset(obj: object) -> Ruleset:
    fields = read_object(obj, "", RULESET_KEYS)
    boxes = read_integer(fields["boxes"], "boxes", 1, _MOST_BOXES)
    kinds = read_list(fields["box_kinds"], "box_kinds", most=_MOST_BOXES)
    windows = read_list(fields["windows"], "windows", most=len(WINDOWS))
    return Ruleset(
        id=_id(fields["id"]),
        title=read_text(fields["title"], "title", longest=_LONGEST_TITLE),
        table=read_choice(fields["table"], "table", TABLES),
        boxes=boxes,
        box_kinds=tuple(read_choice(kind, f"box_kinds.{at}", BOX_KINDS) for at, kind in enumerate(kinds)),
        open_cards=read_choice(fields["open_cards"], "open_cards", OPEN_CARDS),
        seating=_seating(fields["seating"], boxes),
        windows=tuple(read_choice(name, f"windows.{at}", WINDOWS) for at, name in enumerate(windows)),
        exchange_max=read_integer(fields["exchange_max"], "exchange_max", 1, 5),
        insurance=_insurance(fields["insurance"]),
        purchase=_purchase(fields["purchase"]),
        cap_includes_insurance=read_boolean(fields["cap_includes_insurance"], "cap_includes_insurance"),
        paired_straight=read_choice(fields["paired_straight"], "paired_straight", PAIRED_STRAIGHTS),
        bonus_player=read_bonus_table(fields["bonus_player"], "bonus_player", jackpot=True),
        bonus_dealer=read_bonus_table(fields["bonus_dealer"], "bonus_dealer", jackpot=False),
        sha256="",
    )


def _id(value: object) -> str:
    text = read_text(value, "id", longest=_LONGEST_ID)
    if _ID.fullmatch(text) is None:
        raise WrongKey("id", "must be name@version, as my-house@1: a-z, 0-9 and single hyphens, from 1 up")
    return text


def _seating(value: object, boxes: int) -> Seating:
    fields = read_object(value, "seating", SEATING_KEYS)
    most_blind = fields["blind_boxes_max"]
    if most_blind is not None:
        most_blind = read_integer(most_blind, "seating.blind_boxes_max", 0, boxes)
    return Seating(
        open_boxes_max=read_integer(fields["open_boxes_max"], "seating.open_boxes_max", 1, boxes),
        blind_boxes_max=most_blind,
        blind_needs_open_boxes=read_integer(
            fields["blind_needs_open_boxes"], "seating.blind_needs_open_boxes", 0, boxes
        ),
        neighbours_only=read_boolean(fields["neighbours_only"], "seating.neighbours_only"),
        equal_antes=read_choice(fields["equal_antes"], "seating.equal_antes", EQUAL_ANTES),
    )


def _insurance(value: object) -> InsuranceRules | None:
    if value is None:
        return None
    fields = read_object(value, "insurance", INSURANCE_KEYS)
    return InsuranceRules(
        fraction=_fraction(fields["fraction"], "insurance.fraction"),
        on_tie=read_choice(fields["on_tie"], "insurance.on_tie", FATES),
        when_beaten=read_choice(fields["when_beaten"], "insurance.when_beaten", FATES),
        ante_on_no_game=read_choice(fields["ante_on_no_game"], "insurance.ante_on_no_game", ANTE_FATES),
        may_purchase=read_boolean(fields["may_purchase"], "insurance.may_purchase"),
    )


def _fraction(value: object, key: str) -> Fraction:
    fields = read_object(value, key, FRACTION_KEYS)
    high = _HIGHEST_DENOMINATOR
    numerator = read_integer(fields["numerator"], joined(key, "numerator"), 1, high)
    denominator = read_integer(fields["denominator"], joined(key, "denominator"), 1, high)
    if numerator > denominator:
        raise WrongKey(key, f"{numerator}/{denominator} is more than the whole expected win; at most 1")
    return Fraction(numerator, denominator)


def _purchase(value: object) -> PurchaseRules | None:
    if value is None:
        return None
    fields = read_object(value, "purchase", PURCHASE_KEYS)
    return PurchaseRules(
        blind_boxes=read_boolean(fields["blind_boxes"], "purchase.blind_boxes"),
        needs_combination=read_boolean(fields["needs_combination"], "purchase.needs_combination"),
        same_rank_redraw=read_choice(fields["same_rank_redraw"], "purchase.same_rank_redraw", REDRAWS),
        ante_after_failed=read_choice(fields["ante_after_failed"], "purchase.ante_after_failed", ANTE_FATES),
    )


def ruleset_object(ruleset: Ruleset) -> dict[str, object]:
    """The ruleset as its JSON object, in the order of docs/rulesets.md; `parse_ruleset` gives it back."""
    seating, insurance, purchase = ruleset.seating, ruleset.insurance, ruleset.purchase
    return {
        "id": ruleset.id,
        "title": ruleset.title,
        "table": ruleset.table,
        "boxes": ruleset.boxes,
        "box_kinds": list(ruleset.box_kinds),
        "open_cards": ruleset.open_cards,
        "seating": {key: getattr(seating, key) for key in SEATING_KEYS},
        "windows": list(ruleset.windows),
        "exchange_max": ruleset.exchange_max,
        "insurance": None if insurance is None else _insurance_object(insurance),
        "purchase": None if purchase is None else {key: getattr(purchase, key) for key in PURCHASE_KEYS},
        "cap_includes_insurance": ruleset.cap_includes_insurance,
        "paired_straight": ruleset.paired_straight,
        "bonus_player": bonus_table_object(ruleset.bonus_player),
        "bonus_dealer": bonus_table_object(ruleset.bonus_dealer),
    }


def _insurance_object(insurance: InsuranceRules) -> dict[str, object]:
    fraction = {key: getattr(insurance.fraction, key) for key in FRACTION_KEYS}
    return {**{key: getattr(insurance, key) for key in INSURANCE_KEYS}, "fraction": fraction}
