"""What the seamless purse tells of itself: for metrics, logs and alarms."""

from typing import Literal, Protocol
from uuid import UUID

from upcard_wallet.adapters.seamless.partner import CallKind, Verdict


class SeamlessObserver(Protocol):
    """Is told what happens. Its methods return at once and raise nothing."""

    def answered(self, operator: str, kind: CallKind, verdict: Verdict, took_s: float) -> None:
        """A partner was asked; this came of it."""
        ...

    def parked(self, operator: str, call: UUID, kind: CallKind, reason: str) -> None:
        """A call waits for people now, and what follows it for this player and round waits too. An alarm."""
        ...

    def abandoned(self, operator: str, groups: int) -> None:
        """Bets whose answer nobody waits for any more are being rolled back."""
        ...

    def circuit(self, operator: str, state: Literal["closed", "open", "probing"]) -> None:
        """The partner's circuit is in this state now: open, and antes are refused unasked."""
        ...

    def paused(self, operator: str, pause_s: float) -> None:
        """The partner fails again and again: only one call is tried after each pause."""
        ...

    def failed(self, where: str, error: BaseException, pause_s: float) -> None:
        """The database or the program failed; it is tried again after the pause."""
        ...


class Silent:
    """Tells nobody."""

    def answered(self, operator: str, kind: CallKind, verdict: Verdict, took_s: float) -> None:
        """See `SeamlessObserver`."""

    def parked(self, operator: str, call: UUID, kind: CallKind, reason: str) -> None:
        """See `SeamlessObserver`."""

    def abandoned(self, operator: str, groups: int) -> None:
        """See `SeamlessObserver`."""

    def circuit(self, operator: str, state: Literal["closed", "open", "probing"]) -> None:
        """See `SeamlessObserver`."""

    def paused(self, operator: str, pause_s: float) -> None:
        """See `SeamlessObserver`."""

    def failed(self, where: str, error: BaseException, pause_s: float) -> None:
        """See `SeamlessObserver`."""
