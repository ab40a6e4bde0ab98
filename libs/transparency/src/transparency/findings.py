"""What an audit finds, and as what it is written down."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

Kind = Literal[
    "event_changed",
    "event_missing",
    "event_not_in_tree",
    "event_out_of_place",
    "chain_broken",
    "head_wrong",
    "leaf_wrong",
    "tree_wrong",
    "order_wrong",
    "checkpoint_wrong",
    "checkpoint_unsigned",
    "checkpoint_missing",
    "signature_wrong",
    "outside_disagrees",
]

MOST_FINDINGS: Final = 1_000
"""Most findings that are kept; the rest is counted."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it was written."""

    kind: Kind
    where: str
    """The place: an event by stream and position, a shard's position, a leaf, a checkpoint's size."""
    text: str
    """In words."""

    def __str__(self) -> str:
        return f"{self.where}: {self.text} ({self.kind})"


@dataclass(slots=True)
class Findings:
    """What was found, up to a bound, and how much was looked at."""

    found: list[Finding] = field(default_factory=list)
    more: int = 0
    """Findings beyond the bound."""
    events: int = 0
    leaves: int = 0
    checkpoints: int = 0
    outside: int = 0
    """Checkpoints that lie outside the database and were compared."""

    def add(self, kind: Kind, where: str, text: str) -> None:
        """Note a finding."""
        if len(self.found) < MOST_FINDINGS:
            self.found.append(Finding(kind, where, text))
        else:
            self.more += 1

    @property
    def clean(self) -> bool:
        """Whether nothing was found."""
        return not self.found
