"""The test kit for deciders."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from eventstore.given_when_then import given


@dataclass(frozen=True)
class Added:
    amount: int


@dataclass(frozen=True)
class TooMuch:
    total: int


def evolve(total: int, event: Added) -> int:
    return total + event.amount


def decide(amount: int, total: int) -> list[Added] | TooMuch:
    if total + amount > 10:
        return TooMuch(total)
    return [Added(amount)] if amount else []


def evolve_in_place(amounts: list[int], event: Added) -> None:
    amounts.append(event.amount)


def test_events_and_what_follows_from_them() -> None:
    given(evolve, 0, [Added(3)]).when(decide, 4).then([Added(4)]).when(decide, 3).then([Added(3)])


def test_a_refusal() -> None:
    given(evolve, 0, [Added(3), Added(4)]).when(decide, 4).then_refused(TooMuch(7))


def test_nothing() -> None:
    given(evolve, 0).when(decide, 0).then_nothing()


def test_a_state_that_changes_in_place() -> None:
    after = (
        given(evolve_in_place, [1], [Added(2)]).when(lambda amount, _: [Added(amount)], 3).then([Added(3)])
    )
    assert after.state == [1, 2, 3]


def test_it_can_fail() -> None:
    with pytest.raises(AssertionError, match="expected the events"):
        given(evolve, 0).when(decide, 4).then([Added(5)])
    with pytest.raises(AssertionError, match="expected the events"):
        given(evolve, 0, [Added(10)]).when(decide, 4).then([Added(4)])
    with pytest.raises(AssertionError, match="expected the refusal"):
        given(evolve, 0).when(decide, 4).then_refused(TooMuch(0))
    with pytest.raises(AssertionError, match="expected the refusal"):
        given(evolve, 0, [Added(10)]).when(decide, 4).then_refused(TooMuch(0))
    with pytest.raises(AssertionError, match="expected the events"):
        given(evolve, 0).when(decide, 4).then_nothing()
