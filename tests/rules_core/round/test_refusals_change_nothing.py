"""A refused command changes nothing, and neither does deciding: in every step, for every kind of command."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import get_args

import pytest

from rules_core.cards import parse_card
from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.decide import decide
from rules_core.round.refusal import Refusal
from rules_core.round.state import Step
from tests.rules_core.round.rounds_on_the_way import STOPS, on_the_way, private_round, shared_round
from tests.rules_core.round.scripted import Scripted, ante, at, bonus_b, salt_of

CARD = parse_card("Ac")
EACH_STOP = pytest.mark.parametrize(
    ("play", "stop"), STOPS, ids=[f"{play.__name__}-{stop}" for play, stop in STOPS]
)


def catalogue(table: Scripted) -> list[c.Command]:
    """Commands of every kind, on time and late, with and without money, sensible and not."""
    opening = table.open_command()
    stakes = (e.DeclinedStake(2, "ante", 100),)
    commands: list[c.Command] = [
        opening,
        replace(opening, ruleset="classic@1"),
        c.PlaceBet("p3", "EUR", "n1", (ante(2), bonus_b(2, 50)), at(14)),
        c.PlaceBet("p3", "EUR", "n2", (ante(2, 50),), at(14)),
        c.PlaceBet("p3", "USD", "n3", (ante(2),), at(14)),
        c.PlaceBet("p1", "EUR", "n4", (ante(2),), at(14), "refused"),
        c.PlaceBet("p1", "EUR", "n5", (ante(2),), at(90), "not_asked"),
        c.PlaceBet("p1", "EUR", "bet-1", (ante(2),), at(14)),
        c.DoubleBets("p1", "n6", at(14)),
        c.DoubleBets("p9", "n7", at(14)),
        c.RepeatBets("p1", "EUR", "n8", (ante(2),), at(14)),
        c.RepeatBets("p3", "EUR", "n9", (), at(14)),
        c.UndoBet("p1", at(14)),
        c.UndoBet("p9", at(14)),
        c.ClearBets("p1", at(14)),
        c.DeclineBet("p1", "EUR", "n10", stakes, "above_maximum", at(14)),
        c.DeclineBet("p1", "EUR", "bet-1", stakes, "above_maximum", at(14)),
        c.CloseBetting(at(1)),
        c.CloseBetting(at(90)),
        c.ScanCard("s1", CARD, salt_of("s1")),
        c.ScanCard("s1", CARD),
        c.ScanCard("s1", None),
        c.ScanCard("s1", CARD, source="manual"),
        c.ScanCard("box.1.0", CARD, salt_of("s1")),
        c.BurnCard("s1", CARD),
        c.BurnCard("box.1.0"),
        c.ConfirmCards(at(90), "dealer:d1"),
        c.ConfirmCards(at(90), "dealer:d1", (("box.1.0", CARD),)),
        c.Proceed(at(90)),
        c.CloseOptions(at(1)),
        c.CloseOptions(at(90)),
        c.CloseFinalOptions(at(1)),
        c.CloseFinalOptions(at(90), ((2, "p9", "refused"),)),
        c.ClosePurchase(at(1)),
        c.ClosePurchase(at(200)),
        c.ExtendWindow(at(90), 5_000, "fail_over"),
        c.ExtendWindow(at(90), 60_001, "floor"),
        c.Settle(),
        c.Settle(0),
        c.CancelRound("dealer_mistake", "staff:s1"),
        c.CancelRound("wrong_result", "staff:s1"),
        c.Resettle("wrong_result", "staff:a", "staff:b", refund=True),
        c.Resettle("wrong_result", "staff:a", "staff:a", refund=True),
        c.Resettle(
            "dealer_mistake", "staff:a", "staff:b", choices=(e.ChoiceCorrection(2, "p1", insurance=1),)
        ),
    ]
    for box in (1, 2, 3, 9):
        commands += [
            c.WithdrawBet("p1", box, "ante", at(14)),
            c.WithdrawBet("p1", box, "bonus_player", at(14)),
            c.RescanCard(f"r{box}", f"box.{box}.0", CARD, salt_of("r")),
            c.ChooseOption("p1", box, "bet", at(16), (), "n11"),
            c.ChooseOption("p2", box, "exchange", at(16), (0, 0), "n12"),
            c.ChooseOption("p2", box, "sixth", at(99), (), "n13", "refused"),
            c.ChooseOption("p2", box, "fold", at(16)),
            c.ChooseFinalOption("p1", box, "bet", at(16), 100, "n14"),
            c.ChooseFinalOption("p2", box, "stand", at(16)),
            c.ChooseFinalOption("p2", box, "fold", at(16), 100, "n15"),
            c.MakePurchase("p1", box, "n16", at(16)),
            c.MakePurchase("p2", box, "n17", at(16), "refused"),
            c.DeclinePurchase("p2", box, at(16)),
        ]
    return commands


@EACH_STOP
def test_deciding_changes_nothing_and_gives_the_same_again(
    play: Callable[[], Iterator[Scripted]], stop: int
) -> None:
    table = on_the_way(play, stop)
    state, sealed = copy.deepcopy(table.state), len(table.sealed)
    refused = 0
    for command in catalogue(table):
        decision = decide(command, table.state, table.sealed)
        assert table.state == state, command
        assert decide(command, table.state, table.sealed) == decision
        refused += isinstance(decision, Refusal)
    assert refused
    assert len(table.sealed) == sealed


@EACH_STOP
def test_what_is_accepted_gives_events_and_what_is_refused_says_why(
    play: Callable[[], Iterator[Scripted]], stop: int
) -> None:
    table = on_the_way(play, stop)
    for command in catalogue(table):
        decision = decide(command, table.state, table.sealed)
        if isinstance(decision, Refusal):
            assert decision.code.replace("_", "").islower()
            assert decision.message
        else:
            assert decision
            assert all(type(event) in e.EVENT_TYPES for event in decision)


def test_the_catalogue_has_every_kind_of_command_and_each_is_refused_somewhere() -> None:
    kinds = set(get_args(c.Command))
    refused = set()
    for play, stop in STOPS:
        table = on_the_way(play, stop)
        commands = catalogue(table)
        assert {type(command) for command in commands} == kinds
        refused |= {
            type(command)
            for command in commands
            if isinstance(decide(command, table.state, table.sealed), Refusal)
        }
    assert refused == kinds


def test_the_rounds_on_the_way_come_through_every_step() -> None:
    reached = {on_the_way(play, stop).state.step for play, stop in STOPS}
    assert reached == set(get_args(Step))
    assert [len(list(play())) for play in (shared_round, private_round)] == [16, 7]
