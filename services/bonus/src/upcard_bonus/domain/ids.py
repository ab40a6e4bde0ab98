"""The forms of ids and amounts, and the names of streams."""

from __future__ import annotations

import re
from typing import Final

from rules_core.log.content import is_opaque_id

__all__ = [
    "LARGEST_AMOUNT",
    "bonus_stream",
    "free_bet_stream",
    "is_currency",
    "is_opaque_id",
    "is_round",
    "jackpot_stream",
    "table_of",
]

_is_round = re.compile(r"[A-Za-z0-9_-]{1,64}\.[1-9][0-9]{0,15}").fullmatch
_is_currency = re.compile("[A-Z]{3}").fullmatch

LARGEST_AMOUNT: Final = 2**53 - 1
"""Most minor units of one amount: what every JSON reader still reads exactly."""


def is_round(text: str) -> bool:
    """Whether a text can name a round: `<table>.<number>`, the name of its stream without `round-`."""
    return _is_round(text) is not None


def is_currency(text: str) -> bool:
    """Whether a text has the form of a currency: three capital letters."""
    return _is_currency(text) is not None


def table_of(round_name: str) -> str:
    """The table of a round."""
    return round_name.rpartition(".")[0]


def bonus_stream(round_name: str) -> str:
    """The stream of a round's side bets."""
    return f"bonus-{round_name}"


def jackpot_stream(jackpot: str) -> str:
    """The stream of a jackpot."""
    return f"jackpot-{jackpot}"


def free_bet_stream(free_bet: str) -> str:
    """The stream of a free bet."""
    return f"freebet-{free_bet}"
