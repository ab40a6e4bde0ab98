"""Why a line ended as it did: the stable slugs that an explanation is written from (CONTRACTS.md section 1).

A slug belongs to one wager, which its first word names. A published slug never changes its meaning.
"""

from __future__ import annotations

from typing import Final

ANTE_FOLDED: Final = "ante_folded"
"""The box was folded: the ante is lost."""
ANTE_NO_GAME_ONE_TO_ONE: Final = "ante_no_game_one_to_one"
"""No game, nothing bought, not insured: the ante is paid 1:1."""
ANTE_NO_GAME_INSURED_ONE_TO_ONE: Final = "ante_no_game_insured_one_to_one"
"""No game, nothing bought, insured, in a house that pays the ante all the same: 1:1."""
ANTE_NO_GAME_INSURED_RETURNED: Final = "ante_no_game_insured_returned"
"""No game, nothing bought, insured, in a house that then only gives the ante back."""
ANTE_PURCHASE_FAILED_ONE_TO_ONE: Final = "ante_purchase_failed_one_to_one"
"""The dealer's card was bought, still no game, in a house that pays the ante all the same: 1:1."""
ANTE_PURCHASE_FAILED_RETURNED: Final = "ante_purchase_failed_returned"
"""The dealer's card was bought and there was still no game: the ante comes back."""
ANTE_WON_RETURNED: Final = "ante_won_returned"
"""Game, and the box is better: the ante comes back (the bet is what is paid)."""
ANTE_TIE_RETURNED: Final = "ante_tie_returned"
"""Game, and the hands are equal, kickers included: the ante comes back."""
ANTE_BEATEN: Final = "ante_beaten"
"""Game, and the dealer is better: the ante is lost."""

BET_PAID: Final = "bet_paid"
"""Game, and the box is better: the bet is paid the sum of odds."""
BET_PAID_CAPPED: Final = "bet_paid_capped"
"""Game, and the box is better: the sum of odds would exceed the maximum payout, which is paid instead."""
BET_NO_GAME_RETURNED: Final = "bet_no_game_returned"
"""No game and nothing bought: the bet comes back."""
BET_PURCHASE_FAILED_RETURNED: Final = "bet_purchase_failed_returned"
"""The dealer's card was bought and there was still no game: the bet comes back."""
BET_TIE_RETURNED: Final = "bet_tie_returned"
"""Game, and the hands are equal, kickers included: the bet comes back."""
BET_BEATEN: Final = "bet_beaten"
"""Game, and the dealer is better: the bet is lost."""

OPTION_FEE_SIXTH_CARD: Final = "option_fee_sixth_card"
"""The price of the sixth card: never comes back."""
OPTION_FEE_EXCHANGE: Final = "option_fee_exchange"
"""The price of the exchange: never comes back."""

INSURANCE_PAID: Final = "insurance_paid"
"""The dealer's first hand was no game: the insurance is paid 1:1, whatever a bought card made of it."""
INSURANCE_LOST: Final = "insurance_lost"
"""Dealt game, and the box is better: the insurance is lost."""
INSURANCE_TIE_RETURNED: Final = "insurance_tie_returned"
"""Dealt game, hands equal, in a house that then gives the insurance back."""
INSURANCE_TIE_LOST: Final = "insurance_tie_lost"
"""Dealt game, hands equal, in a house that then keeps the insurance."""
INSURANCE_BEATEN_RETURNED: Final = "insurance_beaten_returned"
"""Dealt game, and the dealer is better, in a house that then gives the insurance back."""
INSURANCE_BEATEN_LOST: Final = "insurance_beaten_lost"
"""Dealt game, and the dealer is better, in a house that then keeps the insurance."""

PURCHASE_FEE_SPENT: Final = "purchase_fee_spent"
"""The price of the dealer's new card: never comes back."""

BONUS_PLAYER_PAID: Final = "bonus_player_paid"
"""The box's first five cards stand in the bonus table: paid its odds."""
BONUS_PLAYER_JACKPOT: Final = "bonus_player_jackpot"
"""The box's first five cards win a share of the progressive jackpot; the stake comes back with it."""
BONUS_PLAYER_LOST: Final = "bonus_player_lost"
"""The box's first five cards do not stand in the bonus table."""
BONUS_DEALER_PAID: Final = "bonus_dealer_paid"
"""The dealer's first hand stands in the bonus table: paid its odds."""
BONUS_DEALER_LOST: Final = "bonus_dealer_lost"
"""The dealer's first hand does not stand in the bonus table; what a purchase makes of it does not count."""

REASONS: Final[tuple[str, ...]] = tuple(
    value for name, value in sorted(globals().items()) if name.isupper() and isinstance(value, str)
)
"""All slugs, in alphabetical order."""
