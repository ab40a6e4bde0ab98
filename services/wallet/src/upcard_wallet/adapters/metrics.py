"""What the wallet shows of itself: metrics, and a line of the log for what is an alarm."""

from __future__ import annotations

from typing import Final, Literal
from uuid import UUID

import structlog

from servicekit.metrics import counter, gauge, histogram
from upcard_wallet.adapters.seamless.observer import Silent
from upcard_wallet.adapters.seamless.partner import CallKind, Verdict

_log = structlog.get_logger("upcard_wallet")

_holds = counter(
    "upcard_wallet_hold_commands_total", "Commands whose money was asked for, by outcome", ("outcome",)
)
_settled = counter("upcard_wallet_settlements_total", "Players' results that were posted", ("revision",))
_suspense = counter(
    "upcard_wallet_suspense_minor_units_total",
    "Stakes for which nothing was held, in minor units; alarm on any",
    ("currency",),
)
_owed = counter(
    "upcard_wallet_owed_minor_units_total",
    "What players owe since corrections found too little, in minor units",
    ("currency",),
)

_calls = counter(
    "upcard_wallet_partner_calls_total", "Calls to partners, by verdict", ("operator", "kind", "verdict")
)
_took = histogram(
    "upcard_wallet_partner_call_seconds", "How long partners took to answer", ("operator", "kind")
)
_parked = counter(
    "upcard_wallet_partner_calls_parked_total", "Calls that wait for people; alarm on any", ("operator",)
)
_abandoned = counter(
    "upcard_wallet_partner_bets_abandoned_total", "Bets that nobody waits for any more", ("operator",)
)
_circuit = gauge(
    "upcard_wallet_partner_circuit",
    "0: closed, 1: one ante is tried, 2: open, antes are refused",
    ("operator",),
)
_opened = counter(
    "upcard_wallet_partner_circuit_opened_total", "How often antes began to be refused", ("operator",)
)
_CIRCUIT: Final = {"closed": 0, "probing": 1, "open": 2}
_failures = counter("upcard_wallet_partner_work_failures_total", "Failures that pass", ("where",))


waiting_lanes: Final = gauge(
    "upcard_wallet_partner_lanes", "Players in rounds with calls to their partner", ("operator", "state")
)
failing_for: Final = gauge(
    "upcard_wallet_partner_failing_seconds", "Since when a partner's oldest failing call fails", ("operator",)
)
overdue_bets: Final = gauge("upcard_wallet_partner_bets_overdue", "Bets that should have had an end by now")
oldest_hold: Final = gauge("upcard_wallet_oldest_open_hold_seconds", "Age of the oldest open hold's state")
old_holds: Final = counter(
    "upcard_wallet_old_holds_total",
    "Commands with old holds, by what their round's owner said: staked, declined, unknown",
    ("word",),
)
differences: Final = gauge(
    "upcard_wallet_differences", "Invariants that do not hold now, some of them under way", ("kind",)
)
difference_alarms: Final = gauge(
    "upcard_wallet_difference_alarms", "Invariants that have not held for too long; alarm on any"
)
upkeep_failures: Final = counter(
    "upcard_wallet_upkeep_failures_total", "Failures of upkeep that pass", ("what",)
)
figures_age: Final = gauge(
    "upcard_wallet_figures_looked_up_seconds", "When figures were looked up, since 1970"
)


class WalletMetrics:
    """A `Watcher`, told before the commit: after a rollback a figure may count something twice."""

    def holds(self, outcome: str, number: int) -> None:
        """See `Watcher`."""
        _holds.labels(outcome).inc(number)

    def settled(self, players: int, revision: int) -> None:
        """See `Watcher`."""
        _settled.labels("first" if revision == 1 else "correction").inc(players)

    def suspense(self, currency: str, amount: int, about: str) -> None:
        """See `Watcher`."""
        _suspense.labels(currency).inc(amount)
        _log.error("a stake had no hold", about=about, amount=amount, currency=currency)

    def owed(self, currency: str, amount: int, about: str) -> None:
        """See `Watcher`."""
        _owed.labels(currency).inc(amount)
        _log.warning("a player owes something", about=about, amount=amount, currency=currency)


class PartnerMetrics(Silent):
    """A `SeamlessObserver`."""

    def __init__(self) -> None:
        self._circuits: dict[str, str] = {}

    def answered(self, operator: str, kind: CallKind, verdict: Verdict, took_s: float) -> None:
        """See `SeamlessObserver`."""
        _calls.labels(operator, kind, type(verdict).__name__.lower()).inc()
        _took.labels(operator, kind).observe(took_s)

    def parked(self, operator: str, call: UUID, kind: CallKind, reason: str) -> None:
        """See `SeamlessObserver`."""
        _parked.labels(operator).inc()
        _log.error("a partner's call is parked", operator=operator, call=str(call), kind=kind, why=reason)

    def abandoned(self, operator: str, groups: int) -> None:
        """See `SeamlessObserver`."""
        _abandoned.labels(operator).inc(groups)

    def circuit(self, operator: str, state: Literal["closed", "open", "probing"]) -> None:
        """See `SeamlessObserver`."""
        _circuit.labels(operator).set(_CIRCUIT[state])
        was_closed = self._circuits.get(operator, "closed") == "closed"
        self._circuits[operator] = state
        if state == "open" and was_closed:
            _opened.labels(operator).inc()
            _log.warning("a partner's circuit is open: its players' antes are refused", operator=operator)

    def paused(self, operator: str, pause_s: float) -> None:
        """See `SeamlessObserver`."""
        _log.warning("a partner fails again and again", operator=operator, pause_s=pause_s)

    def failed(self, where: str, error: BaseException, pause_s: float) -> None:
        """See `SeamlessObserver`."""
        _failures.labels(where).inc()
        _log.warning("work with partners failed", where=where, why=type(error).__name__, pause_s=pause_s)
