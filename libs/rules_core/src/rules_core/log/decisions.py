"""Which recorded events were decided together: a replay decides whole decisions again, not single events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rules_core.round import events as e
from rules_core.round.commands import SETTLE_CHUNK_MAX

Shown = e.RoundEvent | None
"""An event, or None for one that is withheld."""
_ENDS = (e.RoundSettled, e.RoundResettled)
_SEVERAL = frozenset(
    (
        e.FinalOptionChosen,
        e.PurchaseDeclined,
        e.PlayerSettled,
        e.CorrectionDecided,
        e.CardsRevealed,
        e.DealerRevealed,
    )
)
"""What can be the first of several events of one decision; every other event was decided alone."""


def decisions(events: Sequence[Shown]) -> Iterator[tuple[int, int]]:
    """Give (start, end) of each decision, end exclusive, in order and without gaps."""
    start = 0
    while start < len(events):
        end = _end(events, start)
        yield start, end
        start = end


def _end(events: Sequence[Shown], start: int) -> int:
    event = events[start]
    if type(event) not in _SEVERAL:
        return start + 1
    if isinstance(event, e.FinalOptionChosen) and event.by == "platform":
        return _closed_by(events, start, e.FinalOptionChosen, e.FinalOptionsClosed)
    if isinstance(event, e.PurchaseDeclined) and event.by == "platform":
        return _closed_by(events, start, e.PurchaseDeclined, e.PurchaseClosed)
    if isinstance(event, (e.PlayerSettled, e.CorrectionDecided)):
        return _settled(events, start)
    if isinstance(event, e.CardsRevealed):
        return _revealed(events, start, event)
    if isinstance(event, e.DealerRevealed):
        following = events[start + 1] if start + 1 < len(events) else None
        together = isinstance(following, e.CardsRevealed) and not following.final
        return start + (2 if together else 1)
    return start + 1


def _closed_by(
    events: Sequence[Shown], start: int, choice: type[e.RoundEvent], closing: type[e.RoundEvent]
) -> int:
    index = start
    while (
        index < len(events)
        and isinstance(events[index], choice)
        and getattr(events[index], "by", "") == "platform"
    ):
        index += 1
    if index < len(events) and isinstance(events[index], closing):
        return index + 1
    return start + 1


def _settled(events: Sequence[Shown], start: int) -> int:
    """A chunk of a settlement, as long as one may be: shorter ones that follow each other count as one."""
    most = SETTLE_CHUNK_MAX - (1 if isinstance(events[start], e.PlayerSettled) else 0)
    index = start + 1
    while index < len(events) and index - start <= most and isinstance(events[index], e.PlayerSettled):
        index += 1
    if index < len(events) and isinstance(events[index], _ENDS):
        index += 1
    return index


def _revealed(events: Sequence[Shown], start: int, event: e.CardsRevealed) -> int:
    following = events[start + 1] if start + 1 < len(events) else None
    if event.final:
        if isinstance(following, e.RoundCancelled):
            return start + 2
        return _settled(events, start) if isinstance(following, (e.PlayerSettled, *_ENDS)) else start + 1
    return start + (2 if isinstance(following, e.DealerRevealed) else 1)
