"""What the checks of a one-player bundle share: the state so far, and ways to answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from rules_core.log.difference import Difference, first_difference
from rules_core.log.engines import Engine
from rules_core.round.command_of import Fact
from rules_core.round.events import RoundEvent
from rules_core.round.recording import actor_of
from rules_core.round.refusal import Refusal
from rules_core.round.sealed import Sealed
from rules_core.round.state import BoxPlay, RoundState

SYSTEM = "system"


@dataclass(frozen=True, slots=True)
class NotChecked:
    """A shown event of which something rests on a withheld one."""

    position: int
    type: str
    why: str


@dataclass(slots=True)
class PartialReplay:
    """What could be decided again, and the state folded from the shown events."""

    state: RoundState
    player: str
    sealed: Sealed
    engine: Engine
    checked: int = 0
    not_checked: list[NotChecked] = field(default_factory=list)
    difference: Difference | None = None
    seen: set[str] = field(default_factory=set)
    """Types of the events shown so far."""
    last: str = ""
    """Type of the event before, empty for a withheld one."""
    due: frozenset[str] = frozenset()
    """Types of which one must come next; empty: any may, withheld ones too."""
    defaulted: bool = False
    """Whether the platform chose for this player in the window that is about to be closed."""

    def own(self) -> dict[int, BoxPlay]:
        """The shown player's boxes."""
        seat = self.state.seats.get(self.player)
        return seat.plays if seat is not None else {}

    def own_undecided(self) -> list[int]:
        """The shown player's boxes that the open window still asks."""
        return [box for box, player in self.state.undecided if player == self.player]


@dataclass(frozen=True, slots=True)
class Shown:
    """One shown event in its place."""

    position: int
    fact: Fact

    @property
    def event(self) -> Any:  # noqa: ANN401 - each check knows the type that it is called for
        """The event itself."""
        return self.fact.event

    @property
    def type(self) -> str:
        """The event's type."""
        return type(self.fact.event).__name__

    def differs(self, field: str, expected: object, found: object) -> Difference:
        """A difference at this event."""
        return Difference(self.position, self.type, field, f"{expected}", f"{found}")


def again(run: PartialReplay, shown: Shown) -> Difference | None:
    """Decide a decision of one event again."""
    command = run.engine.command_of([shown.fact], run.sealed)
    decided = run.engine.decide(command, run.state, run.sealed)
    if isinstance(decided, Refusal):
        return shown.differs("payload", f"a refusal ({decided.code})", "an event")
    run.checked += 1
    return by(shown, actor_of(command, shown.fact.event)) or first_difference(
        decided, [shown.fact.event], shown.position
    )


def equals(run: PartialReplay, expected: RoundEvent, shown: Shown, actor: str = SYSTEM) -> Difference | None:
    """Compare with the event that the rules give."""
    run.checked += 1
    return by(shown, actor) or first_difference([expected], [shown.fact.event], shown.position)


def by(shown: Shown, actor: str) -> Difference | None:
    """Check who an event is by."""
    return None if shown.fact.actor == actor else shown.differs("actor", actor, shown.fact.actor)


def rest_withheld(run: PartialReplay, shown: Shown) -> None:
    """Note that the rest of an event depends on what is withheld."""
    why = "it depends on other players' events, which are withheld"
    run.not_checked.append(NotChecked(shown.position, shown.type, why))
