"""What is left open in a step, chosen from a seed: Hypothesis draws the steps and a seed for each of them.

A failure shrinks to few steps; what a step chose is in the command that its report names.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

Thing = TypeVar("Thing")


class Choices:
    """Choices that follow from a seed, and from the number of the step that it was drawn for."""

    def __init__(self, seed: int, step: int = 0) -> None:
        self._random = random.Random(f"{seed}/{step}")

    def whole(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`."""
        return self._random.randint(low, high)


def pick(choices: Choices, things: Sequence[Thing]) -> Thing:
    """One of several things."""
    return things[choices.whole(0, len(things) - 1)]


def chance(choices: Choices, percent: int) -> bool:
    """Whether something that happens in so many cases of a hundred happens now."""
    return choices.whole(0, 99) < percent


def some(choices: Choices, things: Sequence[Thing], least: int, most: int) -> list[Thing]:
    """A few different things, in any order."""
    left = list(things)
    count = choices.whole(min(least, len(left)), min(most, len(left)))
    return [left.pop(choices.whole(0, len(left) - 1)) for _ in range(count)]
