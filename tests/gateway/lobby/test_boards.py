"""Boards say what the rules say: nothing in them is written by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rules_core.cards import DECK, parse_cards
from rules_core.hands import CATEGORY, ODDS, evaluate
from rules_core.round.limits import AmountRange
from rules_core.rulesets.model import PairedStraight, Ruleset
from rules_core.rulesets.shipped import shipped, shipped_ids
from rules_core.settlement.insurance import insurance_bounds
from tests.gateway.lobby.tables import CHIPS, EUR, table
from upcard_gateway.app.boards import limits_board, payouts_board
from upcard_gateway.app.boards_doubles import double_combinations, doubles_among
from upcard_gateway.app.boards_outcomes import outcomes
from upcard_gateway.app.boards_rules import LOWEST_GAME, LOWEST_INSURED
from upcard_gateway.domain.operators import CurrencyLimits

EVERY_RULESET = [shipped(name) for name in shipped_ids()]
STRAIGHTS: tuple[PairedStraight, ...] = ("two_straights", "straight_and_pair")


@pytest.mark.parametrize("paired_straight", STRAIGHTS)
def test_no_other_rank_adds_a_pair_of_combinations(paired_straight: PairedStraight) -> None:
    assert double_combinations(paired_straight) == doubles_among(range(13), paired_straight)


def test_every_pair_that_the_rulebook_names_is_on_the_board() -> None:
    board = payouts_board(table())
    pays = {row.hands: row.pays for row in board.doubles}
    # RULES.md section 3, and section 9 on rows that a house's own table lacks.
    assert pays["straight", "straight"] == 8
    assert pays["four_of_a_kind", "ace_king"] == 21
    assert pays["straight_flush", "straight"] == 54
    assert pays["royal_flush", "straight"] == 104
    assert pays["royal_flush", "straight_flush"] == 150
    assert list(pays) == sorted(pays, key=lambda pair: tuple(map(CATEGORY.__getitem__, pair)), reverse=True)
    assert ("straight", "one_pair") not in pays
    house = replace(shipped("live-shared@1"), paired_straight="straight_and_pair")
    other = {row.hands: row.pays for row in payouts_board(replace(table(), ruleset=house)).doubles}
    assert other["straight", "one_pair"] == 5
    assert other["royal_flush", "one_pair"] == 101


def test_single_combinations_are_those_of_the_rules() -> None:
    board = payouts_board(table())
    assert {row.hand: row.pays for row in board.bet} == {hand: odds for hand, odds in ODDS.items() if odds}


@pytest.mark.parametrize("ruleset", EVERY_RULESET, ids=lambda rules: rules.id)
def test_bonus_rows_are_those_of_the_ruleset(ruleset: Ruleset) -> None:
    board = payouts_board(table(ruleset=ruleset.id))
    for shown, rows in (
        (board.bonus_player, ruleset.bonus_player),
        (board.bonus_dealer, ruleset.bonus_dealer),
    ):
        assert (shown is None) == (rows is None)
        for row, known in zip(shown or (), rows or (), strict=True):
            assert (row.hand, row.pays) == (known.hand, known.pays)
            assert row.jackpot_share_percent == known.jackpot_share_percent
            assert (row.rank is None) == (known.rank is None)
    assert (board.insurance_pays is None) == (ruleset.insurance is None)


def test_a_bonus_that_the_table_does_not_take_is_not_on_its_board() -> None:
    without = replace(EUR, bonus_player=None, bonus_dealer=None)
    board = payouts_board(table(limits=(without,)))
    assert (board.bonus_player, board.bonus_dealer) == (None, None)


def test_each_box_has_the_limits_that_hold_there() -> None:
    board = limits_board(table())
    euros = board.currencies[0]
    assert [box.kinds for box in euros.boxes] == [("blind",), ("open",), ("blind",)]
    assert [box.ante for box in euros.boxes] == [
        AmountRange(200, 50_000),
        AmountRange(500, 20_000),
        AmountRange(200, 50_000),
    ]
    assert euros.boxes[1].bet == AmountRange(1_000, 40_000)
    assert [box.max_payout for box in euros.boxes] == [1_000_000, 400_000, 1_000_000]
    assert euros.chips == CHIPS


def test_an_operator_sees_its_own_currencies_with_its_own_limits() -> None:
    board = limits_board(table(), {"EUR": CurrencyLimits("EUR", 300, 9_000), "GBP": CurrencyLimits("GBP")})
    assert [one.currency for one in board.currencies] == ["EUR"]
    assert (board.currencies[0].operator_min_bet, board.currencies[0].operator_max_bet) == (300, 9_000)


@pytest.mark.parametrize("ruleset", EVERY_RULESET, ids=lambda rules: rules.id)
def test_outcomes_are_those_of_the_table_in_the_rulebook(ruleset: Ruleset) -> None:
    """RULES.md section 5, the first table, by the parameters of section 6."""
    found = {
        (one.case, one.insured): {wager.wager: wager.fate for wager in one.wagers}
        for one in outcomes(ruleset)
    }
    insurance, purchase = ruleset.insurance, ruleset.purchase
    assert insurance is not None
    assert purchase is not None
    assert found["folded", False] == {"ante": "lost", "option_fee": "lost"}
    assert found["no_game", False]["ante"] == "one_to_one"
    assert found["no_game", True]["ante"] == insurance.ante_on_no_game
    assert found["no_game", True]["insurance"] == "one_to_one"
    assert found["bought_no_game", False]["ante"] == purchase.ante_after_failed
    assert found["game_better", False] == {"ante": "returned", "bet": "odds", "option_fee": "lost"}
    assert found["game_better", True]["insurance"] == "lost"
    assert found["game_tie", False]["bet"] == "returned"
    assert found["game_tie", True]["insurance"] == insurance.on_tie
    assert found["game_worse", False]["bet"] == "lost"
    assert found["game_worse", True]["insurance"] == insurance.when_beaten
    assert (("bought_game_tie", True) in found) == insurance.may_purchase
    if insurance.may_purchase:
        assert found["bought_game_worse", True]["insurance"] == "one_to_one"


def test_a_ruleset_without_insurance_or_purchase_has_no_such_outcome() -> None:
    bare = replace(shipped("classic@1"), insurance=None, purchase=None)
    cases = {(one.case, one.insured) for one in outcomes(bare)}
    assert cases == {(case, False) for case in ("folded", "no_game", "game_better", "game_tie", "game_worse")}


def test_the_lowest_hands_that_the_page_names_are_those_of_the_rules() -> None:
    insured = {
        evaluation.best
        for evaluation in (
            evaluate(parse_cards(cards))
            for cards in ("7h 7d 7s 2c 3d", "7h 7d 2s 2c 3d", "9h 8d 7s 6c 5d", "Ah Kd 7s 2c 3d")
        )
        if insurance_bounds(shipped("classic@1"), evaluation, 100, None) is not None
    }
    assert min(insured, key=CATEGORY.__getitem__) == LOWEST_INSURED
    game = (evaluate(cards) for cards in (DECK[place : place + 5] for place in range(48)))
    assert all(CATEGORY[one.best] >= CATEGORY[LOWEST_GAME] for one in game if one.qualifies)
    assert evaluate(parse_cards("Ah Kd 7s 2c 3d")).qualifies
    assert not evaluate(parse_cards("Ah Qd 7s 2c 3d")).qualifies
