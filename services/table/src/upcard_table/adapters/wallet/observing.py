"""How asking for money goes: who hears it."""

from __future__ import annotations

from typing import Final, Protocol

from servicekit.metrics import counter, histogram

_asked: Final = counter("upcard_table_hold_commands_asked_total", "Commands sent to the wallet, each try")
_calls: Final = counter("upcard_table_hold_calls_total", "Calls that asked the wallet for holds")
_answered: Final = histogram(
    "upcard_table_hold_answer_seconds", "How long commands waited for their money's answer", ("outcome",)
)
_failed: Final = counter("upcard_table_hold_call_failures_total", "Calls for holds that failed", ("reason",))
_unfreed: Final = counter(
    "upcard_table_reserves_not_freed_total", "Reserves that wait for the end of their rounds to go back"
)


class AskObserver(Protocol):
    """Hears how asking goes. Never raises."""

    def asked(self, commands: int, wagers: int) -> None:
        """A call was sent."""
        ...

    def answered(self, outcome: str, took_s: float) -> None:
        """A command has its answer."""
        ...

    def failed(self, reason: str) -> None:
        """A call failed; what it had not answered is asked for again, or unknown."""
        ...

    def not_freed(self, reserves: int) -> None:
        """So many reserves could not be given back now."""
        ...


class Unheard:
    """Tells nobody."""

    def asked(self, commands: int, wagers: int) -> None:
        """See `AskObserver`."""

    def answered(self, outcome: str, took_s: float) -> None:
        """See `AskObserver`."""

    def failed(self, reason: str) -> None:
        """See `AskObserver`."""

    def not_freed(self, reserves: int) -> None:
        """See `AskObserver`."""


class AskMetrics:
    """Tells the metrics."""

    def asked(self, commands: int, wagers: int) -> None:  # noqa: ARG002 - the port's
        """See `AskObserver`."""
        _calls.inc()
        _asked.inc(commands)

    def answered(self, outcome: str, took_s: float) -> None:
        """See `AskObserver`."""
        _answered.labels(outcome).observe(took_s)

    def failed(self, reason: str) -> None:
        """See `AskObserver`."""
        _failed.labels(reason).inc()

    def not_freed(self, reserves: int) -> None:
        """See `AskObserver`."""
        _unfreed.inc(reserves)
