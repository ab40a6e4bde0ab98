"""RULES.md 4.5: who is asked in the final window, and what each may choose."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.events.fields import DecidedOption, FinalChoice
from rules_core.rulesets.shipped import shipped
from tests.rules_core.round.scripted import DEALER, Scripted, ante, at, limits_for, ruleset_with

TRIPS = {"box.2": "9s 9h 9d 4c 2d", "switch": "Kd 7s 5h 3h Jc", "dealer": "Qs Jd 8h 5c 3d"}
PAIR = {**TRIPS, "box.2": "9s 9h Kc 4c 2d", "switch": "3s 7s 5h 3h Jc"}
LIVE = limits_for(shipped("live-shared@1"))


def shared(cards: dict[str, str], **options: tuple[DecidedOption | None, tuple[int, ...]]) -> Scripted:
    """Each player's option in box 2 (ante 100), the five switch cards laid and not yet confirmed."""
    table = Scripted("live-shared@1", cards).open()
    for player in options:
        table.place(player, ante(2))
    table.deal()
    for player, (kind, positions) in options.items():
        if kind:
            table.option(player, 2, kind, *positions)
    table.close_options()
    table.lay()
    table.now = at(40)
    return table


def asked(kind: DecidedOption | None, *positions: int, cards: dict[str, str] | None = None) -> Scripted:
    """One player whose final window is open since second 40."""
    table = shared(cards or TRIPS, p1=(kind, positions))
    assert [type(event) for event in table.confirm()] == [e.FinalOptionsOpened]
    return table


def chosen(choice: FinalChoice, bet: int = 0, insurance: int = 0) -> e.FinalOptionChosen:
    bet_id = "p1.2.final.0" if bet or insurance else None
    return e.FinalOptionChosen("p1", 2, choice, "player", bet, insurance, at(40), bet_id)


def test_asked_are_boxes_that_bought_passed_or_bet_with_three_of_a_kind() -> None:
    table = shared(
        TRIPS,
        p1=("bet", ()),
        p2=("sixth", ()),
        p3=("exchange", (3,)),
        p4=("fold", ()),
        p5=(None, ()),
    )
    players = ("p1", "p2", "p3", "p5")
    table.when(c.ConfirmCards(at(40), DEALER)).then(
        e.FinalOptionsOpened(None, (e.BoxPlayers(2, players),), at(40), at(65), DEALER)
    )


def test_a_box_that_bet_with_less_than_three_of_a_kind_is_not_asked() -> None:
    table = shared(PAIR, p1=("bet", ()), p2=("sixth", ()))
    table.when(c.ConfirmCards(at(40), DEALER)).then(
        e.FinalOptionsOpened(None, (e.BoxPlayers(2, ("p2",)),), at(40), at(65), DEALER)
    )


def test_a_box_that_bought_is_asked_whatever_it_holds() -> None:
    table = shared({**TRIPS, "box.2": "9s Qh Td 4c 2d"}, p1=("exchange", (0,)), p2=("sixth", ()))
    table.when(c.ConfirmCards(at(40), DEALER)).then(
        e.FinalOptionsOpened(None, (e.BoxPlayers(2, ("p1", "p2")),), at(40), at(65), DEALER)
    )


def test_blind_boxes_are_never_asked() -> None:
    table = Scripted("live-shared@1", {**TRIPS, "box.1": "7c 7d 7h 2s 4h"}).open()
    table.place("p1", ante(1, blind=True), ante(2)).deal()
    table.close_options()
    table.lay()
    table.when(c.ConfirmCards(at(40), DEALER)).then(
        e.FinalOptionsOpened(None, (e.BoxPlayers(2, ("p1",)),), at(40), at(65), DEALER)
    )
    table.now = at(40)
    table.confirm()
    table.when(table.final_command("p1", 1, "bet")).refused("window_not_open", box=1)


@pytest.mark.parametrize("kind", ["bet", "fold"])
def test_the_final_window_is_skipped_when_nobody_is_asked(kind: DecidedOption) -> None:
    table = shared(PAIR, p1=(kind, ()))
    assert [type(event) for event in table.confirm()] == [e.CardsRevealed, e.DealerRevealed]


