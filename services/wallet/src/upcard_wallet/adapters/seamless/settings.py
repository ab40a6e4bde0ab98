"""Times and bounds of calls to one partner."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PartnerSettings:
    """How one partner is called. Times in seconds, bounds in calls."""

    bets_at_once: int = 64
    """Bets under way at the same time; further ones wait, and are refused unsent at their deadline."""
    roll_back_refused: bool = False
    """Whether a refused bet is rolled back all the same: for a partner that has refused and taken."""
    queue_at_once: int = 32
    """Wins and rollbacks under way at the same time."""
    queue_timeout_s: float = 5.0
    """Longest time for a win or a rollback."""
    claim_margin_s: float = 15.0
    """By how much a claim outlives its call's timeout: the answer has to be noted in it."""
    answer_margin_s: float = 5.0
    """How long after its deadline a bet without a recorded answer counts as abandoned."""
    first_pause_s: float = 1.0
    """Pause after the first failed try; doubled with each, up to `longest_pause_s`."""
    longest_pause_s: float = 600.0
    park_after_s: float = 12 * 3600.0
    """A call that has failed for so long is parked for people."""
    contradictions_max: int = 5
    """A win or rollback to which so many answers contradicted what was asked is parked at once."""
    confirm_after_s: float = 60.0
    """A rollback of a bet that the partner says it does not know is sent once more after this time."""
    failures_before_pause: int = 8
    """So many failed calls one after the other, and the partner counts as down: its circuit opens."""
    down_pause_s: float = 5.0
    """How often a partner that is down is tried."""
    balances_at_once: int = 16
    """Questions for balances under way at the same time; further ones are answered with `balance_unknown`."""
    balance_timeout_s: float = 2.0
    """Longest time for a balance."""
