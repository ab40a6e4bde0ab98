"""The English catalogue: every word that an explanation says, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rules_core.cards import Card, rank_of, suit_of
from rules_core.explain.catalogue import Catalogue, Unit, text_of
from rules_core.explain.sentence import Explanation, Holding
from rules_core.settlement.model import WagerName

_SENTENCES: Final = {
    # the table
    "settled_under": "Settled under the rules {ruleset} ({title}).",
    "amounts_in_minor_units": "All amounts are in minor units of the currency.",
    "dealer_dealt_game": "The dealer was dealt {cards}, the last card face up: {hand}. That is a game.",
    "dealer_dealt_no_game": (
        "The dealer was dealt {cards}, the last card face up: {hand}. "
        "That is no game, which takes ace-king or better."
    ),
    "dealer_card_replaced": "A new dealer's card was bought: {new} replaced the highest card, {old}.",
    "dealer_card_replaced_again": (
        "{old} had the rank of the card that it replaced and made no game, "
        "so one more card was drawn at no charge: {new} replaced it."
    ),
    "dealer_bought_game": (
        "The dealer's hand then was {cards}: {hand}. That is a game, for the boxes that bought the card."
    ),
    "dealer_bought_no_game": "The dealer's hand then was {cards}: {hand}. That is still no game.",
    # a box: cards and choices
    "box_heading": "Box {box}, player {player}",
    "box_dealt": "The box was dealt {cards}.",
    "chose_blind": (
        "It was a blind box: ante and bet were staked before the deal, and nothing was left to choose."
    ),
    "chose_bet": "The bet was placed on these cards.",
    "chose_sixth": "A sixth card was bought: {new}.",
    "chose_exchange_of_one": "One card was exchanged: {old} for {new}.",
    "chose_exchange": "Cards were exchanged: {old} for {new}, in this order.",
    "chose_fold": "The box was folded on these cards.",
    "chose_nothing": "The first window passed without a choice.",
    "then_bet": "Then the bet was placed.",
    "then_fold": "Then the box was folded.",
    "insured": "The box was insured against no game, for {stake}.",
    "purchased": "The dealer had no game, and the box bought the dealer a new card.",
    # a box: hand and outcome
    "hand_of_five": "The box's hand is {cards}: {hand}.",
    "hand_of_six": "The box's six cards are {cards}; the best five of them make {hand}.",
    "one_combination": "It holds one combination: {first}. A winning bet is paid {odds} to 1.",
    "two_combinations": (
        "It holds two combinations: {first} ({first_odds} to 1) and {second} ({second_odds} to 1). "
        "A winning bet is paid for both, {odds} to 1."
    ),
    "same_straight_twice": "Both have the same ranks, once with each of the two cards of equal rank.",
    "folded_not_compared": "The box was folded, so its hand is not compared with the dealer's.",
    "no_game": "The dealer had no game, so the hands are not compared.",
    "no_game_first_hand_counts": (
        "The dealer's new card was bought by others; for this box the dealer's first hand counts. "
        "It was no game, so the hands are not compared."
    ),
    "no_game_after_purchase": "The dealer had no game even then, so the hands are not compared.",
    "bought_hand_counts": "The box bought the card, so the dealer's hand with the new card counts.",
    "box_wins": "The box wins: {box}, against {dealer}.",
    "dealer_wins": "The dealer wins: {dealer}, against {box}.",
    "box_wins_by_kicker": (
        "Box and dealer both hold {hand}. The highest kicker that differs decides: "
        "{box} in the box, {dealer} at the dealer. The box wins."
    ),
    "dealer_wins_by_kicker": (
        "Box and dealer both hold {hand}. The highest kicker that differs decides: "
        "{box} in the box, {dealer} at the dealer. The dealer wins."
    ),
    "box_wins_by_flush_card": (
        "Box and dealer both hold a flush. The highest card that differs decides: "
        "{box} in the box, {dealer} at the dealer. The box wins."
    ),
    "dealer_wins_by_flush_card": (
        "Box and dealer both hold a flush. The highest card that differs decides: "
        "{box} in the box, {dealer} at the dealer. The dealer wins."
    ),
    "tie": "Box and dealer both hold {hand}: a tie.",
    "tie_with_kickers": "Box and dealer both hold {hand}, and their kickers are equal too: a tie.",
    "kickers_pay_nothing": (
        "Kickers, the cards beside a combination, are not paid, but count when hands are compared."
    ),
    # ante
    "ante_folded": "Ante of {stake}: lost, because the box was folded.",
    "ante_no_game_one_to_one": (
        "Ante of {stake}: paid 1 to 1, because the dealer had no game; {returned} comes back, stake included."
    ),
    "ante_no_game_insured_one_to_one": (
        "Ante of {stake}: paid 1 to 1, because the dealer had no game; insurance changes nothing about that "
        "under these rules. {returned} comes back, stake included."
    ),
    "ante_no_game_insured_returned": (
        "Ante of {stake}: returned and not paid, because the dealer had no game but the box was insured."
    ),
    "ante_purchase_failed_one_to_one": (
        "Ante of {stake}: paid 1 to 1, because the dealer had no game after the purchase either; "
        "{returned} comes back, stake included."
    ),
    "ante_purchase_failed_returned": (
        "Ante of {stake}: returned and not paid, because the dealer had no game after the purchase either."
    ),
    "ante_won_returned": "Ante of {stake}: returned. Against a game the bet is paid, not the ante.",
    "ante_tie_returned": "Ante of {stake}: returned, because of the tie.",
    "ante_beaten": "Ante of {stake}: lost, because the dealer's hand is better.",
    # bet
    "bet_paid": (
        "Bet of {stake}: won and paid {odds} to 1, which is {won}; {returned} comes back, stake included."
    ),
    "bet_paid_capped": (
        "Bet of {stake}: won. {odds} to 1 would be {full}, but the maximum payout of the box is {cap}, "
        "so {won} is paid; {returned} comes back, stake included."
    ),
    "bet_cap_less_insurance": (
        "The insurance's win of {counted} counts towards the maximum payout of {cap}, "
        "and the bet can win only the rest."
    ),
    "bet_no_game_returned": "Bet of {stake}: returned, because the dealer had no game.",
    "bet_purchase_failed_returned": (
        "Bet of {stake}: returned, because the dealer had no game after the purchase either."
    ),
    "bet_tie_returned": "Bet of {stake}: returned, because of the tie.",
    "bet_beaten": "Bet of {stake}: lost, because the dealer's hand is better.",
    # fees
    "option_fee_sixth_card": "Sixth card, price {stake}: never comes back.",
    "option_fee_exchange": "Exchange, price {stake}: never comes back.",
    "purchase_fee_spent": "Dealer's new card, price {stake}: never comes back.",
    # insurance
    "insurance_paid": (
        "Insurance of {stake}: won, because the dealer's first hand was no game; what a new card makes of it "
        "does not matter. It is paid {won}; {returned} comes back, stake included."
    ),
    "insurance_lost": "Insurance of {stake}: lost, because the dealer was dealt a game.",
    "insurance_tie_returned": (
        "Insurance of {stake}: returned, because these rules give it back at a tie with a dealt game."
    ),
    "insurance_tie_lost": (
        "Insurance of {stake}: lost, because the dealer was dealt a game; these rules keep it at a tie too."
    ),
    "insurance_beaten_returned": (
        "Insurance of {stake}: returned, because these rules give it back when a dealt game beats the box."
    ),
    "insurance_beaten_lost": (
        "Insurance of {stake}: lost, because the dealer was dealt a game; these rules keep it "
        "when the box is beaten too."
    ),
    # bonus B and D
    "bonus_player_paid": (
        "Bonus B of {stake}: won with {hand} in the box's first five cards. It is paid {pays} to 1, which is "
        "{won}; {returned} comes back, stake included."
    ),
    "bonus_player_jackpot": (
        "Bonus B of {stake}: won with {hand} in the box's first five cards. The stake is returned, "
        "and the prize is {percent} % of the progressive jackpot, divided if there are several winners. "
        "It is credited apart from this settlement."
    ),
    "bonus_player_lost": (
        "Bonus B of {stake}: lost. The box's first five cards make {hand}, "
        "which the bonus table does not pay."
    ),
    "bonus_dealer_paid": (
        "Bonus D of {stake}: won with {hand} in the dealer's first hand. It is paid {pays} to 1, which is "
        "{won}; {returned} comes back, stake included."
    ),
    "bonus_dealer_lost": (
        "Bonus D of {stake}: lost. The best of the dealer's first five cards was {hand}, "
        "which the bonus table does not pay."
    ),
    # refunds and free bets
    "everything_refunded": "Every wager and fee of the round goes back, whatever had been won or lost.",
    "refunded": "{wager} of {stake}: refunded.",
    "free_bet_won": (
        "It was staked with the free bet {free_bet}: {won} is credited, the free bet's stake is not."
    ),
    "free_bet_given_back": "It was staked with the free bet {free_bet}, which is given back.",
    "free_bet_used_up": "It was staked with the free bet {free_bet}, which is used up; no money was lost.",
    # totals
    "totals_won": "In all {staked} staked, {returned} returned: {difference} won.",
    "totals_lost": "In all {staked} staked, {returned} returned: {difference} lost.",
    "totals_even": "In all {staked} staked, {returned} returned: nothing won or lost.",
}

_RANKS: Final = (
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "jack",
    "queen",
    "king",
    "ace",
)
_HOLDINGS: Final = {
    "royal_flush": "a royal flush",
    "straight_flush": "a straight flush, {first} high",
    "four_of_a_kind": "four of a kind, {firsts}",
    "full_house": "a full house, {firsts} over {seconds}",
    "flush": "a flush, {first} high",
    "straight": "a straight, {first} high",
    "three_of_a_kind": "three of a kind, {firsts}",
    "two_pair": "two pair, {firsts} and {seconds}",
    "one_pair": "a pair of {firsts}",
    "ace_king": "ace-king",
    "nothing": "no combination, {first} high",
}
_WAGERS: Final[dict[WagerName, str]] = {
    "ante": "Ante",
    "bet": "Bet",
    "option_fee": "Price of the option",
    "insurance": "Insurance",
    "purchase_fee": "Price of the dealer's new card",
    "bonus_player": "Bonus B",
    "bonus_dealer": "Bonus D",
}
_CARD_RANKS: Final = ("2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A")
_CARD_SUITS: Final = "♣♦♥♠"


def _rank(rank: int) -> str:
    return _RANKS[rank]


def _plural(rank: int) -> str:
    return _RANKS[rank] + ("es" if _RANKS[rank] == "six" else "s")


def _holding(holding: Holding) -> str:
    words: dict[str, str] = {}
    for name, rank in zip(("first", "second"), holding.ranks, strict=False):
        words |= {name: _rank(rank), f"{name}s": _plural(rank)}
    return _HOLDINGS[holding.name].format_map(words)


def _card(card: Card) -> str:
    return _CARD_RANKS[rank_of(card)] + _CARD_SUITS[suit_of(card)]


def _listed(words: Sequence[str]) -> str:
    return " ".join(words)


def _amount(minor: int, unit: Unit) -> str:
    if unit.scale is None:
        return str(minor)
    sign, digits = ("-" if minor < 0 else ""), str(abs(minor)).rjust(unit.scale + 1, "0")
    point = len(digits) - unit.scale
    shown = sign + digits[:point] + ("." + digits[point:] if unit.scale else "")
    return f"{shown} {unit.currency}".rstrip()


ENGLISH: Final = Catalogue(_SENTENCES, _holding, _rank, _card, _listed, _WAGERS, _amount)
"""English, for players: cards as 10♠, amounts as 3.00 EUR."""


def in_english(explanation: Explanation, *, scale: int | None = None, currency: str = "") -> str:
    """The explanation as plain English text, a line a sentence, ending with a line break.

    Amounts are shown in minor units, or with `scale` digits after the point followed by `currency`. Raises
    ValueError for a scale that is not 0 to 8.
    """
    return text_of(explanation, ENGLISH, Unit(scale, currency))
