"""The states of a hold, and which may follow which."""

from __future__ import annotations

from typing import Final, Literal

HoldState = Literal["requested", "held", "refused", "unknown", "settled", "released"]

FOLLOWING: Final[dict[HoldState, frozenset[HoldState]]] = {
    "requested": frozenset({"held", "refused", "unknown"}),
    "held": frozenset({"settled", "released"}),
    "unknown": frozenset({"released"}),
    "refused": frozenset(),
    "settled": frozenset(),
    "released": frozenset(),
}
"""`requested` is committed before any call outside. An `unknown` one is never tried again: it is rolled back.

The table `holds` has a trigger that refuses every other change; a test compares the two.
"""

OVER: Final[frozenset[HoldState]] = frozenset({"refused", "settled", "released"})
"""States in which a hold stays."""


def may_become(before: HoldState, after: HoldState) -> bool:
    """Whether a hold in one state may take another."""
    return after in FOLLOWING[before]
