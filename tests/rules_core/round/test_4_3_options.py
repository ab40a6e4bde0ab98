"""RULES.md 4.3: the first decision window, on shared and on exclusive tables."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.events.fields import DecidedOption
from tests.rules_core.round.scripted import DEALER, Scripted, ante, at

PAIR = {"box.2": "9s 9h 4d Kc 2d", "dealer": "Qs Jd 8h 5c 3d"}


def shared(*players: str) -> Scripted:
    """Everyone in box 2 with an ante of 150, the options window open since second 15."""
    table = Scripted("live-shared@1", PAIR).open()
    for player in players or ("p1",):
        table.place(player, ante(2, 150))
    return table.deal()


def chosen(kind: DecidedOption, amount: int, *positions: int) -> e.OptionChosen:
    return e.OptionChosen("p1", 2, kind, at(15), positions, amount, "p1.2.option.0")


def test_bet_stakes_twice_the_ante() -> None:
    table = shared()
    table.when(table.option_command("p1", 2, "bet")).then(chosen("bet", 300))


def test_a_sixth_card_costs_one_ante() -> None:
    table = shared()
    table.when(table.option_command("p1", 2, "sixth")).then(chosen("sixth", 150))


def test_what_was_chosen_is_known_by_its_stakes() -> None:
    table = shared("p1", "p2", "p3", "p4")
    table.option("p1", 2, "bet").option("p2", 2, "sixth")
    table.option("p3", 2, "exchange", 1).option("p4", 2, "fold")
    plays = {player: seat.plays[2] for player, seat in table.state.seats.items()}
    assert {player: (play.bet, play.fee) for player, play in plays.items()} == {
        "p1": (300, 0),
        "p2": (0, 150),
        "p3": (0, 150),
        "p4": (0, 0),
    }


@pytest.mark.parametrize("positions", [(0,), (4, 0), (2, 1, 3), (0, 1, 2, 3), (4, 3, 2, 1, 0)], ids=str)
def test_an_exchange_of_any_number_of_cards_costs_one_ante(positions: tuple[int, ...]) -> None:
    table = shared()
    table.when(table.option_command("p1", 2, "exchange", *positions)).then(
        chosen("exchange", 150, *positions)
    )


def test_a_fold_costs_nothing_more() -> None:
    table = shared()
    table.when(table.option_command("p1", 2, "fold")).then(e.OptionChosen("p1", 2, "fold", at(15)))


@pytest.mark.parametrize(
    ("positions", "code"),
    [
        ((), "exchange_empty"),
        ((0, 0), "exchange_position_repeated"),
        ((5,), "exchange_position_out_of_range"),
        ((-1,), "exchange_position_out_of_range"),
    ],
)
def test_an_exchange_names_distinct_positions_of_the_hand(positions: tuple[int, ...], code: str) -> None:
    table = shared()
    table.when(table.option_command("p1", 2, "exchange", *positions)).refused(code, maximum=5)


def test_an_exchange_is_of_at_most_as_many_cards_as_the_ruleset_allows() -> None:
    table = Scripted("classic@1").open().place("p1", ante(2)).deal()
    table.when(table.option_command("p1", 2, "exchange", 0, 1, 2, 3, 4)).refused(
        "exchange_too_many", maximum=4
    )
    table.option("p1", 2, "exchange", 0, 1, 2, 3)


@pytest.mark.parametrize("kind", ["bet", "sixth", "fold"])
def test_only_an_exchange_names_positions(kind: DecidedOption) -> None:
    table = shared()
    table.when(table.option_command("p1", 2, kind, 0)).refused("positions_without_exchange")


OPTIONS: tuple[tuple[DecidedOption, tuple[int, ...]], ...] = (
    ("bet", ()),
    ("sixth", ()),
    ("exchange", (1, 2)),
    ("fold", ()),
)


@pytest.mark.parametrize(("second", "to"), OPTIONS, ids=str)
@pytest.mark.parametrize(("first", "of"), OPTIONS, ids=str)
def test_a_choice_is_final_once_recorded_and_sixth_and_exchange_are_never_both(
    first: DecidedOption, of: tuple[int, ...], second: DecidedOption, to: tuple[int, ...]
) -> None:
    table = shared("p1", "p2").option("p1", 2, first, *of)
    again = table.option_command("p1", 2, second, *to, again=1)
    table.when(again).refused("already_decided", box=2)
    table.close_options()
    table.when(again).refused("already_decided", box=2)


def test_a_blind_box_has_no_options() -> None:
    table = Scripted("live-shared@1").open().place("p1", ante(2), ante(1, blind=True)).deal()
    table.when(table.option_command("p1", 1, "bet")).refused("box_is_blind", box=1)


def test_a_player_decides_only_for_boxes_of_their_own() -> None:
    table = shared()
    table.when(table.option_command("p2", 2, "bet")).refused("no_such_box", box=2)
    table.when(table.option_command("p1", 1, "bet")).refused("no_such_box", box=1)


@pytest.mark.parametrize("kind", ["bet", "sixth", "exchange"])
def test_a_choice_that_costs_something_needs_a_bet_id_of_its_own(kind: DecidedOption) -> None:
    table = shared()
    command = table.option_command("p1", 2, kind, *([0] if kind == "exchange" else []))
    table.when(replace(command, bet_id=None)).refused("bet_id_missing")
    table.when(replace(command, bet_id="bet-1")).refused("bet_id_used")
    table.when(replace(command, funds="not_asked")).refused("money_not_held")


def test_a_fold_needs_no_money() -> None:
    table = shared()
    for funds in ("not_asked", "refused", "unavailable"):
        table.when(replace(table.option_command("p1", 2, "fold"), bet_id=None, funds=funds)).then(
            e.OptionChosen("p1", 2, "fold", at(15))
        )


@pytest.mark.parametrize(
    ("funds", "reason"), [("refused", "funds_refused"), ("unavailable", "wallet_unavailable")]
)
def test_a_choice_whose_money_is_refused_is_left_unmade(funds: c.Funds, reason: str) -> None:
    table = shared()
    refused = replace(table.option_command("p1", 2, "exchange", 3, 1), funds=funds)
    table.when(refused).then(
        e.BetDeclined(
            "p1",
            "EUR",
            "p1.2.option.0",
            (e.DeclinedStake(2, "option_fee", 150),),
            reason,
            at(15),
            "ChooseOption",
            "exchange",
            (3, 1),
        )
    )
    table.do(refused)
    table.when(table.option_command("p1", 2, "sixth", again=1)).then(
        replace(chosen("sixth", 150), bet_id="p1.2.option.1")
    )


def test_a_declined_bet_names_the_bet() -> None:
    table = shared()
    table.when(replace(table.option_command("p1", 2, "bet"), funds="refused")).then(
        e.BetDeclined(
            "p1",
            "EUR",
            "p1.2.option.0",
            (e.DeclinedStake(2, "bet", 300),),
            "funds_refused",
            at(15),
            "ChooseOption",
            "bet",
        )
    )


# shared: one window, players decide alone


def test_shared_one_window_asks_every_open_hand() -> None:
    table = Scripted("live-shared@1", PAIR).open()
    table.place("p2", ante(2), ante(1, blind=True)).place("p1", ante(2)).place("p3", ante(3, blind=True))
    table.close_betting().lay()
    table.when(c.ConfirmCards(at(16), DEALER)).then(e.OptionsOpened(None, at(16), at(36), DEALER))
    table.confirm()
    assert list(table.state.undecided) == [(2, "p2"), (2, "p1")]


def test_shared_players_decide_alone_in_any_order() -> None:
    table = shared("p1", "p2", "p3").option("p3", 2, "fold").option("p1", 2, "exchange", 0)
    table.when(table.option_command("p2", 2, "bet")).then(
        e.OptionChosen("p2", 2, "bet", at(15), (), 300, "p2.2.option.0")
    )


def test_shared_a_window_closes_early_when_every_asked_box_has_decided() -> None:
    table = shared("p1", "p2").option("p1", 2, "bet")
    table.when(c.CloseOptions(at(20))).refused("window_still_open", closes_at=at(35))
    table.option("p2", 2, "fold")
    table.when(c.CloseOptions(at(20))).then(e.OptionsClosed(None, at(20), ()))


def test_shared_only_blind_boxes_have_no_options_window() -> None:
    table = Scripted("live-shared@1").open().place("p1", ante(1, blind=True)).close_betting().lay()
    assert [type(event) for event in table.confirm()] == [e.CardsRevealed, e.DealerRevealed]


@pytest.mark.parametrize("seconds", [35, 36])
def test_a_choice_at_the_cut_off_or_later_is_declined(seconds: int) -> None:
    table = shared("p1", "p2")
    late = replace(table.option_command("p1", 2, "exchange", 0), arrived_at=at(seconds))
    declined = e.BetDeclined(
        "p1",
        "EUR",
        "p1.2.option.0",
        (e.DeclinedStake(2, "option_fee", 150),),
        "window_closed",
        at(seconds),
        "ChooseOption",
        "exchange",
        (0,),
    )
    table.when(late).then(declined)
    table.when(replace(late, funds="not_asked")).then(declined)
    table.close_options()
    table.when(replace(late, funds="refused")).then(declined)


def test_a_late_choice_needs_a_bet_id_of_its_own() -> None:
    table = shared()
    late = replace(table.option_command("p1", 2, "sixth"), arrived_at=at(35))
    table.when(replace(late, bet_id=None)).refused("bet_id_missing")
    table.when(replace(late, bet_id="bet-1")).refused("bet_id_used")


def test_a_choice_in_time_whose_money_came_after_the_close_is_declined() -> None:
    table = shared()
    command = replace(table.option_command("p1", 2, "bet"), arrived_at=at(34, 999))
    table.close_options()
    table.when(command).then(
        e.BetDeclined(
            "p1",
            "EUR",
            "p1.2.option.0",
            (e.DeclinedStake(2, "bet", 300),),
            "hold_answered_late",
            at(34, 999),
            "ChooseOption",
            "bet",
        )
    )


def test_a_late_fold_is_refused_and_needs_no_record() -> None:
    table = shared()
    table.when(replace(table.option_command("p1", 2, "fold"), arrived_at=at(35))).refused(
        "window_closed", box=2
    )


@pytest.mark.parametrize("funds", ["refused", "unavailable"])
def test_after_twenty_declined_wagers_more_are_refused_without_asking_the_wallet(funds: c.Funds) -> None:
    table = shared()
    for number in range(20):
        table.do(replace(table.option_command("p1", 2, "bet", again=number), funds=funds))
    table.when(replace(table.option_command("p1", 2, "bet", again=20), funds="not_asked")).refused(
        "too_many_declined"
    )


def test_twenty_declined_options_are_on_the_record_and_no_more() -> None:
    table = shared()
    for number in range(20):
        table.do(replace(table.option_command("p1", 2, "bet", again=number), funds="refused"))
    more = table.option_command("p1", 2, "bet", again=20)
    table.when(replace(more, funds="refused")).refused("too_many_declined")
    table.when(replace(more, arrived_at=at(35))).refused("window_closed")
    table.when(table.option_command("p1", 2, "fold")).then(e.OptionChosen("p1", 2, "fold", at(15)))
