"""Where somebody is in what a table tells: the same at every gateway, since it is made of log positions.

A place is how far each of the latest rounds' streams, and the table's own, was told. Its text stands in
messages as `seq`, with the table service's token of the same place behind it, from which a gateway that has
not followed the table goes on, and with a seal. Gateways go on where a client says that it was, for all who
look at the table: so what comes back has to be what one of us told, whole.
"""

from __future__ import annotations

import base64
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

__all__ = ["ROUNDS_KEPT", "Place", "PlaceSeal", "place_name"]

ROUNDS_KEPT: Final = 3
"""The latest rounds of a table that are told of; what is corrected later, history tells."""
_TEXT: Final = re.compile(
    r"(?P<table>[0-9]{1,16})/(?P<rounds>(?:[0-9]{1,16}\.[0-9]{1,16}){0,1}(?:,[0-9]{1,16}\.[0-9]{1,16}){0,2})/"
    r"(?P<token>[A-Za-z0-9_=-]{0,1024})/(?P<seal>[A-Za-z0-9_-]{22})"
)
_PURPOSE: Final = b"upcard play place v1\x00"
_SEAL_BYTES: Final = 16


@dataclass(frozen=True, slots=True)
class Place:
    """How far somebody was told."""

    table: int = 0
    """Position in the table's own stream."""
    rounds: Mapping[int, int] = field(default_factory=dict)
    """Positions in rounds' streams, by number: the latest ones, three at the most."""

    def had(self, round_number: int, position: int) -> bool:
        """Whether an event was told; 0: of the table itself. Rounds before ours count as told."""
        if not round_number:
            return position <= self.table
        known = self.rounds.get(round_number)
        if known is not None:
            return position <= known
        return bool(self.rounds) and round_number < min(self.rounds)

    def after(self, round_number: int, position: int) -> Place:
        """The place behind an event."""
        if not round_number:
            return Place(max(position, self.table), self.rounds)
        rounds = dict(self.rounds)
        rounds[round_number] = max(position, rounds.get(round_number, 0))
        while len(rounds) > ROUNDS_KEPT:
            del rounds[min(rounds)]
        return Place(self.table, rounds)

    def joined(self, other: Place) -> Place:
        """The place of whoever was told all up to both."""
        latest = sorted({*self.rounds, *other.rounds})[-ROUNDS_KEPT:]
        rounds = {one: max(self.rounds.get(one, 0), other.rounds.get(one, 0)) for one in latest}
        return Place(max(self.table, other.table), rounds)

    def reaches(self, other: Place) -> bool:
        """Whether whoever stands here was told all that was told up to the other place."""
        return self.table >= other.table and all(
            self.had(number, position) for number, position in other.rounds.items()
        )

    def is_long_past(self, other: Place) -> bool:
        """Whether the other place's rounds are all forgotten here, so that nothing of them can come."""
        return self.reaches(other) and (
            not other.rounds or (bool(self.rounds) and min(self.rounds) > max(other.rounds))
        )


def place_name(place: Place) -> str:
    """A place in a few letters: the same of equal places."""
    rounds = ",".join(f"{number}.{position}" for number, position in sorted(place.rounds.items()))
    return f"{place.table}/{rounds}"


class PlaceSeal:
    """Writes places as `seq` and reads them again, with the keys that all gateways have.

    `whose` says of what a place is: the same text is no place in what is told to somebody else.
    """

    def __init__(self, keys: Mapping[str, bytes], writes_with: str) -> None:
        """All keys by their ids, and the id of the one that new places are sealed with."""
        made = {key_id: hmac.digest(key, _PURPOSE, "sha256") for key_id, key in keys.items()}
        self._writes_with = made[writes_with]
        self._keys = tuple(made.values())

    def text(self, whose: str, place: Place, token: str) -> str:
        """A place as `seq`."""
        said = f"{place_name(place)}/{token}"
        return f"{said}/{_sealed(self._writes_with, whose, said)}"

    def read(self, whose: str, text: str) -> tuple[Place, str] | None:
        """The place and the token of a `seq`; None: none of us told it."""
        found = _TEXT.fullmatch(text)
        if found is None:
            return None
        said, _, seal = text.rpartition("/")
        if not any(hmac.compare_digest(_sealed(key, whose, said), seal) for key in self._keys):
            return None
        pairs = [one.split(".") for one in found["rounds"].split(",") if one]
        rounds = {int(number): int(position) for number, position in pairs}
        return Place(int(found["table"]), rounds), found["token"]


def _sealed(key: bytes, whose: str, said: str) -> str:
    digest = hmac.digest(key, f"{whose}\n{said}".encode(), "sha256")
    return base64.urlsafe_b64encode(digest[:_SEAL_BYTES]).rstrip(b"=").decode()
