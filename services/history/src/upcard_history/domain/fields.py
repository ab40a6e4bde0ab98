"""Fields of payloads that other services own: what is needed is checked, the rest is not looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from rules_core.round.codec import PayloadError


@dataclass(frozen=True, slots=True)
class Fields:
    """An object of a payload. Its methods raise PayloadError, which names the field."""

    payload: Mapping[str, object]
    path: str

    def text(self, name: str) -> str:
        """A text that is not empty."""
        found = self.text_or_none(name)
        if found is None:
            raise self._wrong(name, "a text is needed here")
        return found

    def text_or_none(self, name: str) -> str | None:
        """The same; None where it is absent or null."""
        value = self.payload.get(name)
        if value is None:
            return None
        if not isinstance(value, str) or not value:
            raise self._wrong(name, "a text is needed here")
        return value

    def uuid(self, name: str) -> UUID:
        """A UUID."""
        try:
            return UUID(self.text(name))
        except ValueError:
            raise self._wrong(name, "a UUID is needed here") from None

    def number(self, name: str, default: int | None = None) -> int:
        """An integer, signed; `default` where it is absent, if there is one."""
        value = self.payload.get(name, default)
        if type(value) is not int:
            raise self._wrong(name, "an integer is needed here")
        return value

    def objects(self, name: str) -> list[Fields]:
        """A list of objects."""
        value = self.payload.get(name)
        if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
            raise self._wrong(name, "a list of objects is needed here")
        return [Fields(one, f"{self.path}.{name}[{place}]") for place, one in enumerate(value)]

    def _wrong(self, name: str, message: str) -> PayloadError:
        return PayloadError(f"{self.path}.{name}", message)
