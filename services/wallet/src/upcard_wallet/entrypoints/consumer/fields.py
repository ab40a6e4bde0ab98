"""Fields of a payload that another service owns: what is needed is checked, the rest is not looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rules_core.round.codec import PayloadError
from upcard_wallet.domain.ids import LARGEST_AMOUNT, is_currency, is_opaque_id, is_round


@dataclass(frozen=True, slots=True)
class Fields:
    """An object of a payload. Its methods raise PayloadError with the field's path."""

    payload: Mapping[str, object]
    path: str

    def id(self, name: str) -> str:
        """An opaque id."""
        text = self._text(name)
        if not is_opaque_id(text):
            raise self._wrong(name, "an opaque id is needed here")
        return text

    def currency(self, name: str) -> str:
        """Three capital letters."""
        text = self._text(name)
        if not is_currency(text):
            raise self._wrong(name, "a currency is needed here")
        return text

    def round(self, name: str) -> str:
        """`<table>.<number>`."""
        text = self._text(name)
        if not is_round(text):
            raise self._wrong(name, "a round is needed here")
        return text

    def amount(self, name: str) -> int:
        """Minor units, 0 or more."""
        value = self.payload.get(name)
        if type(value) is not int or not 0 <= value <= LARGEST_AMOUNT:
            raise self._wrong(name, "an amount of 0 or more is needed here")
        return value

    def change(self, name: str) -> int:
        """Minor units, signed."""
        value = self.payload.get(name)
        if type(value) is not int or abs(value) > LARGEST_AMOUNT:
            raise self._wrong(name, "a change of an amount is needed here")
        return value

    def objects(self, name: str, *, missing: object = None) -> list[Fields]:
        """A list of objects; `missing` is what a payload without it means."""
        value = self.payload.get(name, missing)
        if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
            raise self._wrong(name, "a list of objects is needed here")
        return [Fields(one, f"{self.path}.{name}[{place}]") for place, one in enumerate(value)]

    def _text(self, name: str) -> str:
        value = self.payload.get(name)
        if not isinstance(value, str):
            raise self._wrong(name, "a text is needed here")
        return value

    def _wrong(self, name: str, message: str) -> PayloadError:
        return PayloadError(f"{self.path}.{name}", message)
