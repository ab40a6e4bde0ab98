"""What a verification found, for people and for machines (CONTRACTS.md section 1, verify)."""

from __future__ import annotations

from dataclasses import dataclass, field

from rules_core.log.bundle_reading import Problem
from rules_core.log.difference import Difference
from rules_core.log.partial_run import NotChecked

AGREED, DISAGREED, UNREADABLE = 0, 1, 2


@dataclass(slots=True)
class Report:
    """The outcome of one verification."""

    exit_code: int = AGREED
    unreadable: str | None = None
    """Why the bytes are no bundle at all."""
    stream: str | None = None
    player: str | None = None
    """For whom the bundle was made; None: it shows everything."""
    ruleset: str | None = None
    engine: int | None = None
    events: int = 0
    withheld: int = 0
    decisions: int = 0
    """Decisions that were made again and agreed."""
    cards_opened: int = 0
    cards_uncommitted: int = 0
    problems: list[Problem] = field(default_factory=list)
    difference: Difference | None = None
    """The first event and field that the rules do not give."""
    not_checked: list[NotChecked] = field(default_factory=list)

    def to_object(self) -> dict[str, object]:
        """The report as JSON."""
        outcome = {AGREED: "agreed", DISAGREED: "disagreed", UNREADABLE: "unreadable"}[self.exit_code]
        difference = self.difference
        return {
            "outcome": outcome,
            "unreadable": self.unreadable,
            "stream": self.stream,
            "for": self.player,
            "ruleset": self.ruleset,
            "engine": self.engine,
            "events": self.events,
            "withheld": self.withheld,
            "decisions": self.decisions,
            "cards_opened": self.cards_opened,
            "cards_uncommitted": self.cards_uncommitted,
            "problems": [{"code": p.code, "message": p.message} for p in self.problems],
            "difference": None
            if difference is None
            else {
                "position": difference.position,
                "type": difference.type,
                "field": difference.field,
                "expected": difference.expected,
                "found": difference.found,
            },
            "not_checked": [{"position": n.position, "type": n.type, "why": n.why} for n in self.not_checked],
        }

    def sentences(self) -> list[str]:
        """The report in plain English, a sentence an item."""
        if self.exit_code == UNREADABLE:
            return [f"This is not a bundle that can be read: {self.unreadable}."]
        said = []
        if self.exit_code == AGREED:
            said.append(f"AGREED: {self.stream} was decided again and every result is the recorded one.")
        else:
            said.append(f"DISAGREED: {self.stream or 'the round'} is not what the rules give.")
        said += [f"Wrong: {problem.message} ({problem.code})." for problem in self.problems]
        if self.difference is not None:
            said.append(f"First difference: {self.difference}.")
        if self.ruleset is not None:
            said.append(f"Rules: {self.ruleset}, engine {self.engine}.")
        said.append(
            f"{self.events} events, {self.withheld} of them withheld; {self.decisions} decisions made again; "
            f"{self.cards_opened} face-down cards opened as committed."
        )
        if self.cards_uncommitted:
            text = "cards were recorded by hand when they were opened; no commitment proves them"
            said.append(f"Note: {self.cards_uncommitted} {text}.")
        said += [f"Not checked: event {n.position} ({n.type}): {n.why}." for n in self.not_checked]
        return said