@pytest.mark.parametrize(
    "limits",
    [replace(LIVE, max_payout=199), replace(LIVE, insurance_max=99)],
    ids=["cap", "table limit"],
)
def test_a_bet_is_not_asked_where_no_insurance_can_be_offered(limits: object) -> None:
    table = Scripted("live-shared@1", TRIPS, limits=limits).open()  # type: ignore[arg-type]  # limits of two kinds
    table.place("p1", ante(2)).deal().option("p1", 2, "bet")
    table.close_options()
    table.lay()
    assert [type(event) for event in table.confirm()] == [e.CardsRevealed, e.DealerRevealed]


# a box that bought: bet, bet with insurance, fold


def test_bought_bet() -> None:
    table = asked("sixth")
    table.when(table.final_command("p1", 2, "bet")).then(chosen("bet", 200))


def test_bought_bet_with_insurance_in_one_choice() -> None:
    table = asked("sixth")
    table.when(table.final_command("p1", 2, "bet", 300)).then(chosen("bet", 200, 300))


def test_bought_fold() -> None:
    table = asked("exchange", 0)
    table.when(table.final_command("p1", 2, "fold")).then(chosen("fold"))


def test_bought_nothing_stands_before_the_bet() -> None:
    table = asked("sixth")
    table.when(table.final_command("p1", 2, "stand")).refused("no_bet_yet", box=2)


def test_bought_the_hand_after_the_cards_is_insured() -> None:
    made = asked("exchange", 2, 3, cards={**PAIR, "switch": "9c 7s 5h 3h Jc"})
    made.when(made.final_command("p1", 2, "bet", 300)).then(chosen("bet", 200, 300))
    broken = asked("exchange", 0)
    broken.when(broken.final_command("p1", 2, "bet", 100)).refused("insurance_hand_too_low", box=2)


# a box that passed: bet or fold


def test_passed_bet_or_fold() -> None:
    table = asked(None)
    table.when(table.final_command("p1", 2, "bet")).then(chosen("bet", 200))
    table.when(table.final_command("p1", 2, "fold")).then(chosen("fold"))


def test_passed_no_insurance_and_nothing_to_stand() -> None:
    table = asked(None)
    table.when(table.final_command("p1", 2, "bet", 100)).refused("insurance_after_pass", box=2)
    table.when(table.final_command("p1", 2, "stand")).refused("no_bet_yet", box=2)


@pytest.mark.parametrize("kind", ["bet", "sixth", "exchange"])
def test_passed_no_cards(kind: DecidedOption) -> None:
    table = asked(None)
    command = table.option_command("p1", 2, kind, *([0] if kind == "exchange" else []))
    decision = table.when(command).decision
    assert isinstance(decision, tuple)
    assert [type(event) for event in decision] == [e.BetDeclined]


# a box that has bet: insurance or nothing


def test_bet_insurance() -> None:
    table = asked("bet")
    table.when(table.final_command("p1", 2, "stand", 300)).then(chosen("stand", 0, 300))


def test_bet_nothing_counts_as_decided_and_needs_no_money() -> None:
    table = asked("bet")
    command = replace(table.final_command("p1", 2, "stand"), bet_id=None, funds="not_asked")
    table.when(command).then(chosen("stand"))
    table.when(c.CloseFinalOptions(at(41))).refused("window_still_open", closes_at=at(65))
    table.do(command)
    table.when(c.CloseFinalOptions(at(41))).then(e.FinalOptionsClosed(None, at(41)))


@pytest.mark.parametrize(
    ("choice", "code"), [("bet", "bet_stands_already"), ("fold", "bet_cannot_be_folded")]
)
def test_bet_is_final(choice: FinalChoice, code: str) -> None:
    table = asked("bet")
    table.when(table.final_command("p1", 2, choice)).refused(code, box=2)
    table.when(table.final_command("p1", 2, choice, 300)).refused(code, box=2)


# the bounds of insurance (RULES.md 5): minimum one ante, maximum half of what the bet can win


@pytest.mark.parametrize("amount", [100, 101, 300])
def test_insurance_within_its_bounds_in_steps_of_one(amount: int) -> None:
    table = asked("bet")
    table.when(table.final_command("p1", 2, "stand", amount)).then(chosen("stand", 0, amount))


@pytest.mark.parametrize(
    ("amount", "code"), [(99, "insurance_below_minimum"), (301, "insurance_above_maximum")]
)
def test_insurance_outside_its_bounds(amount: int, code: str) -> None:
    table = asked("bet")
    table.when(table.final_command("p1", 2, "stand", amount)).refused(code, box=2, minimum=100, maximum=300)


def test_insurance_below_zero() -> None:
    table = asked("sixth")
    table.when(table.final_command("p1", 2, "bet", -100)).refused("amount_not_positive", amount=-100)


