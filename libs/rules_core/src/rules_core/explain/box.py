"""One player's box: cards, choices, the hand and how it compared, every wager, and the totals."""

from __future__ import annotations

from collections.abc import Iterator

from rules_core.cards import Card
from rules_core.explain.comparison import (
    best_holding,
    compared,
    has_kickers,
    paid_holdings,
    same_straight_twice,
)
from rules_core.explain.lines import Background, line_sentences, refunded_line
from rules_core.explain.sentence import BoxExplanation, Cards, Money, Sentence, sentence
from rules_core.hands import ODDS, Evaluation, evaluate
from rules_core.rulesets.model import Ruleset
from rules_core.settlement.dealer import DealerHands
from rules_core.settlement.model import BoxCase, BoxResult
from rules_core.settlement.option import final_cards


def explain_box(ruleset: Ruleset, dealer: DealerHands, box: BoxCase, result: BoxResult) -> BoxExplanation:
    """All that is to be said about a box that was settled, or refunded in a correction."""
    if result.outcome == "refunded":
        return explain_refunded_box(result)
    cards = final_cards(box.cards, box.option)
    hand = evaluate(cards, ruleset.paired_straight)
    background = Background(ruleset, box, result, evaluate(box.cards), dealer.first)
    found = [*_choices(box), *_hand(cards, hand), *_outcome(dealer, box, result, hand)]
    for line in result.lines:
        found += line_sentences(line, background)
    return _box_explanation(result, [*found, _totals(result)])


def explain_refunded_box(result: BoxResult) -> BoxExplanation:
    """All that is to be said about a box whose wagers all go back (RULES.md section 4.9)."""
    found = [sentence("everything_refunded")]
    for line in result.lines:
        found += refunded_line(line)
    return _box_explanation(result, [*found, _totals(result)])


def _box_explanation(result: BoxResult, sentences: list[Sentence]) -> BoxExplanation:
    heading = sentence("box_heading", box=result.box, player=result.player)
    return BoxExplanation(result.box, result.player, heading, tuple(sentences))


def _choices(box: BoxCase) -> Iterator[Sentence]:
    """What was dealt and what was done with it."""
    option = box.option
    yield sentence("box_dealt", cards=Cards(box.cards))
    if box.blind:
        yield sentence("chose_blind")
    elif option.kind == "exchange":
        old = Cards(tuple(box.cards[position] for position in option.positions))
        slug = "chose_exchange_of_one" if len(option.positions) == 1 else "chose_exchange"
        yield sentence(slug, old=old, new=Cards(option.cards))
    elif option.kind == "sixth":
        yield sentence("chose_sixth", new=Cards(option.cards))
    else:
        yield sentence({"bet": "chose_bet", "fold": "chose_fold", "none": "chose_nothing"}[option.kind])
    if box.final == "fold":
        yield sentence("then_fold")
    elif box.final == "bet" and option.kind != "bet":
        yield sentence("then_bet")
    if box.insurance:
        yield sentence("insured", stake=Money(box.insurance))
    if box.purchase:
        yield sentence("purchased")


def _hand(cards: tuple[Card, ...], hand: Evaluation) -> Iterator[Sentence]:
    """The hand that came of it, and the combinations that a won bet is paid for."""
    slug = "hand_of_five" if len(cards) == 5 else "hand_of_six"
    yield sentence(slug, cards=Cards(cards), hand=best_holding(hand))
    paid = paid_holdings(hand)
    if len(paid) == 1:
        yield sentence("one_combination", first=paid[0], odds=hand.odds)
    elif len(paid) == 2:
        yield sentence(
            "two_combinations",
            first=paid[0],
            first_odds=ODDS[paid[0].name],
            second=paid[1],
            second_odds=ODDS[paid[1].name],
            odds=hand.odds,
        )
        if same_straight_twice(hand):
            yield sentence("same_straight_twice")


def _outcome(dealer: DealerHands, box: BoxCase, result: BoxResult, hand: Evaluation) -> Iterator[Sentence]:
    """Which row of RULES.md section 5 the box is in, and why."""
    if result.outcome == "folded":
        yield sentence("folded_not_compared")
    elif result.outcome == "no_game" and box.purchase:
        yield sentence("no_game_after_purchase")
    elif result.outcome == "no_game":
        yield sentence("no_game_first_hand_counts" if dealer.purchased else "no_game")
    else:
        if box.purchase:
            yield sentence("bought_hand_counts")
        yield compared(hand, dealer.final if box.purchase else dealer.first)
        if paid_holdings(hand) and has_kickers(hand):
            yield sentence("kickers_pay_nothing")


def _totals(result: BoxResult) -> Sentence:
    slug = "totals_won" if result.net > 0 else "totals_lost" if result.net < 0 else "totals_even"
    sums = {"staked": Money(result.staked), "returned": Money(result.returned)}
    return sentence(slug, difference=Money(abs(result.net)), **sums)
