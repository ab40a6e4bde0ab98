"""What a table allows in one round, pinned when the round opens (RULES.md section 5, last line)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

MAX_AMOUNT = 2**53 - 1
"""The largest integer that every reader of JSON keeps exact (CONTRACTS.md section 2)."""
MAX_STAKE = MAX_AMOUNT // 1_000_000
"""Bound of one wager's total, minor units."""
MAX_PLACEMENTS = 32
"""Bound of the wagers in one command."""


@dataclass(frozen=True, slots=True)
class AmountRange:
    """The least and the most of one wager's total, in minor units."""

    min: Annotated[int, "Least total of the wager in a box, minor units."]
    max: Annotated[int, "Most of it."]

    @property
    def fixed(self) -> bool:
        """Whether only one amount is allowed; double leaves such a wager as it is (RULES.md section 4.1)."""
        return self.min == self.max


@dataclass(frozen=True, slots=True)
class BoxLimits:
    """What differs in one box from the table's limits."""

    box: Annotated[int, "The box these limits hold for, 1-based."]
    ante: Annotated[AmountRange | None, "The box's own ante limits; absent: the table's."] = None
    max_payout: Annotated[int | None, "The box's own cap, minor units; absent: the table's."] = None


@dataclass(frozen=True, slots=True)
class CurrencyLimits:
    """The limits for players of one currency."""

    currency: Annotated[str, "Three capital letters."]
    chip: Annotated[int, "Smallest chip, minor units; totals are multiples of it."]
    ante: Annotated[AmountRange, "Limits of the ante in each box."]
    bonus_player: Annotated[AmountRange | None, "Limits of bonus B; absent: not taken."] = None
    bonus_dealer: Annotated[AmountRange | None, "Limits of bonus D; absent: not taken."] = None
    insurance_max: Annotated[int | None, "Lowers the insurance maximum, minor units; absent: no limit."] = (
        None
    )
    max_payout: Annotated[int | None, "Cap per player, box and round, minor units; absent: no cap."] = None
    player_total_max: Annotated[
        int | None, "Most that one player may have staked before the deal, minor units; absent: no limit."
    ] = None
    boxes: Annotated[tuple[BoxLimits, ...], "Boxes whose limits differ."] = ()

    def ante_in(self, box: int) -> AmountRange:
        """The ante's limits in a box."""
        for own in self.boxes:
            if own.box == box and own.ante is not None:
                return own.ante
        return self.ante

    def max_payout_in(self, box: int) -> int | None:
        """The cap that holds in a box (CONTRACTS.md section 1: a box's own overrides)."""
        for own in self.boxes:
            if own.box == box and own.max_payout is not None:
                return own.max_payout
        return self.max_payout


@dataclass(frozen=True, slots=True)
class Durations:
    """How long each window stays open, in milliseconds."""

    betting_ms: Annotated[int, "Betting window."]
    options_ms: Annotated[int, "Options window, each."]
    final_options_ms: Annotated[int, "Final options window, each."]
    purchase_ms: Annotated[int, "Dealer purchase window."]
    extension_max_ms: Annotated[int, "Most that one window may be extended, all extensions together."]
