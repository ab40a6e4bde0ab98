"""RULES.md 4.6: what the platform decides when a window passes, and wagers whose money is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.events.fields import DecidedOption, DefaultReason, FinalChoice
from tests.rules_core.round.scripted import DEALER, Scripted, ante, at

HIGH = {"box.2": "As Kh 9d 4c 2d", "dealer": "Qs Jd 8h 5c 3d", "switch": "6c 7s 5h 3h Jc"}
NOTHING = {**HIGH, "box.2": "Qh Jh 9d 4c 2d"}
TRIPS = {**HIGH, "box.2": "9s 9h 9d 4c 2d"}
UNFUNDED: list[tuple[c.Unfunded, DefaultReason]] = [
    ("refused", "bet_not_funded"),
    ("unavailable", "wallet_unavailable"),
]


def options(cards: dict[str, str], *players: str) -> Scripted:
    """The options window open since second 15."""
    table = Scripted("live-shared@1", cards).open()
    for player in players:
        table.place(player, ante(2))
    return table.deal()


def finals(cards: dict[str, str], **choices: DecidedOption | None) -> Scripted:
    """The final window open since second 35; a None passed the options."""
    table = options(cards, *choices)
    for player, kind in choices.items():
        if kind:
            table.option(player, 2, kind, *([0] if kind == "exchange" else []))
    table.close_options()
    table.now = at(35)
    table.lay()
    table.confirm()
    return table


def platform(
    player: str, choice: FinalChoice, bet: int = 0, reason: DefaultReason = "has_combination", box: int = 2
) -> e.FinalOptionChosen:
    return e.FinalOptionChosen(player, box, choice, "platform", bet, reason=reason)


def test_options_that_pass_are_listed_and_no_choice_is_recorded() -> None:
    table = options(HIGH, "p3", "p1", "p2").option("p1", 2, "bet")
    table.now = at(35)
    table.when(c.CloseOptions(at(35))).then(e.OptionsClosed(None, at(35), (e.BoxPlayers(2, ("p3", "p2")),)))
    table.close_options()
    assert not [event for event in table.events if isinstance(event, e.OptionChosen) and event.player != "p1"]


def test_options_that_pass_do_not_close_before_their_time() -> None:
    table = options(HIGH, "p1")
    table.when(c.CloseOptions(at(34, 999))).refused("window_still_open", closes_at=at(35))


def test_after_options_that_passed_the_final_window_follows() -> None:
    table = options(HIGH, "p1")
    table.close_options()
    table.lay()
    table.when(c.ConfirmCards(at(36), DEALER)).then(
        e.FinalOptionsOpened(None, (e.BoxPlayers(2, ("p1",)),), at(36), at(61), DEALER)
    )


@pytest.mark.parametrize("kind", [None, "sixth", "exchange"])
def test_a_box_without_a_bet_folds_without_a_combination(kind: DecidedOption | None) -> None:
    table = finals(NOTHING, p1=kind)
    table.when(c.CloseFinalOptions(at(60))).then(
        platform("p1", "fold", reason="no_combination"), e.FinalOptionsClosed(None, at(60))
    )


@pytest.mark.parametrize("kind", [None, "sixth"])
def test_a_box_without_a_bet_bets_with_ace_king_or_better(kind: DecidedOption | None) -> None:
    table = finals(HIGH, p1=kind)
    table.when(c.CloseFinalOptions(at(60))).then(
        platform("p1", "bet", 200), e.FinalOptionsClosed(None, at(60))
    )


def test_the_hand_after_the_cards_decides_not_the_hand_dealt() -> None:
    lost = finals(HIGH, p1="exchange")
    lost.when(c.CloseFinalOptions(at(60))).then(
        platform("p1", "fold", reason="no_combination"), e.FinalOptionsClosed(None, at(60))
    )
    made = finals({**NOTHING, "switch": "9c 7s 5h 3h Jc"}, p1="exchange")
    made.when(c.CloseFinalOptions(at(60))).then(
        platform("p1", "bet", 200), e.FinalOptionsClosed(None, at(60))
    )


def test_a_box_that_bet_stands_and_is_not_insured() -> None:
    table = finals(TRIPS, p1="bet")
    table.when(c.CloseFinalOptions(at(60))).then(
        platform("p1", "stand", reason="bet_stands"), e.FinalOptionsClosed(None, at(60))
    )


def test_the_platform_never_insures() -> None:
    table = finals(TRIPS, p1="sixth", p2=None, p3="bet")
    table.when(c.CloseFinalOptions(at(60))).then(
        platform("p1", "bet", 200),
        platform("p2", "bet", 200),
        platform("p3", "stand", reason="bet_stands"),
        e.FinalOptionsClosed(None, at(60)),
    )


def test_only_boxes_that_passed_get_a_choice_of_the_platform() -> None:
    table = finals(HIGH, p1="sixth", p2="sixth", p3="sixth").final("p2", 2, "fold")
    table.when(c.CloseFinalOptions(at(60))).then(
        platform("p1", "bet", 200), platform("p3", "bet", 200), e.FinalOptionsClosed(None, at(60))
    )


def test_final_options_do_not_close_before_their_time() -> None:
    table = finals(HIGH, p1="sixth", p2=None).final("p1", 2, "fold")
    table.when(c.CloseFinalOptions(at(59, 999))).refused("window_still_open", closes_at=at(60))
    table.final("p2", 2, "bet")
    table.when(c.CloseFinalOptions(at(35))).then(e.FinalOptionsClosed(None, at(35)))


# money


@pytest.mark.parametrize(("unfunded", "reason"), UNFUNDED)
def test_a_default_bet_without_money_becomes_a_fold(unfunded: c.Unfunded, reason: DefaultReason) -> None:
    table = finals(HIGH, p1="sixth", p2=None)
    table.when(c.CloseFinalOptions(at(60), ((2, "p1", unfunded),))).then(
        platform("p1", "fold", reason=reason), platform("p2", "bet", 200), e.FinalOptionsClosed(None, at(60))
    )


@pytest.mark.parametrize("key", [(2, "p2"), (2, "p3"), (2, "p4"), (1, "p1"), (2, "p9")])
def test_only_a_default_bet_can_lack_money(key: tuple[int, str]) -> None:
    table = finals(TRIPS, p1="sixth", p2="bet", p3="fold", p4=None).final("p4", 2, "fold")
    box, player = key
    table.when(c.CloseFinalOptions(at(60), ((box, player, "refused"),))).refused(
        "no_default_bet", box=box, player=player
    )


def test_a_fold_by_default_needs_no_money() -> None:
    table = finals(NOTHING, p1="sixth")
    table.when(c.CloseFinalOptions(at(60), ((2, "p1", "refused"),))).refused(
        "no_default_bet", box=2, player="p1"
    )


@pytest.mark.parametrize(
    ("funds", "reason"), [("refused", "funds_refused"), ("unavailable", "wallet_unavailable")]
)
def test_insurance_and_bet_placed_together_fall_together(funds: c.Funds, reason: str) -> None:
    table = finals(TRIPS, p1="sixth")
    command = replace(table.final_command("p1", 2, "bet", 300), funds=funds)
    table.when(command).then(
        e.BetDeclined(
            "p1",
            "EUR",
            "p1.2.final.0",
            (e.DeclinedStake(2, "bet", 200), e.DeclinedStake(2, "insurance", 300)),
            reason,
            at(35),
            "ChooseFinalOption",
            choice="bet",
        )
    )


def test_insurance_alone_is_declined_alone_and_the_bet_stands() -> None:
    table = finals(TRIPS, p1="bet")
    command = replace(table.final_command("p1", 2, "stand", 300), funds="refused")
    table.when(command).then(
        e.BetDeclined(
            "p1",
            "EUR",
            "p1.2.final.0",
            (e.DeclinedStake(2, "insurance", 300),),
            "funds_refused",
            at(35),
            "ChooseFinalOption",
            choice="stand",
        )
    )
    table.do(command)
    table.when(c.CloseFinalOptions(at(60))).then(
        platform("p1", "stand", reason="bet_stands"), e.FinalOptionsClosed(None, at(60))
    )


def test_a_choice_without_money_is_unmade_and_the_player_may_choose_again_until_the_close() -> None:
    table = finals(TRIPS, p1="sixth")
    table.do(replace(table.final_command("p1", 2, "bet", 300), funds="refused"))
    table.when(c.CloseFinalOptions(at(59))).refused("window_still_open", closes_at=at(60))
    table.when(table.final_command("p1", 2, "bet", 300)).refused("bet_id_used")
    again = replace(table.final_command("p1", 2, "bet", again=1), arrived_at=at(59, 999))
    table.when(again).then(e.FinalOptionChosen("p1", 2, "bet", "player", 200, 0, at(59, 999), "p1.2.final.1"))
    table.when(table.final_command("p1", 2, "fold")).then(
        e.FinalOptionChosen("p1", 2, "fold", "player", arrived_at=at(35))
    )


def test_a_choice_left_without_money_is_decided_by_the_platform_at_the_close() -> None:
    table = finals(TRIPS, p1="sixth")
    table.do(replace(table.final_command("p1", 2, "bet", 300), funds="unavailable"))
    table.when(c.CloseFinalOptions(at(60), ((2, "p1", "unavailable"),))).then(
        platform("p1", "fold", reason="wallet_unavailable"), e.FinalOptionsClosed(None, at(60))
    )


def test_no_bet_id_stakes_twice_whatever_it_was_for() -> None:
    table = finals(TRIPS, p1="sixth")
    table.when(replace(table.final_command("p1", 2, "bet"), bet_id="p1.2.option.0")).refused("bet_id_used")
    table.final("p1", 2, "bet", 300)
    table.close_finals()
    table.proceed()
    table.proceed()
    for used in ("bet-1", "p1.2.option.0", "p1.2.final.0"):
        table.when(replace(table.buy_command("p1", 2), bet_id=used)).refused("bet_id_used")
    table.buy("p1", 2)
    stakes = (e.DeclinedStake(2, "purchase_fee", 100),)
    again = c.DeclineBet("p1", "EUR", "p1.2.purchase.0", stakes, "wallet_unavailable", at(36))
    table.when(again).refused("bet_id_used")


def test_after_twenty_declined_wagers_the_wallet_is_not_asked_for_a_final_option() -> None:
    table = finals(TRIPS, p1="sixth", p2="bet")
    for number in range(20):
        table.do(replace(table.final_command("p1", 2, "bet", again=number), funds="refused"))
        table.do(replace(table.final_command("p2", 2, "stand", 300, again=number), funds="refused"))
    more = table.final_command("p1", 2, "bet", again=20)
    table.when(replace(more, funds="not_asked")).refused("too_many_declined")
    table.when(replace(more, arrived_at=at(60))).refused("window_closed")
    table.when(table.final_command("p1", 2, "fold")).then(
        e.FinalOptionChosen("p1", 2, "fold", "player", arrived_at=at(35))
    )
    table.when(table.final_command("p2", 2, "stand")).then(
        e.FinalOptionChosen("p2", 2, "stand", "player", arrived_at=at(35))
    )


# late


@pytest.mark.parametrize("seconds", [60, 61])
def test_a_final_choice_at_the_cut_off_or_later_is_declined(seconds: int) -> None:
    table = finals(TRIPS, p1="sixth", p2="sixth")
    late = replace(table.final_command("p1", 2, "bet", 300), arrived_at=at(seconds))
    declined = e.BetDeclined(
        "p1",
        "EUR",
        "p1.2.final.0",
        (e.DeclinedStake(2, "bet", 200), e.DeclinedStake(2, "insurance", 300)),
        "window_closed",
        at(seconds),
        "ChooseFinalOption",
        choice="bet",
    )
    table.when(late).then(declined)
    table.close_finals()
    table.when(replace(late, funds="not_asked")).then(declined)
    table.when(replace(late, arrived_at=at(59))).then(
        replace(declined, arrived_at=at(59), reason="hold_answered_late")
    )


def test_a_late_final_choice_needs_a_bet_id_of_its_own() -> None:
    table = finals(TRIPS, p1="sixth")
    late = replace(table.final_command("p1", 2, "bet"), arrived_at=at(60))
    table.when(replace(late, bet_id=None)).refused("bet_id_missing")
    table.when(replace(late, bet_id="bet-1")).refused("bet_id_used")


def test_a_late_choice_without_money_is_refused_and_needs_no_record() -> None:
    table = finals(TRIPS, p1="bet", p2="sixth")
    late: list[tuple[str, FinalChoice]] = [("p1", "stand"), ("p2", "fold")]
    for player, choice in late:
        command = c.ChooseFinalOption(player, 2, choice, at(60))
        table.when(command).refused("window_closed", box=2)


def test_an_exclusive_box_that_passed_everything_is_decided_by_its_hand() -> None:
    cards = {"box.1": "As Kh 9d 4c 2d", "box.2": "Qh Jh 8d 4d 2c", "dealer": "Qs Jd 8h 5c 3d"}
    table = Scripted("three-box@1", cards).open().place("p1", ante(1), ante(2)).deal()
    for box, choice in (
        (1, platform("p1", "bet", 200, box=1)),
        (2, platform("p1", "fold", 0, "no_combination", box=2)),
    ):
        table.close_options()
        table.proceed()
        assert table.close_finals() == (choice, e.FinalOptionsClosed(box, table.now))
        table.proceed()
