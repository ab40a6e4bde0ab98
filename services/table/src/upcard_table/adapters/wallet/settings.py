"""How the wallet is asked: bounds and times."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AskingSettings:
    """Bounds of one process, for all of its tables."""

    waiting_max: int = 20_000
    """Most commands that wait to be sent; more are `overloaded`: the wallet is not asked."""
    commands_max: int = 2_000
    """Most commands of one call."""
    wagers_max: int = 4_000
    """Most wagers of one call."""
    calls_max: int = 256
    """Most calls that are not answered in full: those beyond the newest wait for slow partners only."""
    crowded_gap_s: float = 0.08
    """How far apart calls go while more than half of these are out. Half of them last for as long as a
    command is waited for, ten seconds: so a slow partner never takes the place of others' calls."""
    head_start_s: float = 0.1
    """The next call goes when the one before has answered half of its commands, or after this long: what
    queued meanwhile goes together, and whoever waits for a slow partner holds nobody up for longer."""
    tries: int = 3
    """How often a command is asked for whose call failed; the same command is the same holds."""
    first_pause_s: float = 0.05
    """Before the second try; doubles."""
    page: int = 1_000
    """Holds of one page."""
    releases_max: int = 4_000
    """Most holds of one release."""
    freeing_max: int = 10_000
    """Most reserves that wait to be given back; more go back at the end of their rounds."""
    reserves_known_max: int = 200_000
    """Most reserves whose ids are remembered; of others the wallet is asked for a list."""
    call_timeout_s: float = 5.0
    """Deadline of a call for which nobody waits."""
