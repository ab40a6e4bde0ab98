"""Figures and times as pages of operations write them: no words, which are English's."""

from __future__ import annotations

import datetime as dt

from upcard_seamless.currencies import minor_digits

__all__ = ["amount", "clock", "count", "percent", "size"]

_MIB = 1_048_576


def clock(at: dt.datetime | None, now: dt.datetime) -> str:
    """A time in UTC: of today the time alone, of other days with its date.

    >>> clock(dt.datetime(2026, 1, 2, 3, 4, 5), dt.datetime(2026, 1, 2))
    '03:04:05'
    >>> clock(dt.datetime(2026, 1, 2, 3, 4, 5), dt.datetime(2026, 1, 3))
    '2026-01-02 03:04'
    """
    if at is None:
        return ""
    return f"{at:%H:%M:%S}" if at.date() == now.date() else f"{at:%Y-%m-%d %H:%M}"


def count(number: float | None) -> str:
    """A whole number in groups of three; empty where it is not known.

    >>> count(1234567), count(None)
    ('1,234,567', '')
    """
    return "" if number is None else f"{round(number):,}"


def size(number: float | None) -> str:
    """Bytes as MiB.

    >>> size(157286400)
    '150 MiB'
    """
    return "" if number is None else f"{round(number / _MIB):,} MiB"


def amount(minor: int, currency: str) -> str:
    """Money without its currency, which stands in the column's head.

    >>> amount(-123456, "EUR"), amount(1234, "JPY")
    ('-1,234.56', '1,234')
    """
    digits = minor_digits(currency)
    whole, rest = divmod(abs(minor), 10**digits)
    text = f"{whole:,}.{rest:0{digits}d}" if digits else f"{whole:,}"
    return f"-{text}" if minor < 0 else text


def percent(ppm: int | None) -> str:
    """Parts per million as a percentage.

    >>> percent(-12345), percent(52600)
    ('-1.23 %', '5.26 %')
    """
    if ppm is None:
        return ""
    hundredths = abs(ppm) // 100
    text = f"{hundredths // 100}.{hundredths % 100:02d} %"
    return f"-{text}" if ppm < 0 and hundredths else text
