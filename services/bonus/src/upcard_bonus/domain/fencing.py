"""Fencing a pool before one of its rounds is undone, and lifting the fence."""

from __future__ import annotations

from upcard_bonus.domain.jackpot import Jackpot
from upcard_bonus.domain.jackpot_events import JackpotEvent, JackpotFenced, JackpotFenceLifted, LiftReason


def fence(
    state: Jackpot, round_name: str, expires_at: str, *, hit_followed: bool
) -> tuple[JackpotEvent, ...]:
    """Fence a pool for a round; nothing where it is fenced for that one already."""
    if round_name in state.fences:
        return ()
    return (JackpotFenced(state.jackpot, round_name, hit_followed, expires_at),)


def lift(state: Jackpot, round_name: str, why: LiftReason) -> tuple[JackpotEvent, ...]:
    """Lift a round's fence; nothing where none stands."""
    if round_name not in state.fences:
        return ()
    return (JackpotFenceLifted(state.jackpot, round_name, why),)
