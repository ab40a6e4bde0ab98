"""Settings of the floor's pages and of the log of significant events."""

from __future__ import annotations

import re
from typing import Annotated, Final

from pydantic import Field, field_validator

from servicekit.settings import Settings
from upcard_gateway.domain.significant import Thresholds

_CURRENCY: Final = re.compile(r"[A-Z]{3}")
_MOST: Final = 2**53 - 1


class FloorSettings(Settings):
    """What the floor is told of, and how fresh its pages are."""

    large_wins: dict[str, int] = Field(
        default={},
        description="from which net win of a round on it is significant, in minor units by currency, as JSON,"
        ' such as {"EUR": 500000}',
    )
    large_win_else: Annotated[int, Field(ge=1, le=_MOST)] = Field(
        default=1_000_000, description="the same in every other currency, in minor units"
    )
    floor_fresh_s: Annotated[float, Field(ge=0.1, le=60, allow_inf_nan=False)] = Field(
        default=1.0, description="for so long the floor's pages do not read tables again, in seconds"
    )
    floor_stalled_s: Annotated[float, Field(ge=5, le=3_600, allow_inf_nan=False)] = Field(
        default=120.0,
        description="after so long without anything new a running round is an alarm, in seconds",
    )

    @field_validator("large_wins")
    @classmethod
    def _large_wins(cls, value: dict[str, int]) -> dict[str, int]:
        for currency, amount in value.items():
            if not _CURRENCY.fullmatch(currency) or not 0 < amount <= _MOST:
                raise ValueError("give whole minor units above 0 by currency, such as EUR")
        return value

    def thresholds(self) -> Thresholds:
        """Which wins are large."""
        return Thresholds(self.large_wins, self.large_win_else)
