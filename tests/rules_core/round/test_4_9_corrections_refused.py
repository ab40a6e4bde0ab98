"""RULES.md 4.9 and 7: who may correct a settled round, and what cannot have been."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rules_core.cards import parse_cards
from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.rulesets.shipped import shipped
from tests.rules_core.round.scripted import Scripted, ante, limits_for
from tests.rules_core.round.settled_table import (
    ACE_KING,
    APPROVER,
    CARDS,
    PROPOSER,
    REFUND,
    cards,
    choice,
    decided,
    table,
)

# who, when, why


@pytest.mark.parametrize(
    ("proposer", "approver"),
    [
        ("staff:ann", "staff:ann"),
        ("dealer:ann", "staff:bob"),
        ("staff:ann", "dealer:bob"),
        ("staff:ann", "player:p1"),
        ("system", "staff:bob"),
        ("staff:ann", ""),
    ],
)
def test_two_different_staff(proposer: str, approver: str) -> None:
    table().when(replace(REFUND, proposer=proposer, approver=approver)).refused("second_person_missing")


def test_only_a_settled_round() -> None:
    done = decided()
    done.when(REFUND).refused("round_not_settled")
    done.settle(1)
    done.when(REFUND).refused("round_not_settled")


@pytest.mark.parametrize("reason", ["", "because", "wrong result"])
def test_a_known_reason(reason: str) -> None:
    table().when(replace(REFUND, reason=reason)).refused("reason_unknown", reason=reason)


def test_wrong_result_is_always_a_refund() -> None:
    done = table()
    done.when(replace(cards(("box.1.0", "Tc")), reason="wrong_result")).refused("refund_missing")


def test_either_a_refund_or_a_correction() -> None:
    done = table()
    done.when(c.Resettle("dealer_mistake", PROPOSER, APPROVER)).refused("correction_unclear")
    done.when(replace(cards(("box.1.0", "Tc")), refund=True)).refused("correction_unclear")
    done.when(replace(REFUND, choices=(e.ChoiceCorrection(2, "p1", option="fold"),))).refused(
        "correction_unclear"
    )


@pytest.mark.parametrize("limit", [0, 501])
def test_a_chunk_is_of_one_to_five_hundred_players(limit: int) -> None:
    table().when(replace(REFUND, limit=limit)).refused("chunk_out_of_range", limit=limit)


# what cannot have been


@pytest.mark.parametrize("place", ["box.4.0", "switch.5", "draw.0", "replacement.2.0", "nowhere", "box.2"])
def test_a_place_where_no_card_lay(place: str) -> None:
    table().when(cards((place, "Tc"))).refused("place_unknown", place=place)


@pytest.mark.parametrize("card", ["", "10c", "tc", "Tx"])
def test_a_card_that_is_none(card: str) -> None:
    table().when(cards(("box.1.0", card))).refused("card_unreadable", place="box.1.0")


@pytest.mark.parametrize("card", ["9s", "As", "Kh"])
def test_a_card_that_lay_elsewhere(card: str) -> None:
    table().when(cards(("box.1.0", card))).refused("correction_card_repeated")


@pytest.mark.parametrize("card", ["Ts", "7s"], ids=["a box nobody played", "a switch card nobody bought"])
def test_a_card_that_lay_where_nobody_played(card: str) -> None:
    table().when(cards(("box.1.0", card))).refused("correction_card_repeated")


def test_a_card_that_was_burned() -> None:
    done = decided()
    done.do(c.BurnCard("burn-1", parse_cards("Ac")[0]))
    done.settle()
    done.when(cards(("box.1.0", "Ac"))).refused("correction_card_repeated")


def test_burned_cards_that_were_not_read_are_no_card_twice() -> None:
    done = decided()
    done.do(c.BurnCard("burn-1"))
    done.do(c.BurnCard("burn-2"))
    done.settle()
    done.do(cards(("box.1.0", "Ac")))


def test_two_cards_that_were_read_for_each_other_change_places() -> None:
    done = table()
    events = done.do(cards(("box.1.0", "Kd"), ("dealer.1", "Th")))
    assert isinstance(events[-1], e.RoundResettled)
    assert events[-1].dealer.first == "nothing"


@pytest.mark.parametrize(
    "fix", [e.ChoiceCorrection(2, "p9", option="fold"), e.ChoiceCorrection(3, "p1", option="fold")]
)
def test_a_box_that_was_not_played(fix: e.ChoiceCorrection) -> None:
    table().when(choice(fix)).refused("no_such_box", box=fix.box, player=fix.player)


IMPOSSIBLE = [
    (e.ChoiceCorrection(2, "p1", option="exchange"), "correction_exchange_empty"),
    (
        e.ChoiceCorrection(2, "p1", option="exchange", positions=(1, 1), final="bet"),
        "correction_exchange_position_repeated",
    ),
    (e.ChoiceCorrection(2, "p1", final="fold"), "correction_fold_after_bet"),
    (e.ChoiceCorrection(2, "p1", insurance=99), "correction_insurance_below_minimum"),
    (e.ChoiceCorrection(2, "p1", insurance=301), "correction_insurance_above_maximum"),
    (e.ChoiceCorrection(2, "p1", insurance=-100), "correction_amount_negative"),
    (e.ChoiceCorrection(2, "p3", insurance=100), "correction_insurance_folded"),
    (e.ChoiceCorrection(2, "p1", purchase=True), "correction_purchase_dealer_qualifies"),
]


@pytest.mark.parametrize(("fix", "code"), IMPOSSIBLE, ids=[code for _, code in IMPOSSIBLE])
def test_a_choice_that_the_rules_forbid(fix: e.ChoiceCorrection, code: str) -> None:
    table().when(choice(fix)).refused(code, box=fix.box, player=fix.player)


MEANINGLESS = [
    e.ChoiceCorrection(2, "p1", option="raise"),  # type: ignore[arg-type]  # no option
    e.ChoiceCorrection(2, "p2", final="call"),  # type: ignore[arg-type]  # no final option
    e.ChoiceCorrection(2, "p2", final="stand"),  # type: ignore[arg-type]  # not said in a correction
    e.ChoiceCorrection(2, "p1", positions=(0, 1)),
    e.ChoiceCorrection(2, "p3", final="bet"),
    e.ChoiceCorrection(1, "p2", option="fold"),
    e.ChoiceCorrection(1, "p2", final="fold"),
    e.ChoiceCorrection(1, "p2", insurance=100),
    e.ChoiceCorrection(2, "p1", option="fold", final="bet"),
    e.ChoiceCorrection(2, "p1"),
]


@pytest.mark.parametrize(
    "fix", MEANINGLESS, ids=lambda fix: f"{fix.box} {fix.option} {fix.final} {fix.positions} {fix.insurance}"
)
def test_a_choice_that_has_no_meaning(fix: e.ChoiceCorrection) -> None:
    table().when(choice(fix)).refused("correction_without_meaning", box=fix.box, player=fix.player)


@pytest.mark.parametrize(
    "command",
    [
        cards(("box.1.0", "Tc"), ("box.1.0", "Td")),
        choice(e.ChoiceCorrection(2, "p1", insurance=100), e.ChoiceCorrection(2, "p1", insurance=200)),
    ],
    ids=["place", "box"],
)
def test_a_correction_that_contradicts_itself(command: c.Resettle) -> None:
    table().when(command).refused("correction_repeated")


def test_insurance_above_the_tables_limit() -> None:
    limits = replace(limits_for(shipped("live-shared@1")), insurance_max=200)
    done = Scripted("live-shared@1", CARDS, limits=limits).open().place("p1", ante(2)).place("p2", ante(2))
    done.deal().option("p1", 2, "bet").option("p2", 2, "fold")
    done.close_options()
    done.lay()
    done.confirm()
    done.final("p1", 2, "stand")
    done.close_finals()
    done.proceed()
    done.settle()
    done.when(choice(e.ChoiceCorrection(2, "p1", insurance=201))).refused(
        "correction_insurance_above_maximum", box=2, player="p1"
    )
    done.do(choice(e.ChoiceCorrection(2, "p1", insurance=200)))


def test_an_exchange_for_which_no_card_was_laid() -> None:
    private = {"box.1": "9s 9h Kh 4c 2d", "dealer": ACE_KING, "replacement.1": "Td"}
    done = Scripted("three-box@1", private).open().place("p1", ante(1)).deal().option("p1", 1, "sixth")
    done.close_options()
    done.lay()
    done.confirm()
    done.final("p1", 1, "bet")
    done.close_finals()
    done.proceed()
    done.settle()
    wanted = e.ChoiceCorrection(1, "p1", option="exchange", positions=(0, 1))
    done.when(choice(wanted)).refused("cards_missing", box=1, player="p1")
    done.do(choice(replace(wanted, positions=(4,))))
