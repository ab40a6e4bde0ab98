"""What became of each command of a round, so that the same command again gets the same answer.

Found by bet id and scan id for ever, and by the command's own id (the cause of its events) for what has
neither.
"""

from __future__ import annotations

from typing import Any

from rules_core.round import events as e
from upcard_table.app.calls import Recorded

_BETS = (e.BetPlaced, e.BetDeclined, e.OptionChosen, e.FinalOptionChosen, e.PurchaseMade)
_SCANS = (e.CardScanned, e.CardRescanned, e.CardBurned)
_BY_CAUSE = (
    e.BetWithdrawn,
    e.OptionChosen,
    e.FinalOptionChosen,
    e.PurchaseDeclined,
    e.BettingClosed,
    e.WindowExtended,
    e.OptionsOpened,
    e.FinalOptionsOpened,
    e.CardsRevealed,
    e.DealerRevealed,
    e.DealerRequalified,
    e.RoundCancelled,
    e.CorrectionDecided,
    e.RoundOpened,
)


class Outcomes:
    """The recorded outcomes of one round, by what a command is known by."""

    __slots__ = ("_by_bet", "_by_cause", "_by_scan", "_stream")

    def __init__(self, stream: str) -> None:
        self._stream = stream
        self._by_bet: dict[str, tuple[int, Any]] = {}
        self._by_scan: dict[str, tuple[int, Any]] = {}
        self._by_cause: dict[str, tuple[tuple[int, e.RoundEvent], ...]] = {}

    def note(self, position: int, event: e.RoundEvent, cause: str | None) -> None:
        """An event was recorded there; `cause` is its content's causation id."""
        if isinstance(event, _BETS) and event.bet_id is not None:
            self._by_bet[event.bet_id] = (position, event)
        elif isinstance(event, _SCANS):
            self._by_scan[event.scan_id] = (position, event)
        elif cause is not None and isinstance(event, _BY_CAUSE):
            self._by_cause[cause] = (*self._by_cause.get(cause, ()), (position, event))

    def of_bet(self, bet_id: str) -> Recorded | None:
        """The event that a bet id led to: a stake or BetDeclined."""
        found = self._by_bet.get(bet_id)
        return None if found is None else Recorded(self._stream, *found)

    def of_scan(self, scan_id: str) -> Recorded | None:
        """The event of a scan."""
        found = self._by_scan.get(scan_id)
        return None if found is None else Recorded(self._stream, *found)

    def of_cause(self, cause: str) -> tuple[Recorded, ...]:
        """The events of a command that has neither bet id nor scan id; empty: it was not done."""
        return tuple([Recorded(self._stream, *one) for one in self._by_cause.get(cause, ())])
