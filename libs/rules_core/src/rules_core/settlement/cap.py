"""The most that a box's bet can win (RULES.md section 5, Cap)."""

from __future__ import annotations


def bet_winnings(*, odds: int, bet: int, max_payout: int | None, counted_insurance: int) -> int:
    """Winnings of a won bet, net of its stake, in minor units.

    `odds` is the sum for both combinations; `counted_insurance` the insurance's winnings where the ruleset
    counts them towards the cap, else 0. `max_payout` None means no cap. Never below 0.
    """
    full = odds * bet
    if max_payout is None:
        return full
    return min(full, max(0, max_payout - counted_insurance))


def insurance_winnings(*, stake: int, max_payout: int | None, counted: bool) -> int:
    """Winnings of a won insurance, 1:1, in minor units; at most `max_payout` where the cap counts it."""
    if counted and max_payout is not None:
        return min(stake, max_payout)
    return stake
