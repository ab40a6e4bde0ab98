"""Deciding a recorded round again, decision by decision, and comparing (ARCHITECTURE.md, Functional core)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rules_core.log.decisions import decisions
from rules_core.log.difference import Difference, first_difference
from rules_core.log.engines import Engine
from rules_core.round.command_of import Fact
from rules_core.round.recording import actor_of
from rules_core.round.refusal import Refusal
from rules_core.round.sealed import Sealed, SealMissingError
from rules_core.round.state import RoundState
from rules_core.rulesets.model import Ruleset


@dataclass(slots=True)
class Replay:
    """How far a replay came."""

    state: RoundState
    decisions: int = 0
    difference: Difference | None = None
    steps: list[int] = field(default_factory=list)
    """Position of the last event of each decision that agreed."""


def replay(engine: Engine, ruleset: Ruleset, facts: Sequence[Fact], sealed: Sealed) -> Replay:
    """Decide every decision of a round again; stops at the first event that the rules do not give.

    `facts` are all events of the round from position 1 on, `sealed` its face-down cards.
    """
    result = Replay(engine.new_round(ruleset))
    for start, end in decisions([fact.event for fact in facts]):
        result.difference = _again(engine, result.state, facts[start:end], sealed, start + 1)
        if result.difference is not None:
            return result
        result.decisions += 1
        result.steps.append(end)
    return result


def _again(
    engine: Engine, state: RoundState, facts: Sequence[Fact], sealed: Sealed, position: int
) -> Difference | None:
    """Decide one decision again and fold it, or say what differs."""
    try:
        command = engine.command_of(facts, sealed)
        decided = engine.decide(command, state, sealed)
    except SealMissingError:
        return _cannot(facts, position, "a face-down card that it rests on", "never opened")
    except (LookupError, ValueError, TypeError):
        # The state holds only what was decided before: these can come from nothing but this event's values.
        return _cannot(facts, position, "values that a command can have", "impossible ones")
    if isinstance(decided, Refusal):
        return _cannot(facts, position, f"a refusal ({decided.code})", "an event")
    found = first_difference(decided, [fact.event for fact in facts], position)
    if found is not None:
        return found
    for index, fact in enumerate(facts):
        actor = actor_of(command, fact.event)
        if actor != fact.actor:
            return Difference(position + index, type(fact.event).__name__, "actor", actor, fact.actor)
        engine.evolve(state, fact.event)
    return None


def _cannot(facts: Sequence[Fact], position: int, expected: str, found: str) -> Difference:
    return Difference(position, type(facts[0].event).__name__, "payload", expected, found)
