"""RULES.md 4.3, Exclusive: box after box in number order, each whole before the next one opens."""

from __future__ import annotations

from rules_core.round import commands as c
from rules_core.round import events as e
from tests.rules_core.round.scripted import DEALER, Scripted, ante, at

CARDS = {
    "box.1": "9s 9h 4d Kc 2d",
    "box.2": "7s 7h 7d Qc 2h",
    "box.4": "As Kd 9c 5h 3h",
    "dealer": "Qs Jd 8h 5c 3d",
    "replacement.1": "Ts 8c",
}


def table() -> Scripted:
    """p2 in boxes 1 and 4, p1 in box 2, and p1's blind box 3."""
    played = Scripted("four-box@1", CARDS).open()
    return (
        played.place("p1", ante(2), ante(3, blind=True)).place("p2", ante(4), ante(1)).close_betting().lay()
    )


def test_box_after_box_in_number_order_options_cards_and_final_option_of_one_before_the_next() -> None:
    played = table()
    before = len(played.events)
    played.confirm()
    played.option("p2", 1, "exchange", 4, 2)
    played.close_options()
    played.now = at(16)
    played.lay()
    played.confirm()
    played.final("p2", 1, "fold")
    played.close_finals()
    played.proceed()
    played.option("p1", 2, "bet")
    played.close_options()
    played.proceed()
    played.final("p1", 2, "stand")
    played.close_finals()
    played.now = at(17)
    played.proceed()
    played.option("p2", 4, "bet")
    played.close_options()
    windows = [event for event in played.events[before:] if not isinstance(event, e.CardScanned)]
    assert windows == [
        e.OptionsOpened(1, at(15), at(35), DEALER),
        e.OptionChosen("p2", 1, "exchange", at(15), (4, 2), 100, "p2.1.option.0"),
        e.OptionsClosed(1, at(15), ()),
        e.FinalOptionsOpened(1, (e.BoxPlayers(1, ("p2",)),), at(16), at(41), DEALER),
        e.FinalOptionChosen("p2", 1, "fold", "player", arrived_at=at(16)),
        e.FinalOptionsClosed(1, at(16)),
        e.OptionsOpened(2, at(16), at(36)),
        e.OptionChosen("p1", 2, "bet", at(16), (), 200, "p1.2.option.0"),
        e.OptionsClosed(2, at(16), ()),
        e.FinalOptionsOpened(2, (e.BoxPlayers(2, ("p1",)),), at(16), at(41)),
        e.FinalOptionChosen("p1", 2, "stand", "player", arrived_at=at(16)),
        e.FinalOptionsClosed(2, at(16)),
        e.OptionsOpened(4, at(17), at(37)),
        e.OptionChosen("p2", 4, "bet", at(17), (), 200, "p2.4.option.0"),
        e.OptionsClosed(4, at(17), ()),
    ]
    assert [type(event) for event in played.proceed()] == [e.DealerRevealed, e.CardsRevealed]


def test_the_first_window_is_that_of_the_lowest_open_box_whoever_bet_first() -> None:
    played = table()
    played.when(c.ConfirmCards(at(15), DEALER)).then(e.OptionsOpened(1, at(15), at(35), DEALER))


def test_a_box_whose_turn_has_not_come_is_not_asked() -> None:
    played = table()
    played.confirm()
    for player, box in (("p1", 2), ("p2", 4)):
        played.when(played.option_command(player, box, "bet")).refused("window_not_open", box=box)


def test_a_window_closes_early_when_its_own_box_has_decided() -> None:
    played = table()
    played.confirm()
    played.when(c.CloseOptions(at(15))).refused("window_still_open", closes_at=at(35))
    played.option("p2", 1, "fold")
    played.when(c.CloseOptions(at(15))).then(e.OptionsClosed(1, at(15), ()))


def test_the_next_box_waits_for_the_cards_of_the_one_before() -> None:
    played = table()
    played.confirm()
    played.option("p2", 1, "exchange", 4, 2)
    played.close_options()
    played.when(c.Proceed(at(16))).refused("nothing_to_do")
    played.when(c.ConfirmCards(at(16), DEALER)).refused("cards_missing", place="replacement.1.0")
    played.lay(1)
    played.when(c.ConfirmCards(at(16), DEALER)).refused("cards_missing", place="replacement.1.1")
    played.lay(1)
    played.when(c.Proceed(at(16))).refused("nothing_to_do")
    played.when(c.ConfirmCards(at(16), DEALER)).then(
        e.FinalOptionsOpened(1, (e.BoxPlayers(1, ("p2",)),), at(16), at(41), DEALER)
    )


def test_a_box_that_needs_no_card_and_no_final_option_gives_way_at_once() -> None:
    played = table()
    played.confirm()
    played.option("p2", 1, "bet")  # a pair: nothing to insure
    played.close_options()
    played.when(c.ConfirmCards(at(15), DEALER)).refused("nothing_to_confirm")
    played.when(c.Proceed(at(15))).then(e.OptionsOpened(2, at(15), at(35)))


def test_a_box_that_passed_is_asked_its_final_option_before_the_next_one_opens() -> None:
    played = table()
    played.confirm()
    played.now = at(35)
    played.when(c.CloseOptions(at(35))).then(e.OptionsClosed(1, at(35), (e.BoxPlayers(1, ("p2",)),)))
    played.close_options()
    played.when(c.Proceed(at(35))).then(e.FinalOptionsOpened(1, (e.BoxPlayers(1, ("p2",)),), at(35), at(60)))


def test_blind_boxes_are_passed_over_and_have_no_window_even_alone() -> None:
    played = Scripted("four-box@1").open().place("p1", ante(2, blind=True), ante(4, blind=True))
    played.close_betting().lay()
    assert [type(event) for event in played.confirm()] == [e.DealerRevealed, e.CardsRevealed]


def test_a_late_choice_is_declined_though_the_next_box_is_open() -> None:
    played = table()
    played.confirm()
    played.close_options()
    played.proceed()
    played.close_finals()
    played.proceed()
    command = c.ChooseOption("p2", 1, "sixth", at(40), (), "late-1")
    played.when(command).then(
        e.BetDeclined(
            "p2",
            "EUR",
            "late-1",
            (e.DeclinedStake(1, "option_fee", 100),),
            "window_closed",
            at(40),
            "ChooseOption",
            "sixth",
        )
    )
