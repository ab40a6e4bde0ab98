"""The fields that many events share, each with its meaning; docs/bonus-events.md is made from these."""

from __future__ import annotations

from typing import Annotated

JackpotId = Annotated[str, "The jackpot's opaque id."]
OperatorId = Annotated[str, "Whose house seeds, contributes, and pays what the pool lacks."]
CurrencyCode = Annotated[str, "Three capital letters."]
RoundName = Annotated[str, "`<table>.<number>`."]
PlayerId = Annotated[str, "The player's opaque id."]
FreeBetId = Annotated[str, "The free bet's opaque id."]
BoxNumber = Annotated[int, "Box, 1-based from the dealer's left."]
Amount = Annotated[int, "Minor units."]
PoolAfter = Annotated[int, "What is in the pool after this event, minor units."]
RemainderAfter = Annotated[
    int, "What is not a whole minor unit yet after this event, in millionths of one: 0 to 999,999."
]
Part = Annotated[int, "Which part of a fact that is too large for one event, from 1."]
Parts = Annotated[int, "How many parts there are."]
