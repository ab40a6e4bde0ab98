"""What players are told in words: one place for every reason, in the language of the pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from upcard_gateway.entrypoints.pages.english import English, NoSuchText
from upcard_seamless.currencies import minor_digits

__all__ = ["Texts", "amount_text"]

_AREA: Final = "play_game"
_OTHER: Final = f"{_AREA}.reason.other"


def amount_text(minor_units: int, currency: str) -> str:
    """An amount as people read it, such as `12.50 EUR`."""
    digits = minor_digits(currency)
    sign = "-" if minor_units < 0 else ""
    whole, part = divmod(abs(minor_units), 10**digits)
    shown = f"{sign}{whole:,}" if digits == 0 else f"{sign}{whole:,}.{part:0{digits}}"
    return f"{shown} {currency}"


class Texts:
    """The words of players' messages."""

    def __init__(self, english: English) -> None:
        self._english = english

    def say(self, key: str, **values: object) -> str:
        """A text of the area. Raises NoSuchText: a mistake of who wrote the program."""
        return self._english(f"{_AREA}.{key}", **values)

    def has_reason(self, reason: str) -> bool:
        """Whether a reason has a sentence of its own."""
        return self._english.has(f"{_AREA}.reason.{reason}")

    def reason(self, reason: str, data: Mapping[str, str], currency: str) -> str:
        """Why something was not accepted, in words; of a reason that is not known, that it was not."""
        key = f"{_AREA}.reason.{reason}"
        if not self._english.has(key):
            return self._english(_OTHER)
        amounts = {
            f"{name}_amount": amount_text(int(value), currency)
            for name, value in data.items()
            if value.removeprefix("-").isdecimal()
        }
        try:
            return self._english(key, **{**data, **amounts})
        except NoSuchText:
            # The service left out what the sentence speaks of, as it does in very large answers.
            return self._english(_OTHER)
