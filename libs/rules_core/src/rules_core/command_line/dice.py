"""Randomness for `play`: the same numbers from the same seed on every machine and Python version."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


class Dice:
    """A seeded generator that rests on nothing but the generator's raw bits."""

    def __init__(self, seed: int) -> None:
        self._bits = Random(seed)

    def below(self, limit: int) -> int:
        """A whole number from 0 to limit - 1, each as likely; limit is at least 1."""
        length = limit.bit_length()
        while True:
            number = self._bits.getrandbits(length)
            if number < limit:
                return number

    def chance(self, percent: int) -> bool:
        """True in so many of a hundred cases."""
        return self.below(100) < percent

    def pick(self, items: Sequence[T]) -> T:
        """One of the items."""
        return items[self.below(len(items))]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """The items in random order."""
        mixed = list(items)
        for last in range(len(mixed) - 1, 0, -1):
            other = self.below(last + 1)
            mixed[last], mixed[other] = mixed[other], mixed[last]
        return mixed

    def hex(self, digits: int) -> str:
        """So many hex digits."""
        return f"{self._bits.getrandbits(4 * digits):0{digits}x}"

    def uuid7(self, epoch_us: int) -> str:
        """A UUID of version 7 for an instant (microseconds after 1970)."""
        stamp = f"{epoch_us // 1000:012x}"
        return f"{stamp[:8]}-{stamp[8:]}-7{self.hex(3)}-{self.pick('89ab')}{self.hex(3)}-{self.hex(12)}"
