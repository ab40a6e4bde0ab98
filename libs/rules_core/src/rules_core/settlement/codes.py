"""The codes of a `CaseError` (catalogue for readers: docs/settlement-errors.md).

The first word says what the code is about. A published code never changes its meaning.
"""

from __future__ import annotations

from typing import Final

CASE_ERRORS: Final[dict[str, str]] = {
    # the shape of the case
    "object_expected": "Something that must be a JSON object is none.",
    "key_missing": "A key is missing; nothing is assumed in its place.",
    "key_unknown": "A key that has no meaning there.",
    "value_wrong_type": "A value of the wrong type, or a word that is not one of those allowed.",
    "amount_not_integer": "An amount, box number or position that is no integer.",
    "amount_negative": "An amount below zero.",
    "amount_too_large": "An amount, or a result, above 2^53 - 1.",
    "card_unreadable": "A card that is not rank 23456789TJQKA and suit cdhs.",
    # the ruleset
    "ruleset_unknown": "No ruleset of that id is known.",
    "ruleset_invalid": "The ruleset given in the case cannot be used; the message names the key.",
    "ruleset_changed": "A whole ruleset under a published id that is not the published one.",
    # cards
    "cards_wrong_number": "A hand that is not dealt five cards.",
    "card_repeated": "One card in two places.",
    "shared_cards_differ": "Two entries of one shared box with different cards.",
    "switch_cards_differ": "Bought cards of a shared table that are not the first switch cards.",
    "deck_too_short": "More cards bought than the deck can serve, less the reserve for a purchase.",
    # boxes and wagers
    "boxes_empty": "A case without any box.",
    "box_unknown": "A box number that the ruleset's table has not.",
    "box_not_open": "A box played open that the ruleset deals blind.",
    "box_not_blind": "A box played blind that the ruleset deals open.",
    "box_taken": "Two entries for one box of an exclusive table.",
    "player_repeated": "Two entries of one player for one shared box.",
    "ante_zero": "A box without an ante.",
    "bonus_player_not_offered": "Bonus B in a ruleset without it.",
    "bonus_dealer_not_offered": "Bonus D in a ruleset without it.",
    "free_bet_empty": "A free bet's id on a wager of zero.",
    # options and final options
    "blind_box_option": "An option in a blind box.",
    "blind_box_final": "A final option in a blind box.",
    "option_without_cards": "Bought cards beside an option that buys none.",
    "sixth_card_number": "A sixth card that is not exactly one card.",
    "exchange_empty": "An exchange of no card.",
    "exchange_too_many": "An exchange of more cards than the ruleset allows.",
    "exchange_position_out_of_range": "An exchanged position that is not 0 to 4.",
    "exchange_position_repeated": "One position exchanged twice.",
    "exchange_cards_mismatch": "Not as many replacement cards as exchanged positions.",
    "final_missing": "An open box that never decided to bet or fold.",
    "final_after_fold": "A final option after a fold.",
    "fold_after_bet": "A fold after the bet was placed.",
    # insurance
    "insurance_not_offered": "Insurance in a ruleset without it.",
    "insurance_blind_box": "Insurance in a blind box.",
    "insurance_folded": "Insurance in a folded box.",
    "insurance_passed": "Insurance in a box that let the options window pass.",
    "insurance_hand_too_low": "Insurance of a hand below three of a kind.",
    "insurance_maximum_below_minimum": "Insurance where it is not offered: the most is less than one ante.",
    "insurance_below_minimum": "Insurance of less than one ante.",
    "insurance_above_maximum": "Insurance of more than the ruleset's part of the expected win.",
    # dealer purchase
    "purchase_not_offered": "A purchase in a ruleset without it.",
    "purchase_dealer_qualifies": "A purchase although the dealer had a game.",
    "purchase_folded": "A purchase in a folded box.",
    "purchase_blind": "A purchase in a blind box where the ruleset forbids it.",
    "purchase_insured": "A purchase in an insured box where the ruleset forbids it.",
    "purchase_needs_combination": "A purchase in a box below ace-king where the ruleset asks for it.",
    "draws_without_purchase": "The dealer drew although no box bought.",
    "draws_missing": "A box bought and the dealer has drawn too few cards.",
    "draws_too_many": "The dealer has drawn more cards than the ruleset allows.",
}
"""Code to its meaning; every error that a case can give has one of these."""
