"""Words and times that no command can have: nothing of the kind is ever recorded (CONTRACTS.md section 2)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rules_core.cards import parse_card
from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.decide.betting import bets_to_repeat
from tests.rules_core.round.scripted import DEALER, Scripted, ante, at, bonus_b

NO_IDS = ["", "a b", "p\ud800", "x" * 65, "ä", "a/b", "p1\n"]
HELD = (e.DeclinedStake(2, "ante", 100),)


@pytest.fixture
def table() -> Scripted:
    return Scripted("live-shared@1").open()


@pytest.mark.parametrize("text", NO_IDS)
def test_ids_are_bounded_and_plain(table: Scripted, text: str) -> None:
    bet = table.place_command("p1", ante(2))
    table.when(replace(bet, player=text)).refused("word_invalid", key="player")
    table.when(replace(bet, bet_id=text)).refused("word_invalid", key="bet_id")
    table.when(c.BurnCard(text)).refused("word_invalid", key="scan_id")
    funded = (replace(bet.placements[0], funding=text),)
    table.when(replace(bet, placements=funded)).refused("word_invalid", box=2)


@pytest.mark.parametrize("text", NO_IDS)
def test_a_table_and_a_deck_have_ids(text: str) -> None:
    new = Scripted("live-shared@1")
    new.when(replace(new.open_command(), table=text)).refused("word_invalid", key="table")
    new.when(replace(new.open_command(), deck=text)).refused("word_invalid", key="deck")


@pytest.mark.parametrize(
    "who", ["", "nobody at all", "staff:", "dealer:a b", "player:p1", "System", "platform"]
)
def test_who_acts_is_a_dealer_staff_or_the_system(table: Scripted, who: str) -> None:
    table.place("p1", ante(2)).close_betting().lay()
    table.when(c.ConfirmCards(table.now, who)).refused("word_invalid", key="by")
    table.when(c.CancelRound("dealer_mistake", who)).refused("word_invalid", key="by")
    table.when(c.BurnCard("burned-1", None, who)).refused("word_invalid", key="by")


@pytest.mark.parametrize("currency", ["A1B", "U-S", "A  ", "eur", "EURO", "ÄÖÜ"])
def test_a_currency_is_three_capital_letters(table: Scripted, currency: str) -> None:
    bet = table.place_command("p1", ante(2))
    table.when(replace(bet, currency=currency)).refused("word_invalid", key="currency")
    new = Scripted("live-shared@1")
    limits = tuple(replace(limit, currency=currency) for limit in new.open_command().limits)
    new.when(replace(new.open_command(), limits=limits)).refused("limits_invalid", key="currency")


@pytest.mark.parametrize(
    ("stake", "code"),
    [
        (e.DeclinedStake(99, "ante", 100), "stake_impossible"),
        (e.DeclinedStake(0, "ante", 100), "stake_impossible"),
        (e.DeclinedStake(2, "ante", 0), "stake_impossible"),
        (e.DeclinedStake(2, "ante", -(2**60)), "stake_impossible"),
        (e.DeclinedStake(2, "ante", 2**53), "stake_impossible"),
        (e.DeclinedStake(2, "ante", 100, funding="a b"), "word_invalid"),
    ],
)
def test_a_hold_that_cannot_have_been_is_not_declined(
    table: Scripted, stake: e.DeclinedStake, code: str
) -> None:
    command = c.DeclineBet("p1", "EUR", "late-1", (stake,), "hold_answered_late", table.now)
    table.when(command).refused(code, box=stake.box)


def test_a_declined_hold_has_a_slug_for_a_reason_and_names_at_most_32_wagers(table: Scripted) -> None:
    command = c.DeclineBet("p1", "EUR", "late-1", HELD, "x y z", table.now)
    table.when(command).refused("word_invalid", key="reason")
    table.when(replace(command, reason="late", stakes=HELD * 33)).refused("stakes_missing")
    assert isinstance(table.when(replace(command, reason="late", stakes=HELD * 32)).decision, tuple)


def test_the_rounds_time_never_goes_back(table: Scripted) -> None:
    table.place("p1", ante(2)).deal()
    opened_at = table.state.last_at
    assert opened_at > at(0)
    table.when(c.CloseOptions(at(0))).refused("time_reversed", last_at=opened_at)
    table.when(c.ExtendWindow(at(0), 1_000, "floor")).refused("time_reversed", last_at=opened_at)


def test_nobody_decides_before_the_window_opened(table: Scripted) -> None:
    table.place("p1", ante(2)).deal()
    command = table.option_command("p1", 2, "bet")
    table.when(replace(command, arrived_at=at(1))).refused("arrived_too_early", box=2)
    table.when(replace(command, arrived_at="2025-12-31T23:59:59.999999Z")).refused("arrived_too_early")


def test_a_bet_does_not_arrive_before_the_round(table: Scripted) -> None:
    bet = table.place_command("p1", ante(2))
    table.when(replace(bet, arrived_at="2026-01-01T11:59:59.999999Z")).refused("arrived_too_early")


def test_a_window_that_starts_again_has_all_its_room_for_extensions(table: Scripted) -> None:
    table.do(c.ExtendWindow(table.now, 60_000, "floor"))
    table.when(c.ExtendWindow(table.now, 1, "floor")).refused("extension_out_of_range", maximum_ms=0)
    table.close_betting()
    assert isinstance(table.when(c.ExtendWindow(table.now, 60_000, "floor")).decision, tuple)


def test_no_card_shows_in_the_words_of_a_command() -> None:
    card = parse_card("Ah")
    shown = [
        repr(c.ScanCard("s1", card, "00" * 16)),
        repr(c.RescanCard("s1", "box.1.0", card, "00" * 16)),
        repr(c.BurnCard("s1", card)),
        repr(c.ConfirmCards(at(1), DEALER, (("box.1.0", card),))),
        repr(c.CancelRound("dealer_mistake", DEALER, (("box.1.0", card),))),
    ]
    for text in shown:
        assert str(int(card)) not in text.replace(at(1), "")
        assert "0000" not in text.replace(at(1), "")


def test_a_player_may_repeat_what_stood_at_the_end_for_cash(table: Scripted) -> None:
    bets = (ante(1, 150, blind=True), ante(2, 200), bonus_b(2, 50))
    table.place("p1", *bets[:1]).place("p1", *bets[1:])
    table.place("p2", ante(2, 100, funding="freebet-1"))
    assert bets_to_repeat(table.state, "p1") == bets
    assert bets_to_repeat(table.state, "p2") == (ante(2, 100),)
    assert bets_to_repeat(table.state, "p3") == ()
    again = Scripted("live-shared@1").open()
    again.do(c.RepeatBets("p1", "EUR", "repeat-1", bets, again.now))
    assert bets_to_repeat(again.state, "p1") == bets


def test_each_face_down_card_has_a_card_salt_of_its_own(table: Scripted) -> None:
    table.place("p1", ante(2)).close_betting()
    first = table.scan_command()
    table.do(first)
    while not first.card_salt or table.state.awaited[0] != "box.3.0":
        table.lay(1)
    again = replace(table.scan_command(), card_salt=first.card_salt)
    table.when(again).refused("card_salt_used")
    table.do(table.scan_command())
