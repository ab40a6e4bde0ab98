"""Pools and rounds for tests, in few words."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from rules_core.rulesets.shipped import shipped
from upcard_bonus.domain.jackpot import Jackpot, evolve, fold
from upcard_bonus.domain.jackpot_events import JackpotEvent, JackpotSettings
from upcard_bonus.domain.jackpot_settings import open_jackpot
from upcard_bonus.domain.pool_rounds import SettledRound, Stake, in_order
from upcard_bonus.domain.refusal import Refused

ROWS = shipped("dark-boxes@1").bonus_player or ()
SECRET = bytes(range(32))
NEXT_SECRET = bytes(range(32, 64))
ROYAL, STRAIGHT_FLUSH = 100, 10


def pool_of(
    pool: int | None = None,
    *,
    seed: int = 1_000,
    ppm: int = 100_000,
    must_hit_by: int | None = None,
    reseed: bool = True,
    secret: bytes = SECRET,
) -> Jackpot:
    """An open jackpot, with this much in it or its seed."""
    settings = JackpotSettings(seed, ppm, must_hit_by, reseed, ("t1",))
    events = open_jackpot("j1", "op1", "EUR", settings, secret)
    assert not isinstance(events, Refused), events
    state = fold(events)
    assert state is not None
    if pool is None:
        return state
    return Jackpot(state.jackpot, state.operator, state.currency, settings, pool, 0, state.cycle, state.size)


def settled(*stakes: tuple[str, int] | tuple[str, int, int | None], name: str = "t1.1") -> SettledRound:
    """A round: each player with a box of its own, the stake, and the share that it wins."""
    made = [
        Stake(player, box, amount, share[0] if share else None)
        for box, (player, amount, *share) in enumerate(stakes, start=1)
    ]
    return SettledRound(name, in_order(made), ROWS)


def after(state: Jackpot, events: Sequence[JackpotEvent]) -> Jackpot:
    """The jackpot after events."""
    for event in events:
        state = evolve(state, event)
    return state


STAKES = st.builds(
    Stake,
    st.sampled_from(["p1", "p2", "p3", "p4"]),
    st.integers(1, 6),
    st.integers(1, 10_000),
    st.sampled_from([None, None, None, STRAIGHT_FLUSH, ROYAL]),
)
ROUNDS = st.lists(STAKES, max_size=6, unique_by=lambda one: (one.player, one.box))
