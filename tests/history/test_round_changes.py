"""The fold of a round's events, cut anywhere: what two parts say together is what the whole says."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_core.rulesets.shipped import shipped_ids
from tests.history.rounds import Round, history, history_names, random_round
from upcard_history.domain.round_changes import RoundChanges

ROUNDS = {
    **{f"random {ruleset}": random_round(ruleset, 21) for ruleset in shipped_ids()},
    **{name: history(name) for name in history_names()},
}


def changes_of(one: Round, start: int, end: int) -> RoundChanges:
    changes = RoundChanges()
    for position, (content, event) in enumerate(one.facts, 1):
        if start < position <= end:
            changes.add(event, position, content.recorded_at, shared=True)
    return changes


def sums(*parts: RoundChanges) -> tuple[object, ...]:
    """Everything that is added up."""
    staked: Counter[str] = Counter()
    bets: Counter[tuple[str, int, str]] = Counter()
    declined: Counter[tuple[str, str, str]] = Counter()
    platform: Counter[str] = Counter()
    for part in parts:
        for player, change in part.players.items():
            staked[player] += change.staked_more
            platform[player] += change.by_platform
        for key, bet in part.bets.items():
            bets[key] += bet.more
        declined.update(part.declined)
    return (
        +staked,
        +bets,
        +declined,
        +platform,
        sum(one.extended_ms for part in parts for one in part.windows),
    )


@given(st.sampled_from(list(ROUNDS.values())), st.data())
def test_a_round_may_be_cut_anywhere(one: Round, data: st.DataObject) -> None:
    end = len(one.contents)
    cut = data.draw(st.integers(0, end))
    whole, first, second = changes_of(one, 0, end), changes_of(one, 0, cut), changes_of(one, cut, end)
    assert sums(first, second) == sums(whole)
    opened = [window for part in (first, second) for window in part.windows if window.kind is not None]
    assert [(one.kind, one.box, one.position) for one in opened] == [
        (one.kind, one.box, one.position) for one in whole.windows
    ]
    latest = {
        player: change.settled
        for part in (first, second)
        for player, change in part.players.items()
        if change.settled is not None
    }
    assert latest == {p: change.settled for p, change in whole.players.items() if change.settled is not None}
    assert (second.ended or first.ended) == whole.ended
    assert (second.corrected or first.corrected) == whole.corrected
    # What is open at the cut is the one window that the second part may speak of without having opened it.
    assert sum(window.kind is None for window in second.windows) <= 1


@pytest.mark.parametrize("name", ROUNDS)
def test_what_is_hidden_is_so_until_a_window_closes(name: str) -> None:
    one = ROUNDS[name]
    whole = changes_of(one, 0, len(one.contents))
    if whole.ended is not None:
        assert not any(bet.hidden for bet in whole.bets.values())
    for end in range(1, len(one.contents)):
        part = changes_of(one, 0, end)
        open_now = [w for w in part.windows if w.closed_at is None]
        if not open_now or open_now[-1].kind == "betting":
            assert not any(bet.hidden for bet in part.bets.values())
