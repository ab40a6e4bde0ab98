"""Whatever is asked of a table, in whatever order: it is decided, and the records give the state again."""

from __future__ import annotations

import uuid

from hypothesis import given, settings
from hypothesis import strategies as st

from rules_core.canonical import canonical_bytes, parse_canonical
from rules_core.round.refusal import Refusal
from tests.table.domain.tables import FLOOR, RULESETS, Table, config_of
from upcard_table.domain import commands as c
from upcard_table.domain import events as e
from upcard_table.domain.codec import event_of, payload_of, state_of, state_payload, version_of
from upcard_table.domain.decide import MAX_DECKS, cancels_round, deck_for_round, may_open_round
from upcard_table.domain.evolve import fold
from upcard_table.domain.state import NEW_TABLE

CONFIGS = st.builds(
    lambda ruleset, reserve: config_of(ruleset, reserve_bet_with_ante=reserve),
    st.sampled_from(RULESETS),
    st.booleans(),
)
DECKS = st.sampled_from([*(f"deck-{number}" for number in range(10)), "no deck"])
TIPS = st.sampled_from([str(uuid.UUID(int=number)) for number in range(3)])
COMMANDS = st.one_of(
    st.builds(c.OpenTable, st.sampled_from(["t1", "t2"]), CONFIGS),
    st.just(c.CloseTable()),
    st.builds(c.ChangeLimits, CONFIGS),
    st.builds(c.SignInDealer, st.sampled_from(["d1", "d2", ""])),
    st.just(c.SignOutDealer()),
    st.builds(c.StartShift, st.sampled_from(["s1", "s2"])),
    st.just(c.EndShift()),
    st.builds(c.IntroduceDeck, DECKS),
    st.builds(c.VerifyDeck, DECKS),
    st.builds(c.ShuffleDeck, DECKS),
    st.builds(c.RetireDeck, DECKS, st.just("worn")),
    st.just(c.EnterManualMode("reader_failed")),
    st.just(c.LeaveManualMode()),
    st.builds(lambda tip: c.RecordTip("p1", "EUR", 100, tip), TIPS),
)
ROUND_ENDS = st.sampled_from([None, "card_dropped", "technical_failure"])
STEPS = st.lists(st.one_of(COMMANDS, COMMANDS, COMMANDS, ROUND_ENDS), min_size=1, max_size=60)
ACTORS = st.sampled_from([FLOOR, "dealer:d1", "dealer:d2"])


@settings(max_examples=150, deadline=None)
@given(STEPS, ACTORS)
def test_a_table_is_the_fold_of_what_was_recorded(
    steps: list[c.TableCommand | str | None], actor: str
) -> None:
    table = Table()
    recorded: list[e.TableEvent] = []
    for step in steps:
        if step is None or isinstance(step, str):
            _play(table, step)
            continue
        before = table.state
        decided = table.decide(step, actor)
        assert table.state is before
        if isinstance(decided, Refusal):
            assert decided.code
            assert decided.message
            continue
        assert decided
        table.state = fold(table.state, decided)
        recorded += decided
    stored = [(type(one).__name__, version_of(one), canonical_bytes(payload_of(one))) for one in recorded]
    again = [event_of(name, version, parse_canonical(payload)) for name, version, payload in stored]
    assert again == recorded
    assert fold(NEW_TABLE, again) == table.state
    assert state_of(parse_canonical(canonical_bytes(state_payload(table.state)))) == table.state
    assert len(table.state.decks) <= MAX_DECKS
    assert len(table.state.configs) <= 2


def _play(table: Table, cancelled: str | None) -> None:
    """A whole round, where the table may have one; every running one has what it needs."""
    found = may_open_round(table.state, table.last)
    if found is not None:
        assert found.message
        return
    deck = deck_for_round(table.state, table.last)
    assert deck is not None
    assert table.state.dealer is not None
    assert table.state.config_of(table.last.number + 1) == table.state.config
    table.round(deck)
    assert cancels_round(table.state, table.last) is None
    table.over(cancelled)
    assert may_open_round(table.state, table.last) is not None, "the deck has to be shuffled first"
