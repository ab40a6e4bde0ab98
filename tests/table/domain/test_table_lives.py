"""Opening, dealers, shifts, tips, manual mode: what is recorded, and what is refused."""

from __future__ import annotations

import uuid

import pytest

from tests.table.domain.tables import FLOOR, TRANSACTION, Table, config_of, opened
from upcard_table.domain import commands as c
from upcard_table.domain import events as e
from upcard_table.domain.decide import cancels_round, check_dealer, check_source
from upcard_table.domain.state import RECENT_RETIRED, RECENT_TIPS, LastRound, TableState

TIP = c.RecordTip("p1", "EUR", 500, TRANSACTION, "d1")


def test_a_table_is_opened_and_closed_and_opened_again() -> None:
    table = Table()
    first = config_of()
    assert table.do(c.OpenTable("t1", first)) == (e.TableOpened("t1", first, 1),)
    table.do(c.SignInDealer("d1"))
    table.do(c.StartShift("s1"))
    table.round().over()
    assert table.do(c.CloseTable()) == (e.DealerSignedOut("d1"), e.ShiftEnded("s1", 1), e.TableClosed(1))
    assert (table.state.open, table.state.dealer, table.state.shift) == (False, None, None)
    assert table.refused(c.CloseTable()) == "table_closed"
    second = config_of("classic@1")
    assert table.do(c.OpenTable("t1", second)) == (e.TableOpened("t1", second, 2),)
    assert (table.state.config_of(1), table.state.config_of(2)) == (first, second)


def test_a_table_that_nobody_opened_is_not_known() -> None:
    for command in (c.CloseTable(), c.SignInDealer("d1"), c.EnterManualMode("reader_failed"), TIP):
        assert Table().refused(command) == "table_unknown"


def test_opening_is_refused_where_it_makes_no_sense() -> None:
    assert opened().refused(c.OpenTable("t1", config_of())) == "table_open"
    assert Table().refused(c.OpenTable("a table", config_of())) == "word_invalid"
    assert Table().refused(c.OpenTable("t1", config_of(name=""))) == "name_invalid"
    closed = opened()
    closed.do(c.CloseTable())
    assert closed.refused(c.OpenTable("t2", config_of())) == "table_differs"


def test_a_closed_table_does_nothing_but_record_what_was_paid() -> None:
    table = opened()
    table.do(c.CloseTable())
    for command in (c.SignInDealer("d1"), c.ChangeLimits(config_of("classic@1")), c.IntroduceDeck("deck-1")):
        assert table.refused(command) == "table_closed"
    assert table.do(TIP) == (e.TipGiven("p1", "EUR", 500, TRANSACTION, "d1"),)


def test_no_table_closes_while_its_round_runs() -> None:
    assert opened().ready().round().refused(c.CloseTable()) == "round_running"


def test_5_a_change_of_limits_counts_from_the_next_round() -> None:
    first, second, third = config_of(), config_of(name="Table 2"), config_of(reserve_bet_with_ante=True)
    table = opened().ready().round()
    assert table.do(c.ChangeLimits(second)) == (e.LimitsChanged(second, 2),)
    assert (table.state.config_of(1), table.state.config_of(2)) == (first, second)
    assert table.state.config == second
    table.do(c.ChangeLimits(third))
    assert (table.state.config_of(1), table.state.config_of(2)) == (first, third), "the later change holds"
    table.over().round()
    table.do(c.ChangeLimits(first))
    assert [table.state.config_of(number) for number in (2, 3, 4)] == [third, first, first]
    assert len(table.state.configs) == 2, "what no later round can need is forgotten"


def test_limits_that_no_table_can_have_and_those_it_has_are_refused() -> None:
    assert opened().refused(c.ChangeLimits(config_of())) == "nothing_changed"
    assert opened().refused(c.ChangeLimits(config_of(chips=()))) == "chips_invalid"


def test_one_dealer_at_a_time() -> None:
    table = opened()
    assert table.refused(c.SignOutDealer()) == "dealer_missing"
    assert table.refused(c.SignInDealer("the dealer")) == "word_invalid"
    assert table.do(c.SignInDealer("d1"), "dealer:d1") == (e.DealerSignedIn("d1"),)
    assert table.refused(c.SignInDealer("d2"), "dealer:d2") == "dealer_signed_in"
    assert table.refused(c.SignOutDealer(), "dealer:d2") == "dealer_differs"
    assert table.do(c.SignOutDealer(), "dealer:d1") == (e.DealerSignedOut("d1"),)


def test_during_a_round_only_staff_signs_a_dealer_out() -> None:
    table = opened().ready().round()
    assert table.refused(c.SignOutDealer(), "dealer:d1") == "round_running"
    assert table.do(c.SignOutDealer(), FLOOR) == (e.DealerSignedOut("d1"),)
    table.do(c.SignInDealer("d2"))
    assert table.state.dealer == "d2"


