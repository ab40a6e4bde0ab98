"""Every engine ever shipped, by number: a round is replayed with the one it was played with.

An engine is never changed once published; what would decide or pay anything differently is a new number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from rules_core.round import commands as c
from rules_core.round.command_of import Fact, command_of
from rules_core.round.decide import Decision, decide
from rules_core.round.events import RoundEvent
from rules_core.round.evolve import evolve
from rules_core.round.sealed import Sealed
from rules_core.round.state import RoundState, new_round
from rules_core.rulesets.model import Ruleset


@dataclass(frozen=True, slots=True)
class Engine:
    """What a replay needs of one engine."""

    number: int
    new_round: Callable[[Ruleset], RoundState]
    decide: Callable[[c.Command, RoundState, Sealed], Decision]
    evolve: Callable[[RoundState, RoundEvent], RoundState]
    command_of: Callable[[Sequence[Fact], Sealed], c.Command]


ENGINES: Mapping[int, Engine] = MappingProxyType({1: Engine(1, new_round, decide, evolve, command_of)})
