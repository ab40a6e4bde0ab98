"""The decision table: complete, and safe whatever anybody writes into it."""

from __future__ import annotations

import pytest

from upcard_seamless.answers import ANSWERS, CONTRADICTING
from upcard_seamless.decisions import MONEY, NEXT, ROWS, STATES, Row, missing, row_of

UNCLEAR = frozenset({"time_out", "server_error", "unreadable"}) | CONTRADICTING
DONE = frozenset({"ok", "duplicate"})
BETS = [row for row in ROWS if row.call == "bet"]
QUEUED = [row for row in ROWS if row.call in ("win", "rollback")]


def named(row: Row) -> str:
    return row.name


def test_every_call_with_every_answer_has_one_row() -> None:
    assert missing() == []
    assert len({row.name for row in ROWS}) == len(ROWS) == 6 * len(ANSWERS)


@pytest.mark.parametrize("row", ROWS, ids=named)
def test_every_word_is_one_that_is_explained(row: Row) -> None:
    assert row.answer in ANSWERS
    assert row.state in STATES
    assert row.then in NEXT
    assert row.money in MONEY
    assert row.why
    assert (row.of is not None) == (row.call == "rollback")
    assert row_of(row.call, row.answer, row.of) is row


@pytest.mark.parametrize("row", BETS, ids=named)
def test_a_bet_is_held_by_a_clear_yes_alone_and_never_forgotten(row: Row) -> None:
    assert (row.state == "held") == (row.answer in DONE)
    assert (row.then == "rollback") == (row.answer in UNCLEAR | {"late"}) == (row.state == "unknown")
    assert row.then in ("nothing", "rollback"), "a bet is never asked again"
    assert bool(row.message) == (row.state != "held")


@pytest.mark.parametrize("row", QUEUED, ids=named)
def test_what_is_owed_is_told_until_it_is_known_or_people_see_it(row: Row) -> None:
    assert (row.state == "done") == (row.then == "nothing") == (row.answer in DONE | {"late"})
    assert (row.state == "parked") == (row.then == "people")
    assert row.then != "rollback"
    if row.answer in UNCLEAR | {"not_sent", "not_asked"}:
        assert row.then in ("again", "again_few"), "what is unclear is told again"
    assert (row.then == "confirm") == (row.name == "rollback/refused_not_found/bet_unknown")


@pytest.mark.parametrize("row", [row for row in ROWS if row.call == "balance"], ids=named)
def test_a_question_moves_nothing(row: Row) -> None:
    assert (row.money, row.then) == ("none_moves", "nothing")
    assert (row.state == "shown") == (row.answer == "ok") == (not row.message)