def test_one_shift_at_a_time_and_it_knows_its_rounds() -> None:
    table = opened()
    assert table.refused(c.EndShift()) == "shift_missing"
    assert table.refused(c.StartShift("")) == "word_invalid"
    assert table.do(c.StartShift("s1")) == (e.ShiftStarted("s1", 0),)
    assert table.refused(c.StartShift("s2")) == "shift_running"
    table.round().over().round()
    assert table.do(c.EndShift()) == (e.ShiftEnded("s1", 2),)


def test_a_tip_is_recorded_once() -> None:
    table = opened()
    table.do(TIP)
    assert table.refused(TIP) == "tip_recorded"
    other = "0190a0f3-6f4e-7c2b-8d1a-2b3c4d5e6f71"
    assert table.do(c.RecordTip("p1", "EUR", 500, other)) == (e.TipGiven("p1", "EUR", 500, other),)


def test_what_is_remembered_of_tips_and_retired_decks_is_bounded() -> None:
    table = opened()
    for number in range(RECENT_TIPS + 5):
        table.do(c.RecordTip("p1", "EUR", 500, str(uuid.UUID(int=number))))
    assert len(table.state.recent_tips) == RECENT_TIPS
    assert table.refused(c.RecordTip("p1", "EUR", 500, str(uuid.UUID(int=5)))) == "tip_recorded"
    for number in range(RECENT_RETIRED + 5):
        table.do(c.IntroduceDeck(f"deck-{number}"))
        table.do(c.RetireDeck(f"deck-{number}", "worn"))
    assert len(table.state.retired) == RECENT_RETIRED
    assert table.refused(c.IntroduceDeck("deck-5")) == "deck_retired"


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (c.RecordTip("a player", "EUR", 5, TRANSACTION), "word_invalid"),
        (c.RecordTip("p1", "eur", 5, TRANSACTION), "word_invalid"),
        (c.RecordTip("p1", "EUR", 5, "t-1"), "word_invalid"),
        (c.RecordTip("p1", "EUR", 5, TRANSACTION.upper()), "word_invalid"),
        (c.RecordTip("p1", "EUR", 5, TRANSACTION, "a dealer"), "word_invalid"),
        (c.RecordTip("p1", "EUR", 0, TRANSACTION), "amount_invalid"),
        (c.RecordTip("p1", "EUR", 2**53, TRANSACTION), "amount_invalid"),
    ],
)
def test_what_no_wallet_can_have_posted_is_no_tip(command: c.RecordTip, code: str) -> None:
    assert opened().refused(command) == code


def test_manual_mode_is_entered_and_left_between_rounds() -> None:
    table = opened().ready()
    assert table.refused(c.LeaveManualMode()) == "manual_mode_off"
    assert table.refused(c.EnterManualMode("Reader failed!")) == "word_invalid"
    table.round()
    assert table.do(c.EnterManualMode("reader_failed")) == (e.ManualModeEntered("reader_failed", 1),)
    assert table.refused(c.EnterManualMode("reader_failed")) == "manual_mode_on"
    assert table.refused(c.LeaveManualMode()) == "round_running", "unread cards have to be named first"
    table.over()
    assert table.do(c.LeaveManualMode()) == (e.ManualModeLeft(1),)


def test_cards_come_one_way_at_a_time() -> None:
    table = opened()
    assert check_source(table.state, "shoe") is None
    manual = check_source(table.state, "manual")
    assert manual is not None
    assert manual.code == "manual_mode_off"
    table.do(c.EnterManualMode("reader_failed"))
    assert check_source(table.state, "manual") is None
    shoe = check_source(table.state, "shoe")
    assert shoe is not None
    assert shoe.code == "manual_mode_on"


@pytest.mark.parametrize(("ruleset", "reason"), [("live-shared@1", None), ("classic@1", "technical_failure")])
def test_manual_mode_cancels_a_running_round_of_private_cards(ruleset: str, reason: str | None) -> None:
    table = opened(ruleset).ready().round()
    assert cancels_round(table.state, table.last) is None
    table.do(c.EnterManualMode("reader_failed"))
    assert cancels_round(table.state, table.last) == reason
    assert cancels_round(table.state, table.over().last) is None, "it is cancelled once"


def test_the_running_rounds_own_ruleset_says_whether_it_is_private() -> None:
    table = opened("classic@1").ready().round()
    table.do(c.ChangeLimits(config_of("live-shared@1")))
    table.do(c.EnterManualMode("reader_failed"))
    assert cancels_round(table.state, table.last) == "technical_failure"
    assert cancels_round(table.state, LastRound(2, running=True)) is None


def test_a_dealer_deals_at_no_other_table() -> None:
    state = TableState(table="t1", open=True, dealer="d1")
    assert check_dealer(state, "dealer:d1") is None
    assert check_dealer(state, "staff:s1") is None
    refused = check_dealer(state, "dealer:d2")
    assert refused is not None
    assert refused.code == "dealer_differs"
