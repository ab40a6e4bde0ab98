"""Free bets: what is granted is used, given back, or lapses; nothing else becomes of it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upcard_bonus.domain import free_bet as rules
from upcard_bonus.domain.free_bet import FreeBet, Use
from upcard_bonus.domain.free_bet_events import (
    FreeBetExpired,
    FreeBetGranted,
    FreeBetReturned,
    FreeBetUsed,
)
from upcard_bonus.domain.refusal import Refused

GRANTED = FreeBetGranted("f1", "p1", "EUR", 500, ("ante", "bonus_player"), "2027-01-01T00:00:00.000000Z")
USE = Use("t1.1", "p1", "b1", 2, "ante", "f1", 300)


def granted() -> FreeBet:
    state = rules.fold([GRANTED])
    assert state is not None
    return state


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        (replace(GRANTED, free_bet="f/1"), "id_invalid"),
        (replace(GRANTED, player=""), "id_invalid"),
        (replace(GRANTED, currency="EURO"), "currency_invalid"),
        (replace(GRANTED, amount=0), "amount_invalid"),
        (replace(GRANTED, amount=2**53), "amount_invalid"),
        (replace(GRANTED, wagers=()), "wagers_invalid"),
        (replace(GRANTED, wagers=("ante", "ante")), "wagers_invalid"),
        (replace(GRANTED, wagers=("ante", "insurance")), "wagers_invalid"),  # type: ignore[arg-type]  # not in the types
    ],
)
def test_impossible_free_bets_are_refused(wanted: FreeBetGranted, reason: str) -> None:
    assert rules.grant(wanted) == Refused(reason)


def test_it_is_used_and_given_back() -> None:
    state = granted()
    (used,) = rules.use(state, USE)
    assert used == FreeBetUsed("f1", "t1.1", "b1", 2, "ante", 300, 200)
    after = rules.evolve(state, used)
    assert after is not None
    assert (after.left, after.used, after.state) == (200, 300, "granted")
    (back,) = rules.give_back(after, USE, "returned")
    assert back == FreeBetReturned("f1", "t1.1", "b1", 2, "ante", 300, 500, "returned")
    assert rules.evolve(after, back) == state


def test_what_comes_back_after_its_time_lapses_at_once() -> None:
    state = rules.fold([GRANTED, *rules.use(granted(), USE)])
    assert state is not None
    (expired,) = rules.expire(state, "time")
    assert expired == FreeBetExpired("f1", 200, "time")
    state = rules.evolve(state, expired)
    assert state is not None
    assert (state.left, state.state, rules.expire(state, "time")) == (0, "expired", ())
    events = rules.give_back(state, USE, "withdrawn")
    assert events[1:] == (FreeBetExpired("f1", 300, "returned_late"),)
    for event in events:
        state = rules.evolve(state, event)
    assert state is not None
    assert (state.used, state.lapsed, state.left) == (0, 500, 0)


def test_a_bet_that_was_placed_while_its_time_ended_leaves_nothing_behind() -> None:
    state = rules.fold([GRANTED, FreeBetExpired("f1", 500, "time")])
    assert state is not None
    (used,) = rules.use(state, USE)
    assert isinstance(used, FreeBetUsed)
    assert used.left == 0
    state = rules.evolve(state, used)
    assert state is not None
    (back,) = rules.give_back(state, USE, "returned")
    assert isinstance(back, FreeBetReturned), "it had lapsed before: nothing more does"


@given(st.lists(st.tuples(st.integers(1, 200), st.booleans()), max_size=10), st.integers(0, 10))
def test_what_was_granted_is_left_used_or_lapsed(bets: list[tuple[int, bool]], expires_after: int) -> None:
    state = granted()
    for number, (amount, back) in enumerate(bets):
        events = list(rules.expire(state, "time")) if number == expires_after else []
        one = replace(USE, bet_id=f"b{number}", amount=min(amount, state.left))
        if one.amount and not events:
            events += rules.use(state, one)
        for event in events:
            state = rules.evolve(state, event) or state
        if one.amount and back and state.used >= one.amount and not state.expired:
            for event in rules.give_back(state, one, "returned"):
                state = rules.evolve(state, event) or state
        assert state.left + state.used + state.lapsed == state.amount
