"""Amounts in the units of a partner, and back."""

from __future__ import annotations

import re
from typing import Final

from upcard_seamless.currencies import minor_digits
from upcard_seamless.dialects import Amounts

LARGEST: Final = 2**63 - 1
"""No amount of ours is larger, in minor units."""
_is_whole: Final = re.compile("-?[0-9]{1,31}").fullmatch
_POWERS: Final = (1, 10, 100, 1_000, 10_000)


def units_a_minor(amounts: Amounts, currency: str) -> int:
    """How many of the partner's units are one minor unit of the currency."""
    if amounts.unit == "minor":
        return amounts.factor
    return amounts.factor // _POWERS[minor_digits(currency)]


def to_partner(amounts: Amounts, currency: str, minor: int) -> int | str:
    """An amount as the partner writes it."""
    units = minor * units_a_minor(amounts, currency)
    return str(units) if amounts.written == "text" else units


def from_partner(amounts: Amounts, currency: str, said: object) -> int | None:
    """An amount of the partner's in minor units, rounded down; None when it is none, or beyond all bounds."""
    units: int
    if amounts.written == "text":
        if not isinstance(said, str) or not _is_whole(said):
            return None
        units = int(said)
    elif type(said) is int:
        units = said
    else:
        return None
    minor = units // units_a_minor(amounts, currency)
    return minor if abs(minor) <= LARGEST else None
