"""Opening a jackpot and changing its settings: which settings are possible, and what follows from them."""

from __future__ import annotations

from typing import Final

from upcard_bonus.domain.ids import LARGEST_AMOUNT, is_currency, is_opaque_id
from upcard_bonus.domain.jackpot import Jackpot, evolve
from upcard_bonus.domain.jackpot_events import (
    JackpotChanged,
    JackpotEvent,
    JackpotOpened,
    JackpotSeeded,
    JackpotSettings,
)
from upcard_bonus.domain.refusal import Refused
from upcard_bonus.domain.secret_size import secret_size

MILLION: Final = 1_000_000
MOST_TABLES: Final = 1_000
LARGEST_POOL: Final = LARGEST_AMOUNT // (2 * MILLION)
"""Most minor units of a seed or a secret size: sums in millionths stay exact everywhere."""


def check_settings(settings: JackpotSettings) -> Refused | None:
    """Whether a jackpot can have these settings."""
    if not 0 <= settings.seed <= LARGEST_POOL:
        return Refused("seed_invalid")
    if not 0 <= settings.contribution_ppm <= MILLION:
        return Refused("contribution_invalid")
    most = settings.must_hit_by
    if most is not None and not settings.seed < most <= LARGEST_POOL:
        return Refused("must_hit_by_invalid")
    if most is not None and not settings.reseed:
        return Refused("must_hit_by_needs_reseeding")
    tables = settings.tables
    if len(tables) > MOST_TABLES or len(set(tables)) < len(tables) or not all(map(is_opaque_id, tables)):
        return Refused("tables_invalid")
    return None


def open_jackpot(
    jackpot: str, operator: str, currency: str, settings: JackpotSettings, secret: bytes
) -> tuple[JackpotEvent, ...] | Refused:
    """Open a jackpot with its first seed. `secret`: 32 random bytes, used if it has a secret size."""
    if not is_opaque_id(jackpot) or not is_opaque_id(operator):
        return Refused("id_invalid")
    if not is_currency(currency):
        return Refused("currency_invalid")
    refused = check_settings(settings)
    if refused is not None:
        return refused
    most = settings.must_hit_by
    size = None if most is None else secret_size(secret, settings.seed, most)
    opened = JackpotOpened(jackpot, operator, currency, settings)
    return (
        opened,
        JackpotSeeded(
            jackpot, operator, currency, settings.seed, settings.seed, 1, "opened", secret_size=size
        ),
    )


def change_jackpot(
    state: Jackpot, settings: JackpotSettings, secret: bytes
) -> tuple[JackpotEvent, ...] | Refused:
    """Give a jackpot other settings; the same ones again change nothing.

    A cycle keeps the secret size that it began with. Where the jackpot had none and gets one now, a new cycle
    begins at once, with nothing added; the pool has to be below the largest size then.
    """
    refused = check_settings(settings)
    if refused is not None:
        return refused
    if settings == state.settings:
        return ()
    changed = JackpotChanged(state.jackpot, settings)
    most = settings.must_hit_by
    if most is None or state.size is not None:
        return (changed,)
    if state.pool >= most:
        return Refused("must_hit_by_reached")
    return changed, begin_cycle(evolve(state, changed), None, secret, amount=0)


def begin_cycle(state: Jackpot, round_name: str | None, secret: bytes, *, amount: int) -> JackpotSeeded:
    """Begin a new cycle, with this much put into the pool; the state is that before."""
    pool = state.pool + amount
    most = state.settings.must_hit_by
    size = None if most is None or pool >= most else secret_size(secret, pool, most)
    return JackpotSeeded(
        state.jackpot,
        state.operator,
        state.currency,
        amount,
        pool,
        state.cycle + 1,
        "new_cycle",
        round_name,
        size,
    )
