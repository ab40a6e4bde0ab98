"""Given/when/then: tests of a decider as sentences, without a store.

    given(evolve, initial, [Opened(...)]).when(decide, CloseIt()).then([Closed(...)])

`decide(command, state)` returns events or a refusal (any value that is not a sequence); `evolve(state,
event)` returns the next state, or changes the state in place and returns None.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

State = TypeVar("State")
Event = TypeVar("Event")
Command = TypeVar("Command")
Refused = TypeVar("Refused")


@dataclass(frozen=True, slots=True)
class Given(Generic[State, Event]):
    """A state that events led to."""

    state: State
    evolve: Callable[[State, Event], State | None]

    def when(
        self, decide: Callable[[Command, State], Sequence[Event] | Refused], command: Command
    ) -> "Decided[State, Event, Refused]":
        """Decide a command in that state."""
        return Decided(self, decide(command, self.state))


@dataclass(frozen=True, slots=True)
class Decided(Generic[State, Event, Refused]):
    """What came of a command."""

    given: Given[State, Event]
    outcome: Sequence[Event] | Refused

    def then(self, expected: Iterable[Event]) -> Given[State, Event]:
        """It led to exactly these events. Returns the state after them, to go on from."""
        events = list(expected)
        if _events_of(self.outcome) != events:
            raise AssertionError(f"expected the events\n  {events}\ngot\n  {self.outcome}")
        return Given(_fold(self.given.evolve, self.given.state, events), self.given.evolve)

    def then_refused(self, expected: Refused) -> None:
        """It was refused, like this."""
        if _events_of(self.outcome) is not None or self.outcome != expected:
            raise AssertionError(f"expected the refusal\n  {expected}\ngot\n  {self.outcome}")

    def then_nothing(self) -> None:
        """It led to no event, and was not refused."""
        self.then(())


def given(
    evolve: Callable[[State, Event], State | None], initial: State, events: Iterable[Event] = ()
) -> Given[State, Event]:
    """The state that these events lead to."""
    return Given(_fold(evolve, initial, events), evolve)


def _fold(evolve: Callable[[State, Event], State | None], state: State, events: Iterable[Event]) -> State:
    for event in events:
        after = evolve(state, event)
        if after is not None:
            state = after
    return state


def _events_of(outcome: object) -> list[object] | None:
    return list(outcome) if isinstance(outcome, Sequence) and not isinstance(outcome, str | bytes) else None