def test_insurance_counts_both_combinations() -> None:
    table = asked("exchange", 3, 4, cards={**TRIPS, "switch": "9c Kd 5h 3h Jc", "box.2": "9s 9h 9d Ac 2d"})
    table.when(table.final_command("p1", 2, "bet", 2_001)).refused(
        "insurance_above_maximum", box=2, minimum=100, maximum=2_000
    )
    both = asked("sixth", cards={**TRIPS, "switch": "Kd 7s 5h 3h Jc", "box.2": "9s 9h 9d Ac 2d"})
    both.when(both.final_command("p1", 2, "bet", 401)).refused(
        "insurance_above_maximum", box=2, minimum=100, maximum=400
    )


@pytest.mark.parametrize(("insurance_max", "maximum"), [(250, 250), (1_000, 300)])
def test_a_table_limit_lowers_the_maximum_and_never_raises_it(insurance_max: int, maximum: int) -> None:
    table = Scripted("live-shared@1", TRIPS, limits=replace(LIVE, insurance_max=insurance_max)).open()
    table.place("p1", ante(2)).deal().option("p1", 2, "sixth")
    table.close_options()
    table.lay()
    table.confirm()
    table.when(table.final_command("p1", 2, "bet", maximum + 1)).refused(
        "insurance_above_maximum", box=2, minimum=100, maximum=maximum
    )


def test_a_whole_expected_win_may_be_insured_where_the_fraction_is_one() -> None:
    table = Scripted("three-box@1", TRIPS).open().place("p1", ante(2)).deal().option("p1", 2, "bet")
    table.close_options()
    table.proceed()
    table.when(table.final_command("p1", 2, "stand", 601)).refused(
        "insurance_above_maximum", box=2, minimum=100, maximum=600
    )
    table.when(table.final_command("p1", 2, "stand", 600)).then(
        e.FinalOptionChosen("p1", 2, "stand", "player", 0, 600, at(15), "p1.2.final.0")
    )


def test_a_ruleset_without_insurance_asks_no_box_that_bet_and_insures_none() -> None:
    ruleset = ruleset_with("three-box@1", insurance=None)
    table = (
        Scripted(ruleset, {**TRIPS, "box.1": "8s 8c 8d 4h 2h"}).open().place("p1", ante(1), ante(2)).deal()
    )
    table.option("p1", 1, "bet")
    table.close_options()
    assert [type(event) for event in table.proceed()] == [e.OptionsOpened]
    table.option("p1", 2, "sixth")
    table.close_options()
    table.lay()
    table.confirm()
    table.when(table.final_command("p1", 2, "bet", 100)).refused("insurance_not_offered", box=2)


def test_no_insurance_with_a_fold() -> None:
    table = asked("sixth")
    table.when(table.final_command("p1", 2, "fold", 300)).refused("insurance_with_fold", box=2)


# once decided, only by the asked


@pytest.mark.parametrize("first", ["bet", "fold"])
@pytest.mark.parametrize("second", ["bet", "fold"])
def test_a_final_choice_is_final(first: FinalChoice, second: FinalChoice) -> None:
    table = asked("sixth").final("p1", 2, first)
    again = table.final_command("p1", 2, second, again=1)
    table.when(again).refused("already_decided", box=2)
    table.close_finals()
    table.when(again).refused("already_decided", box=2)


def test_insurance_cannot_follow_a_stand() -> None:
    table = asked("bet").final("p1", 2, "stand")
    table.when(table.final_command("p1", 2, "stand", 300, again=1)).refused("already_decided", box=2)


def test_a_box_that_is_not_asked_has_no_final_choice() -> None:
    table = shared(TRIPS, p1=("sixth", ()), p2=("fold", ()))
    table.confirm()
    table.when(table.final_command("p2", 2, "bet")).refused("window_not_open", box=2)
    table.when(table.final_command("p3", 2, "bet")).refused("no_such_box", box=2)


@pytest.mark.parametrize("choice", ["bet", "stand"])
def test_a_choice_that_costs_something_needs_a_bet_id_of_its_own(choice: FinalChoice) -> None:
    table = asked("bet" if choice == "stand" else "sixth")
    command = table.final_command("p1", 2, choice, 300)
    table.when(replace(command, bet_id=None)).refused("bet_id_missing")
    table.when(replace(command, bet_id="bet-1")).refused("bet_id_used")
    table.when(replace(command, funds="not_asked")).refused("money_not_held")
