"""Which rounds must not be undone before their jackpot's pool is fenced (ARCHITECTURE.md, Money)."""

from __future__ import annotations

from rules_core.round.state import RoundState


def needs_fence(state: RoundState) -> bool:
    """Whether the round's stakes contribute to a jackpot: bonus B under a ruleset that pays shares of one.

    Only then is bonus asked; every other round can be corrected whether bonus is there or not.
    """
    rows = state.ruleset.bonus_player or ()
    if all(row.jackpot_share_percent is None for row in rows):
        return False
    return any(play.bonus_player > 0 for seat in state.seats.values() for play in seat.plays.values())
