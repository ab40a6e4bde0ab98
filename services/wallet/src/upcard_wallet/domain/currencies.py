"""Amounts for people: integers in minor units everywhere else."""

from __future__ import annotations

from upcard_seamless.currencies import minor_digits

__all__ = ["decimal_text", "minor_digits"]


def decimal_text(amount: int, currency: str) -> str:
    """An amount in minor units as people write it, without grouping.

    >>> decimal_text(-1234, "EUR"), decimal_text(1234, "JPY"), decimal_text(5, "KWD")
    ('-12.34', '1234', '0.005')
    """
    digits = minor_digits(currency)
    sign = "-" if amount < 0 else ""
    text = str(abs(amount)).rjust(digits + 1, "0")
    return f"{sign}{text[:-digits]}.{text[-digits:]}" if digits else f"{sign}{text}"
