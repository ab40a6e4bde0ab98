"""Arithmetic of jackpots: what stakes contribute, what a share of a pool is, and who gets how much of it.

Everything is whole numbers. Each division names what becomes of its remainder: that of contributions is
carried, that of prizes and shares stays in the pool.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from upcard_bonus.domain.jackpot_settings import MILLION


class Contribution(NamedTuple):
    """What is added to a pool."""

    amount: int
    """Whole minor units; below zero where stakes were taken back."""
    remainder: int
    """Millionths that are carried on: 0 to 999,999."""


def contribution(remainder: int, staked: int, ppm: int) -> Contribution:
    """What stakes add at so many parts per million, with what was carried so far.

    Over any number of them, amounts x 1,000,000 + the last remainder is exactly the sum of stakes x parts.
    """
    return Contribution(*divmod(remainder + staked * ppm, MILLION))


def prize_of(pool: int, share_percent: int) -> int:
    """A share of a pool, rounded down."""
    return pool * share_percent // 100


def shares_of(prize: int, stakes: Sequence[int]) -> list[int]:
    """What each stake gets of a prize, in proportion and rounded down: their sum is at most the prize."""
    total = sum(stakes)
    if total == 0:
        return [0] * len(stakes)
    return [prize * stake // total for stake in stakes]
