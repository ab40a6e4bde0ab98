"""The cases play the whole decision table."""

from __future__ import annotations

from fnmatch import fnmatchcase

import pytest

from upcard_conformance.cases.case import NOT_PLAYED, Case
from upcard_conformance.kit import CASES, CannotBegin, cases_named
from upcard_seamless.answers import ANSWERS
from upcard_seamless.decisions import ROWS


def test_every_row_that_a_wallet_can_bring_about_is_played() -> None:
    played = {row for one in CASES for row in one.rows}
    assert {row.name for row in ROWS} - played == {row.name for row in ROWS if row.answer in NOT_PLAYED}


def test_what_is_not_played_is_an_answer_of_the_table() -> None:
    assert NOT_PLAYED.keys() <= ANSWERS.keys()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_case_names_rows_that_there_are(case: Case) -> None:
    for pattern in case.patterns:
        assert any(fnmatchcase(row.name, pattern) for row in ROWS), pattern


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_case_says_what_a_partner_needs(case: Case) -> None:
    assert not case.title.endswith(".")
    assert case.why.endswith(".")
    assert case.mend.endswith(".")


def test_names_are_unique() -> None:
    assert len({one.name for one in CASES}) == len(CASES)


def test_some_cases_can_be_chosen() -> None:
    assert [one.name for one in cases_named(["win_repeated", "bet_repeated"])] == [
        "bet_repeated",
        "win_repeated",
    ]
    assert cases_named([]) == CASES
    with pytest.raises(CannotBegin, match="there is no case no_such; there are balance_is_told"):
        cases_named(["no_such"])
