"""Explanations as a player reads them, for every row of RULES.md section 5; whole texts are compared."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from pathlib import Path

import pytest

from rules_core.command_line.demo_command import settled_round
from rules_core.command_line.random_round import random_round
from rules_core.explain import explain, in_english
from rules_core.explain.catalogue import SCALE_MAX
from rules_core.rulesets.shipped import shipped, shipped_ids
from rules_core.settlement.case_json import parse_case
from rules_core.settlement.model import Case, Line, Settlement
from rules_core.settlement.settle import settle
from tests.oracle.cases import random_case
from tests.rules_core.explained import CASES, explained, explained_refund, settled_case

GOLDEN = Path(__file__).with_name("explanations.txt").read_text("utf-8")
TEXTS = dict(re.findall(r"^## (.*)\n((?:(?!## ).*\n)*)", GOLDEN, re.MULTILINE))
REFUND = "everything refunded"


def lines_of(about: str, box: int = 0) -> list[str]:
    """The paragraph of one box of a case, a line an item; 0 is the table's own."""
    return in_english(explained(about)).split("\n\n")[box].splitlines()


def test_every_case_has_its_text() -> None:
    assert list(TEXTS) == [*CASES, REFUND]


@pytest.mark.parametrize("about", CASES)
def test_text_to_the_letter(about: str) -> None:
    assert in_english(explained(about)) + "\n" == TEXTS[about]


def test_a_refund_explains_every_wager_without_cards() -> None:
    assert in_english(explained_refund("free bets")) + "\n" == TEXTS[REFUND]


def test_a_correction_that_refunds_one_box_explains_the_others_as_before() -> None:
    case, settlement = settled_case("others bought")
    first, *others = settlement.boxes
    lines = tuple(Line(line.wager, line.stake, line.stake, "refunded") for line in first.lines)
    back = replace(first, outcome="refunded", lines=lines, returned=first.staked, net=0)
    corrected = explain(case, replace(settlement, boxes=(back, *others)))
    before = explain(case, settlement)
    assert corrected.boxes[1:] == before.boxes[1:]
    assert in_english(replace(corrected, table=(), boxes=corrected.boxes[:1]), scale=0).splitlines() == [
        "Box 2, player p1",
        "Every wager and fee of the round goes back, whatever had been won or lost.",
        "Ante of 100: refunded.",
        "Bet of 200: refunded.",
        "Price of the dealer's new card of 100: refunded.",
        "In all 400 staked, 400 returned: nothing won or lost.",
    ]


@pytest.mark.parametrize(
    ("scale", "currency", "shown"),
    [
        (0, "JPY", "810 JPY staked, 1500 JPY returned: 690 JPY won"),
        (1, "", "81.0 staked, 150.0 returned: 69.0 won"),
        (2, "EUR", "8.10 EUR staked, 15.00 EUR returned: 6.90 EUR won"),
        (3, "KWD", "0.810 KWD staked, 1.500 KWD returned: 0.690 KWD won"),
        (8, "X", "0.00000810 X staked, 0.00001500 X returned: 0.00000690 X won"),
    ],
)
def test_amounts_with_digits_after_the_point(scale: int, currency: str, shown: str) -> None:
    text = in_english(explained("an exchange, insured, that buys a game"), scale=scale, currency=currency)
    assert text.splitlines()[-1] == f"In all {shown}."
    assert "minor units" not in text


def test_amounts_in_minor_units_are_said_to_be_so() -> None:
    assert lines_of("no game")[-1] == "All amounts are in minor units of the currency."


@pytest.mark.parametrize("scale", [-1, SCALE_MAX + 1])
def test_a_scale_that_no_currency_has_is_refused(scale: int) -> None:
    with pytest.raises(ValueError, match=f"scale must be 0 to 8, not {scale}"):
        in_english(explained("no game"), scale=scale)


def test_one_player_is_sent_the_table_and_own_boxes_alone() -> None:
    whole = explained("others bought")
    part = whole.for_player("p2")
    assert (part.table, part.boxes) == (whole.table, (whole.boxes[1],))
    assert whole.for_player("p9").boxes == ()


def test_a_players_id_can_neither_break_a_line_nor_move_a_cursor() -> None:
    case, settlement = settled_case("no game")
    named = replace(settlement, boxes=(replace(settlement.boxes[0], player="é\nBox 3\x1b[2J"),))
    text = in_english(explain(case, named))
    assert "Box 2, player é\\u000aBox 3\\u001b[2J\n" in text


def test_a_players_id_is_written_alike_on_each_python() -> None:
    case, settlement = settled_case("no game")
    named = replace(settlement, boxes=(replace(settlement.boxes[0], player="\U0001fae8\u0378\u202e"),))
    assert "Box 2, player \U0001fae8\u0378\\u202e\n" in in_english(explain(case, named))


def test_a_settlement_of_another_case_is_refused() -> None:
    case, _ = settled_case("bonus D lost")
    _, settlement = settled_case("both bonuses won")
    with pytest.raises(ValueError, match="do not belong together"):
        explain(case, settlement)
    with pytest.raises(ValueError, match="zip"):
        explain(case, settled_case("others bought")[1])


def check_spoken_for(case: Case, settlement: Settlement) -> None:
    """Every line of a settlement is explained once, in order, with its sums; the totals end the text."""
    explanation = explain(case, settlement)
    paragraphs = in_english(explanation, scale=0).rstrip("\n").split("\n\n")
    assert len(paragraphs) == 1 + len(settlement.boxes)
    for result, box, text in zip(settlement.boxes, explanation.boxes, paragraphs[1:], strict=True):
        reasons = [line.reason for line in result.lines]
        assert [said.slug for said in box.sentences if said.slug in reasons] == reasons
        assert text.startswith(f"Box {result.box}, player {result.player}\n")
        for line in result.lines:
            assert re.search(rf"\b{line.stake}\b", text)
            assert line.returned in {0, line.stake} or re.search(rf"\b{line.returned}\b", text)
        assert text.splitlines()[-1].startswith(
            f"In all {result.staked} staked, {result.returned} returned: "
        )


def test_random_settlements_are_explained_line_by_line() -> None:
    rng = random.Random(20_261_130)
    for _ in range(200):
        case = parse_case(random_case(rng))
        assert isinstance(case, Case)
        settlement = settle(case)
        if isinstance(settlement, Settlement):
            check_spoken_for(case, settlement)


@pytest.mark.parametrize("ruleset", shipped_ids())
def test_a_played_round_is_explained_as_it_was_settled(ruleset: str) -> None:
    for seed in range(5):
        table = random_round(shipped(ruleset), seed, 3)
        case, settlement = settled_round(table)
        recorded = [box for player in table.state.order for box in table.state.seats[player].results]
        assert list(settlement.boxes) == recorded
        check_spoken_for(case, settlement)
