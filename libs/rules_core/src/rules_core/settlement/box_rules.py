"""What one entry of a case must obey by itself, before any hand is compared (RULES.md sections 4 and 6)."""

from __future__ import annotations

from typing import Final

from rules_core.canonical import INTEGER_MAX
from rules_core.rulesets.model import Ruleset
from rules_core.settlement.model import BoxCase, CaseError
from rules_core.settlement.option import option_refusal

AMOUNT_MAX: Final = INTEGER_MAX
"""The largest amount, in minor units: the largest integer that every JSON reader keeps exact."""

_OPTION_MESSAGES: Final = {
    "exchange_empty": "an exchange replaces at least one card; give positions and cards, or another option",
    "exchange_too_many": "{count} cards were exchanged; this ruleset allows at most {most}",
    "exchange_position_out_of_range": "exchanged positions are 0 to 4, the first card being 0",
    "exchange_position_repeated": "each position can be exchanged once; give distinct positions",
    "exchange_cards_mismatch": "give one card for each exchanged position: {count} positions, {cards} cards",
    "sixth_card_number": "a sixth card is exactly one card, without positions; {cards} were given",
    "option_without_cards": "the option {kind} buys no card; give no cards and no positions",
}


def box_error(ruleset: Ruleset, box: BoxCase) -> CaseError | None:
    """The first reason why this entry cannot have been played under this ruleset, or None."""
    return (
        _place_error(ruleset, box)
        or _wager_error(ruleset, box)
        or (_blind_error(box) if box.blind else _open_error(ruleset, box))
    )


def _place_error(ruleset: Ruleset, box: BoxCase) -> CaseError | None:
    if not 1 <= box.box <= ruleset.boxes:
        return error("box_unknown", f"box {box.box} does not exist; boxes are 1 to {ruleset.boxes}", box)
    if not ruleset.box_may_be(box.box, blind=box.blind):
        if box.blind:
            return error("box_not_blind", f"box {box.box} is always open here; set blind to false", box)
        return error("box_not_open", f"box {box.box} is always blind here; set blind to true", box)
    if len(box.cards) != 5:
        return error("cards_wrong_number", f"a box is dealt 5 cards, not {len(box.cards)}", box)
    return None


def _wager_error(ruleset: Ruleset, box: BoxCase) -> CaseError | None:
    wagers = box.wagers
    cap = 0 if box.max_payout is None else box.max_payout
    amounts = (wagers.ante, wagers.bonus_player, wagers.bonus_dealer, box.insurance, cap)
    if min(amounts) < 0:
        return error("amount_negative", "amounts are whole minor units from 0 up", box)
    if max(amounts) > AMOUNT_MAX:
        return error("amount_too_large", f"amounts are at most {AMOUNT_MAX}", box)
    if wagers.ante == 0:
        return error("ante_zero", "a box in play has an ante of at least 1; leave out a box without one", box)
    if wagers.bonus_player:
        if ruleset.bonus_player is None:
            return error("bonus_player_not_offered", "this ruleset has no bonus B; stake 0", box)
    elif wagers.bonus_player_funding is not None:
        return error("free_bet_empty", "a free bet has a stake above 0: bonus_player", box)
    if wagers.bonus_dealer:
        if ruleset.bonus_dealer is None:
            return error("bonus_dealer_not_offered", "this ruleset has no bonus D; stake 0", box)
    elif wagers.bonus_dealer_funding is not None:
        return error("free_bet_empty", "a free bet has a stake above 0: bonus_dealer", box)
    return None


def _blind_error(box: BoxCase) -> CaseError | None:
    if box.option.kind != "none" or box.option.cards or box.option.positions:
        return error("blind_box_option", 'a blind box has no options; its option kind is "none"', box)
    if box.final is not None:
        return error("blind_box_final", "a blind box has no final options; its final is null", box)
    if box.insurance:
        return error("insurance_blind_box", "a blind box cannot be insured; set insurance to 0", box)
    return None


def _open_error(ruleset: Ruleset, box: BoxCase) -> CaseError | None:
    option, final = box.option, box.final
    refusal = option_refusal(ruleset, option)
    if refusal is not None:
        message = _OPTION_MESSAGES[refusal].format(
            kind=option.kind,
            count=len(option.positions),
            cards=len(option.cards),
            most=ruleset.exchange_max,
        )
        return error(refusal, message, box)
    if option.kind == "fold":
        if final is not None:
            return error("final_after_fold", "the box was folded; its final is null", box)
    elif final is None:
        return error("final_missing", 'an open box ends with a final of "bet" or "fold"', box)
    elif final == "fold" and option.kind == "bet":
        return error("fold_after_bet", 'the bet was placed and cannot be taken back; its final is "bet"', box)
    if box.insurance:
        if option.kind == "fold" or final == "fold":
            return error("insurance_folded", "a folded box cannot be insured; set insurance to 0", box)
        if option.kind == "none":
            message = "a box that let the options pass may only bet or fold; set insurance to 0"
            return error("insurance_passed", message, box)
    return None


def error(code: str, message: str, box: BoxCase | None = None) -> CaseError:
    """A `CaseError` about this entry, or about none."""
    return CaseError(code, message) if box is None else CaseError(code, message, box.box, box.player)
