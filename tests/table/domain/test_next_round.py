"""What a table needs before its next round may be opened."""

from __future__ import annotations

import pytest

from tests.table.domain.tables import Table, config_of, opened
from upcard_table.domain import commands as c
from upcard_table.domain import events as e
from upcard_table.domain.decide import MAX_DECKS, deck_for_round, may_open_round


def needs(table: Table) -> str | None:
    """The slug of what the next round still needs."""
    found = may_open_round(table.state, table.last)
    if found is None:
        assert deck_for_round(table.state, table.last) is not None
        return None
    assert found.message
    return found.code


def test_an_open_table_a_dealer_and_a_deck_verified_and_shuffled() -> None:
    table = Table()
    assert needs(table) == "table_closed"
    table.open()
    assert needs(table) == "dealer_missing"
    table.do(c.SignInDealer("d1"))
    assert needs(table) == "deck_missing"
    table.do(c.IntroduceDeck("deck-1"))
    assert needs(table) == "deck_not_verified"
    table.do(c.VerifyDeck("deck-1"))
    assert needs(table) == "deck_not_shuffled"
    table.do(c.ShuffleDeck("deck-1"))
    assert needs(table) is None
    table.round()
    assert needs(table) == "round_running"
    table.over()
    assert needs(table) == "deck_not_shuffled", "shuffle before every round"
    table.do(c.ShuffleDeck("deck-1"))
    assert needs(table) is None
    table.do(c.CloseTable())
    assert needs(table) == "table_closed"


def test_a_deck_may_be_shuffled_while_another_is_played() -> None:
    table = opened().ready("deck-1").round("deck-1").ready("deck-2")
    assert table.refused(c.ShuffleDeck("deck-1")) == "deck_in_use"
    table.over()
    assert deck_for_round(table.state, table.last) == "deck-2"
    assert needs(table) is None
    table.round("deck-2").over()
    assert needs(table) == "deck_not_shuffled", "the first was not shuffled since the last round"


def test_of_several_the_one_introduced_last_is_played() -> None:
    table = opened().ready("deck-1").ready("deck-2")
    assert deck_for_round(table.state, table.last) == "deck-2"
    table.do(c.RetireDeck("deck-2", "worn"))
    assert deck_for_round(table.state, table.last) == "deck-1"


def test_7_after_a_dropped_card_the_deck_is_verified_again() -> None:
    table = opened().ready().round().over("card_dropped")
    table.do(c.ShuffleDeck("deck-1"))
    assert needs(table) == "deck_not_verified"
    table.do(c.VerifyDeck("deck-1"))
    assert needs(table) is None


def test_7_after_a_dropped_card_no_other_deck_helps_before_it_is_looked_for() -> None:
    table = opened().ready("deck-1").round("deck-1").over("card_dropped").ready("deck-2")
    assert needs(table) == "deck_not_verified", "else the first would come back with a card missing"
    table.do(c.RetireDeck("deck-1", "card_damaged"))
    assert needs(table) is None


def test_7_other_cancellations_ask_for_a_shuffle_only() -> None:
    table = opened().ready().round().over("dealer_mistake")
    assert needs(table) == "deck_not_shuffled"
    assert needs(table.ready()) is None


def test_a_verified_deck_stays_verified_over_rounds() -> None:
    table = opened().ready()
    for _ in range(3):
        table.round().over().ready()
        assert needs(table) is None


@pytest.mark.parametrize("ruleset", ["classic@1", "dark-boxes@1", "three-box@1", "four-box@1"])
def test_private_cards_need_the_reader(ruleset: str) -> None:
    table = opened(ruleset).ready()
    assert needs(table) is None
    table.do(c.EnterManualMode("reader_failed"))
    assert needs(table) == "manual_mode"
    table.do(c.LeaveManualMode())
    assert needs(table) is None


def test_public_cards_can_be_entered_by_hand() -> None:
    table = opened().ready()
    table.do(c.EnterManualMode("reader_failed"))
    assert needs(table) is None


def test_the_next_rounds_ruleset_says_whether_it_needs_the_reader() -> None:
    table = opened().ready()
    table.do(c.EnterManualMode("reader_failed"))
    table.do(c.ChangeLimits(config_of("classic@1")))
    assert needs(table) == "manual_mode"


def test_decks_are_introduced_once_and_never_come_back() -> None:
    table = opened()
    assert table.refused(c.IntroduceDeck("deck 1")) == "word_invalid"
    assert table.do(c.IntroduceDeck("deck-1")) == (e.DeckIntroduced("deck-1"),)
    assert table.refused(c.IntroduceDeck("deck-1")) == "deck_known"
    assert table.refused(c.RetireDeck("deck-1", "Worn out")) == "word_invalid"
    assert table.do(c.RetireDeck("deck-1", "worn")) == (e.DeckRetired("deck-1", "worn"),)
    for command in (c.IntroduceDeck("deck-1"), c.VerifyDeck("deck-1"), c.ShuffleDeck("deck-1")):
        assert table.refused(command) == "deck_retired"


def test_what_was_not_introduced_or_verified_is_not_shuffled() -> None:
    table = opened()
    for command in (c.VerifyDeck("deck-1"), c.ShuffleDeck("deck-1"), c.RetireDeck("deck-1", "worn")):
        assert table.refused(command) == "deck_unknown"
    table.do(c.IntroduceDeck("deck-1"))
    assert table.refused(c.ShuffleDeck("deck-1")) == "deck_not_verified"
    assert table.do(c.VerifyDeck("deck-1")) == (e.DeckVerified("deck-1", 0),)
    assert table.do(c.ShuffleDeck("deck-1")) == (e.DeckShuffled("deck-1", 0),)


def test_a_deck_in_use_is_left_alone() -> None:
    table = opened().ready().round()
    for command in (c.VerifyDeck("deck-1"), c.ShuffleDeck("deck-1"), c.RetireDeck("deck-1", "worn")):
        assert table.refused(command) == "deck_in_use"


def test_a_table_has_a_bounded_number_of_decks() -> None:
    table = opened()
    for number in range(MAX_DECKS):
        table.do(c.IntroduceDeck(f"deck-{number}"))
    assert table.refused(c.IntroduceDeck("one-more")) == "too_many_decks"
