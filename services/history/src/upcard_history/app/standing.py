"""How history stands: how far behind what it shows may be."""

from __future__ import annotations

from dataclasses import dataclass

from eventstore.projections import ProjectionStatus
from upcard_history.app.replay_queue import ReplayStanding


@dataclass(frozen=True, slots=True)
class SourceStanding:
    """How far one service's events have come, at this instance."""

    source: str
    connected: bool
    """Whether they come from the broker."""
    behind: int | None
    """Events still to come when it was last asked; None: it has not been asked."""
    asked_s: float | None
    """How long ago that was, in seconds."""
    stopped_shards: int
    """Shards that stand still until a person has looked."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Everything that tells how far behind an answer may be."""

    sources: tuple[SourceStanding, ...]
    views: tuple[ProjectionStatus, ...]
    replays: ReplayStanding
