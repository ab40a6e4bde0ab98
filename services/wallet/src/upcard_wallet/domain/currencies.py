"""Currencies and their minor units: amounts are integers everywhere, and become decimals for people alone."""

from __future__ import annotations

from typing import Final

_DIGITS: Final = {
    **dict.fromkeys(
        [
            "BIF",
            "CLP",
            "DJF",
            "GNF",
            "ISK",
            "JPY",
            "KMF",
            "KRW",
            "PYG",
            "RWF",
            "UGX",
            "UYI",
            "VND",
            "VUV",
            "XAF",
            "XOF",
            "XPF",
        ],
        0,
    ),
    **dict.fromkeys(["BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"], 3),
    **dict.fromkeys(["CLF", "UYW"], 4),
}
"""ISO 4217, where it is not two."""

_USUAL_DIGITS: Final = 2


def minor_digits(currency: str) -> int:
    """How many digits of a currency's amounts stand after the point: 0 to 4."""
    return _DIGITS.get(currency, _USUAL_DIGITS)


def decimal_text(amount: int, currency: str) -> str:
    """An amount in minor units as people write it, without grouping.

    >>> decimal_text(-1234, "EUR"), decimal_text(1234, "JPY"), decimal_text(5, "KWD")
    ('-12.34', '1234', '0.005')
    """
    digits = minor_digits(currency)
    sign = "-" if amount < 0 else ""
    text = str(abs(amount)).rjust(digits + 1, "0")
    return f"{sign}{text[:-digits]}.{text[-digits:]}" if digits else f"{sign}{text}"
