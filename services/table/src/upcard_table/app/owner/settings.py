"""The bounds of an owner, with their units."""

from __future__ import annotations

from dataclasses import dataclass

from rules_core.round.commands import SETTLE_CHUNK_MAX


@dataclass(frozen=True, slots=True)
class OwnerSettings:
    """What one table's owner may take upon itself."""

    waiting_works: int = 20_000
    """Most works that wait or are under way; more are refused (`Overloaded`)."""
    batch_works: int = 1_000
    """About so many works are decided before what they led to is stored."""
    hold_timeout_ms: int = 10_000
    """Longest that one command's holds are waited for, where no window ends before."""
    settle_chunk: int = SETTLE_CHUNK_MAX
    """Players settled between two commits."""
    resolve_timeout_ms: int = 5_000
    """Longest that a new owner waits for the list of open holds."""
    rounds_loaded: int = 8
    """Most rounds that are over and are held in memory for corrections, and most that are being loaded."""
    conflicts: int = 5
    """After so many batches in a row that another owner's appends prevented, callers are sent away."""
    first_pause_s: float = 0.05
    longest_pause_s: float = 2.0
    """Pauses between tries to load or store while the database is away; they double."""


DEFAULT_OWNER_SETTINGS = OwnerSettings()
