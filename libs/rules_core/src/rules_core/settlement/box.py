"""The settlement of one box: every line of RULES.md section 5."""

from __future__ import annotations

from rules_core.hands import Evaluation
from rules_core.rulesets.model import InsuranceRules, Ruleset
from rules_core.settlement import reasons
from rules_core.settlement.bonus import dealer_bonus_line, player_bonus_line, player_bonus_row
from rules_core.settlement.cap import bet_winnings, insurance_winnings
from rules_core.settlement.dealer import DealerHands
from rules_core.settlement.model import BoxCase, BoxResult, Line, Outcome

_OPTION_FEE = {"sixth": reasons.OPTION_FEE_SIXTH_CARD, "exchange": reasons.OPTION_FEE_EXCHANGE}


def settle_box(
    ruleset: Ruleset,
    dealer: DealerHands,
    box: BoxCase,
    hand: Evaluation,
    first_five: Evaluation | None = None,
) -> BoxResult:
    """What becomes of every wager of a box that broke no rule.

    `hand` is the evaluation of the final cards; `first_five` that of the cards dealt, needed only when B is
    staked on a box that bought cards. Nothing is checked here.
    """
    outcome = box_outcome(dealer, box, hand)
    lines = [_ante_line(ruleset, box, outcome)]
    if outcome != "folded":
        lines.append(_bet_line(ruleset, dealer, box, hand, outcome))
    if box.option.kind in _OPTION_FEE:
        lines.append(Line("option_fee", box.wagers.ante, 0, _OPTION_FEE[box.option.kind]))
    if box.insurance and ruleset.insurance is not None:
        lines.append(_insurance_line(ruleset, ruleset.insurance, dealer, box, outcome))
    if box.purchase:
        lines.append(Line("purchase_fee", box.wagers.ante, 0, reasons.PURCHASE_FEE_SPENT))
    _append_bonus_lines(lines, ruleset, dealer, box, hand if first_five is None else first_five)
    staked = returned = 0
    for line in lines:
        staked += line.stake
        returned += line.returned
    return BoxResult(
        box.box,
        box.player,
        outcome,
        hand.best,
        hand.combinations,
        hand.odds,
        tuple(lines),
        staked,
        returned,
        returned - staked,
    )


def is_folded(box: BoxCase) -> bool:
    """Whether the box was folded, in either window."""
    return box.final == "fold" or box.option.kind == "fold"


def box_outcome(dealer: DealerHands, box: BoxCase, hand: Evaluation) -> Outcome:
    """Which row of RULES.md section 5 the box is in; hands are compared in full, kickers included."""
    if is_folded(box):
        return "folded"
    opponent = dealer.final if box.purchase else dealer.first
    if not opponent.qualifies:
        return "no_game"
    if hand.strength == opponent.strength:
        return "tie"
    return "win" if hand.strength > opponent.strength else "lose"


def _ante_line(ruleset: Ruleset, box: BoxCase, outcome: Outcome) -> Line:
    ante = box.wagers.ante
    if outcome == "folded":
        returned, reason = 0, reasons.ANTE_FOLDED
    elif outcome == "lose":
        returned, reason = 0, reasons.ANTE_BEATEN
    elif outcome == "win":
        returned, reason = ante, reasons.ANTE_WON_RETURNED
    elif outcome == "tie":
        returned, reason = ante, reasons.ANTE_TIE_RETURNED
    elif box.purchase:
        returned, reason = _ante_after_failed_purchase(ruleset, ante)
    else:
        returned, reason = _ante_without_game(ruleset, ante, insured=box.insurance > 0)
    return Line("ante", ante, returned, reason, None, box.wagers.ante_funding)


def _ante_after_failed_purchase(ruleset: Ruleset, ante: int) -> tuple[int, str]:
    if ruleset.purchase is not None and ruleset.purchase.ante_after_failed == "one_to_one":
        return 2 * ante, reasons.ANTE_PURCHASE_FAILED_ONE_TO_ONE
    return ante, reasons.ANTE_PURCHASE_FAILED_RETURNED


def _ante_without_game(ruleset: Ruleset, ante: int, *, insured: bool) -> tuple[int, str]:
    if not insured or ruleset.insurance is None:
        return 2 * ante, reasons.ANTE_NO_GAME_ONE_TO_ONE
    if ruleset.insurance.ante_on_no_game == "one_to_one":
        return 2 * ante, reasons.ANTE_NO_GAME_INSURED_ONE_TO_ONE
    return ante, reasons.ANTE_NO_GAME_INSURED_RETURNED


def _bet_line(
    ruleset: Ruleset, dealer: DealerHands, box: BoxCase, hand: Evaluation, outcome: Outcome
) -> Line:
    bet = 2 * box.wagers.ante
    if outcome == "lose":
        return Line("bet", bet, 0, reasons.BET_BEATEN)
    if outcome == "tie":
        return Line("bet", bet, bet, reasons.BET_TIE_RETURNED)
    if outcome == "no_game":
        returned = reasons.BET_PURCHASE_FAILED_RETURNED if box.purchase else reasons.BET_NO_GAME_RETURNED
        return Line("bet", bet, bet, returned)
    counted = 0
    if ruleset.cap_includes_insurance and box.insurance and not dealer.first.qualifies:
        counted = insurance_winnings(stake=box.insurance, max_payout=box.max_payout, counted=True)
    won = bet_winnings(odds=hand.odds, bet=bet, max_payout=box.max_payout, counted_insurance=counted)
    reason = reasons.BET_PAID if won == hand.odds * bet else reasons.BET_PAID_CAPPED
    return Line("bet", bet, bet + won, reason)


def _insurance_line(
    ruleset: Ruleset, rules: InsuranceRules, dealer: DealerHands, box: BoxCase, outcome: Outcome
) -> Line:
    stake = box.insurance
    if not dealer.first.qualifies:  # decided by the first hand, even when a bought card then makes a game
        counted = ruleset.cap_includes_insurance
        won = insurance_winnings(stake=stake, max_payout=box.max_payout, counted=counted)
        return Line("insurance", stake, stake + won, reasons.INSURANCE_PAID)
    if outcome == "tie":
        if rules.on_tie == "returned":
            return Line("insurance", stake, stake, reasons.INSURANCE_TIE_RETURNED)
        return Line("insurance", stake, 0, reasons.INSURANCE_TIE_LOST)
    if outcome == "lose":
        if rules.when_beaten == "returned":
            return Line("insurance", stake, stake, reasons.INSURANCE_BEATEN_RETURNED)
        return Line("insurance", stake, 0, reasons.INSURANCE_BEATEN_LOST)
    return Line("insurance", stake, 0, reasons.INSURANCE_LOST)


def _append_bonus_lines(
    lines: list[Line], ruleset: Ruleset, dealer: DealerHands, box: BoxCase, first_five: Evaluation
) -> None:
    wagers = box.wagers
    if wagers.bonus_player and ruleset.bonus_player is not None:
        row = player_bonus_row(ruleset.bonus_player, first_five)
        lines.append(player_bonus_line(row, wagers.bonus_player, wagers.bonus_player_funding))
    if wagers.bonus_dealer and ruleset.bonus_dealer is not None:
        lines.append(dealer_bonus_line(dealer.bonus_row, wagers.bonus_dealer, wagers.bonus_dealer_funding))
