"""What the bonus service shows of itself: metrics, and a line of the log for what is an alarm."""

from __future__ import annotations

from typing import Final

import structlog

from servicekit.metrics import counter, gauge

_log = structlog.get_logger("upcard_bonus")

_determined = counter("upcard_bonus_stakes_decided_total", "Stakes on B and D that were decided", ("bonus",))
_contributed = counter(
    "upcard_bonus_contributed_minor_units_total", "What rounds added to pools, in minor units", ("currency",)
)
_hits = counter("upcard_bonus_hits_total", "Hits of pools", ("kind",))
_paid = counter("upcard_bonus_paid_minor_units_total", "What pools paid, in minor units", ("currency",))
_corrections = counter("upcard_bonus_corrections_total", "Corrections of what rounds did to pools")
_house = counter(
    "upcard_bonus_house_funded_minor_units_total",
    "What the house paid for corrections, in minor units",
    ("currency",),
)
_free_bets = counter("upcard_bonus_free_bet_events_total", "What became of free bets", ("what",))
_unknown = counter(
    "upcard_bonus_unknown_free_bets_total", "Wagers that name a free bet nobody granted; alarm on any"
)
_misused = counter(
    "upcard_bonus_misused_free_bets_total", "Free bets that paid what they may not pay; alarm on any"
)


fences: Final = gauge("upcard_bonus_fences", "Fences of pools that stand")
waiting_rounds: Final = gauge("upcard_bonus_waiting_rounds", "Settled rounds that wait for a fenced pool")
upkeep_failures: Final = counter(
    "upcard_bonus_upkeep_failures_total", "Failures of upkeep that pass", ("what",)
)
figures_age: Final = gauge(
    "upcard_bonus_figures_looked_up_seconds", "When figures were looked up, since 1970"
)


class BonusMetrics:
    """A `Watcher`, told before the commit: after a rollback a figure may count something twice."""

    def determined(self, bonus: str, number: int) -> None:
        """See `Watcher`."""
        _determined.labels(bonus).inc(number)

    def contributed(self, currency: str, amount: int) -> None:
        """See `Watcher`."""
        _contributed.labels(currency).inc(amount)

    def hit(self, currency: str, kind: str, paid: int) -> None:
        """See `Watcher`."""
        _hits.labels(kind).inc()
        _paid.labels(currency).inc(paid)

    def corrected(self, currency: str, house: int) -> None:
        """See `Watcher`."""
        _corrections.inc()
        if house > 0:
            _house.labels(currency).inc(house)

    def free_bet(self, what: str) -> None:
        """See `Watcher`."""
        _free_bets.labels(what).inc()

    def unknown_free_bet(self, about: str) -> None:
        """See `Watcher`."""
        _unknown.inc()
        _log.error("a wager names a free bet that nobody granted", about=about)

    def misused_free_bet(self, about: str) -> None:
        """See `Watcher`."""
        _misused.inc()
        _log.error("a free bet paid what it may not pay", about=about)
