"""Currencies and their minor units, as ISO 4217 has them."""

from __future__ import annotations

from typing import Final

_NONE: Final = (
    *("BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW"),
    *("PYG", "RWF", "UGX", "UYI", "VND", "VUV", "XAF", "XOF", "XPF"),
)
_DIGITS: Final = {
    **dict.fromkeys(_NONE, 0),
    **dict.fromkeys(["BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"], 3),
    **dict.fromkeys(["CLF", "UYW"], 4),
}
"""Where it is not two."""

_USUAL_DIGITS: Final = 2
MOST_DIGITS: Final = 4
"""No currency has more."""


def minor_digits(currency: str) -> int:
    """How many digits of a currency's amounts stand after the point: 0 to 4."""
    return _DIGITS.get(currency, _USUAL_DIGITS)


def unusual_digits() -> dict[str, int]:
    """The currencies whose amounts have other than two digits after the point, with how many."""
    return dict(_DIGITS)
