"""What a run of the kit found: values that the reports are made from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Outcome: TypeAlias = Literal["passed", "failed", "not_run"]


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request that the kit sent, and what came."""

    what: str
    """In words: `bet of 100`."""
    address: str
    request: str
    """The body, as it was sent."""
    status: int | None
    """None: no answer came, or the kit did not wait for one."""
    answer: str
    """The body, or what went wrong instead."""
    read_as: str
    """What Upcard makes of the answer, in words."""
    took_ms: int
    follows: str = ""
    """What Upcard does then, by the decision table."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What a wallet did otherwise than it has to."""

    expected: str
    found: str


@dataclass(frozen=True, slots=True)
class Finding:
    """What came of one case."""

    case: str
    title: str
    rows: tuple[str, ...]
    """The rows of the decision table that it plays: `win/duplicate`."""
    outcome: Outcome
    why: str
    """What the rule is for."""
    mend: str
    """What to change in a wallet that fails it."""
    fault: Fault | None = None
    reason: str = ""
    """Why it was not run."""
    exchanges: tuple[Exchange, ...] = ()
    took_ms: int = 0


@dataclass(frozen=True, slots=True)
class Report:
    """All cases of one run."""

    wallet_url: str
    dialect: str
    player: str
    currency: str
    findings: tuple[Finding, ...] = field(default=())
    notes: tuple[str, ...] = ()
    """What a reader should know besides: money that the run left with the player, and the like."""

    def count(self, outcome: Outcome) -> int:
        """How many cases came out like this."""
        return sum(1 for one in self.findings if one.outcome == outcome)

    @property
    def conforms(self) -> bool:
        """No case failed."""
        return self.count("failed") == 0
