"""RULES.md 4.8: who may buy the exchange of the dealer's highest card, and the window in which they do."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.events.fields import DecidedOption
from rules_core.rulesets.model import Ruleset
from tests.rules_core.round.scripted import Scripted, ante, at, ruleset_with

NO_GAME = "Qs Jd 8h 5c 3d"
LIVE = {"box.1": "Th 9c 7d 6s 2h", "box.2": "9s 9h 9d 4c 2d", "box.3": "As Kh 7h 4s 2c", "dealer": NO_GAME}


def live(**finals: int | None) -> Scripted:
    """Players of box 2 by their insurance (None: folded), p1 also in boxes 1 and 3; the hands are open."""
    table = Scripted("live-shared@1", LIVE).open().place("p1", ante(1, blind=True), ante(3, 150, blind=True))
    for player in finals:
        table.place(player, ante(2))
    table.deal()
    for player, insurance in finals.items():
        table.option(player, 2, "fold" if insurance is None else "bet")
    table.close_options()
    table.lay()
    table.now = at(20)
    table.confirm()
    if table.state.window is None:
        return table
    for player, insurance in finals.items():
        if insurance is not None:
            table.final(player, 2, "stand", insurance)
    table.close_finals()
    table.proceed()
    return table


def exclusive(ruleset: str | Ruleset, cards: dict[str, str], *boxes: c.Placement) -> Scripted:
    """p1's boxes; every open one bets and lets its insurance be; the hands are open."""
    table = Scripted(ruleset, cards).open().place("p1", *boxes).deal()
    while table.state.step != "revealed":
        if table.state.step == "options":
            table.option("p1", table.state.current_box, "bet")
            table.close_options()
        elif table.state.step == "final_options":
            table.final("p1", table.state.current_box, "stand")
            table.close_finals()
        else:
            table.proceed()
    return table


def asked(table: Scripted) -> tuple[e.BoxPlayers, ...]:
    """Who is offered the purchase."""
    events = table.proceed()
    assert [type(event) for event in events] == [e.PurchaseOffered]
    offered = events[0]
    assert isinstance(offered, e.PurchaseOffered)
    return offered.asked


def test_one_window_for_all_boxes_that_may_buy() -> None:
    table = live(p1=0, p2=300)
    table.when(c.Proceed(at(21))).then(
        e.PurchaseOffered((e.BoxPlayers(2, ("p1", "p2")), e.BoxPlayers(3, ("p1",))), at(21), at(31))
    )


def test_live_shared_a_box_needs_ace_king_or_better() -> None:
    assert asked(live(p1=0)) == (e.BoxPlayers(2, ("p1",)), e.BoxPlayers(3, ("p1",)))


def test_a_folded_box_may_not_buy() -> None:
    table = live(p2=None)
    assert asked(table) == (e.BoxPlayers(3, ("p1",)),)
    table.when(table.buy_command("p2", 2)).refused("purchase_not_offered", box=2)


def test_live_shared_an_insured_box_may_buy() -> None:
    assert e.BoxPlayers(2, ("p2",)) in asked(live(p2=300))


BLIND = {"box.1": "9s 9h Kc 4c 2d", "box.2": "7s 7h 6c 4d 2h", "box.3": "8s 8d 6d 4h 2c", "dealer": NO_GAME}


@pytest.mark.parametrize(
    ("ruleset", "boxes"),
    [("dark-boxes@1", (1, 2)), ("classic@1", (1, 2, 3)), ("four-box@1", (1, 2))],
)
def test_a_blind_box_buys_as_its_ruleset_says(ruleset: str, boxes: tuple[int, ...]) -> None:
    table = exclusive(ruleset, BLIND, ante(1), ante(2), ante(3, blind=True))
    assert asked(table) == tuple(e.BoxPlayers(box, ("p1",)) for box in boxes)


NOTHING = {"box.1": "Th 9c 7d 6s 2h", "box.2": "Ts 9d 7s 6d 2s", "dealer": NO_GAME}


@pytest.mark.parametrize("ruleset", ["dark-boxes@1", "classic@1", "three-box@1", "four-box@1"])
def test_elsewhere_a_box_without_a_combination_may_buy(ruleset: str) -> None:
    table = exclusive(ruleset, NOTHING, ante(1), ante(2))
    assert asked(table) == (e.BoxPlayers(1, ("p1",)), e.BoxPlayers(2, ("p1",)))


TRIPS = {"box.1": "9s 9h 9d 4c 2d", "box.2": "Ts 9c 7s 6d 2s", "dealer": NO_GAME}


@pytest.mark.parametrize(
    ("ruleset", "boxes"),
    [("dark-boxes@1", (1, 2)), ("classic@1", (2,)), ("three-box@1", (1, 2)), ("four-box@1", (1, 2))],
)
def test_an_insured_box_buys_as_its_ruleset_says(ruleset: str, boxes: tuple[int, ...]) -> None:
    table = Scripted(ruleset, TRIPS).open().place("p1", ante(1), ante(2)).deal().option("p1", 1, "bet")
    table.close_options()
    table.proceed()
    table.final("p1", 1, "stand", 100)
    table.close_finals()
    table.proceed()
    table.option("p1", 2, "bet")
    table.close_options()
    table.proceed()
    assert asked(table) == tuple(e.BoxPlayers(box, ("p1",)) for box in boxes)


def test_the_window_is_skipped_when_no_box_may_buy() -> None:
    table = Scripted("live-shared@1", LIVE).open().place("p1", ante(1, blind=True)).close_betting().lay()
    table.confirm()
    table.when(c.Proceed(at(21))).refused("nothing_to_do")
    assert isinstance(table.settle()[-1], e.RoundSettled)


def test_the_window_is_skipped_when_every_box_has_folded() -> None:
    table = Scripted("three-box@1", NOTHING).open().place("p1", ante(1)).deal().option("p1", 1, "fold")
    table.close_options()
    table.proceed()
    table.when(c.Proceed(at(21))).refused("nothing_to_do")
    assert isinstance(table.settle()[-1], e.RoundSettled)


def test_the_window_is_skipped_where_the_ruleset_has_no_purchase() -> None:
    ruleset = ruleset_with("three-box@1", purchase=None, windows=("options", "final_options"))
    table = exclusive(ruleset, NOTHING, ante(1))
    table.when(c.Proceed(at(21))).refused("nothing_to_do")
    assert isinstance(table.settle()[-1], e.RoundSettled)


# the decision: one a box, final


def offered() -> Scripted:
    """p1 in boxes 2 and 3, p2 in box 2, the window open since second 21."""
    table = live(p1=0, p2=300)
    table.now = at(21)
    table.proceed()
    return table


def test_a_purchase_costs_one_ante_of_its_box() -> None:
    table = offered()
    table.when(table.buy_command("p1", 2)).then(e.PurchaseMade("p1", 2, 100, "p1.2.purchase.0", at(21)))
    table.when(table.buy_command("p1", 3)).then(e.PurchaseMade("p1", 3, 150, "p1.3.purchase.0", at(21)))


def test_a_box_may_decline() -> None:
    table = offered()
    table.when(c.DeclinePurchase("p1", 2, at(22))).then(e.PurchaseDeclined("p1", 2, "player", at(22)))


@pytest.mark.parametrize("bought", [False, True])
def test_one_decision_a_box(*, bought: bool) -> None:
    table = offered()
    if bought:
        table.buy("p1", 2)
    else:
        table.decline("p1", 2)
    table.when(table.buy_command("p1", 2, again=1)).refused("already_decided", box=2)
    table.when(c.DeclinePurchase("p1", 2, at(22))).refused("already_decided", box=2)
    table.buy("p1", 3).buy("p2", 2)


def test_a_box_that_was_not_offered_it_may_not_buy() -> None:
    table = offered()
    table.when(table.buy_command("p1", 1)).refused("purchase_not_offered", box=1)
    table.when(c.DeclinePurchase("p1", 1, at(22))).refused("purchase_not_offered", box=1)
    table.when(table.buy_command("p3", 2)).refused("no_such_box", box=2)


def test_a_purchase_needs_a_bet_id_of_its_own() -> None:
    table = offered()
    table.when(replace(table.buy_command("p1", 2), bet_id="bet-1")).refused("bet_id_used")
    table.when(replace(table.buy_command("p1", 2), funds="not_asked")).refused("money_not_held")


@pytest.mark.parametrize(
    ("funds", "reason"), [("refused", "funds_refused"), ("unavailable", "wallet_unavailable")]
)
def test_a_purchase_without_money_is_unmade_and_may_be_made_again(funds: c.Funds, reason: str) -> None:
    table = offered()
    command = replace(table.buy_command("p1", 3), funds=funds)
    stakes = (e.DeclinedStake(3, "purchase_fee", 150),)
    table.when(command).then(
        e.BetDeclined("p1", "EUR", "p1.3.purchase.0", stakes, reason, at(21), "MakePurchase")
    )
    table.do(command)
    table.when(table.buy_command("p1", 3, again=1)).then(
        e.PurchaseMade("p1", 3, 150, "p1.3.purchase.1", at(21))
    )


def test_a_box_that_bought_does_not_buy_again_after_the_window() -> None:
    table = offered().buy("p1", 2)
    table.close_purchase()
    for arrived_at in (at(22), at(40)):
        again = replace(table.buy_command("p1", 2, again=1), arrived_at=arrived_at)
        table.when(again).refused("already_decided", box=2)
        table.when(c.DeclinePurchase("p1", 2, arrived_at)).refused("already_decided", box=2)


def test_after_twenty_declined_wagers_the_wallet_is_not_asked_for_a_purchase() -> None:
    table = offered()
    for number in range(20):
        table.do(replace(table.buy_command("p1", 2, again=number), funds="refused"))
    more = table.buy_command("p1", 2, again=20)
    table.when(replace(more, funds="not_asked")).refused("too_many_declined")
    table.when(replace(more, arrived_at=at(31))).refused("window_closed")
    table.when(c.DeclinePurchase("p1", 2, at(22))).then(e.PurchaseDeclined("p1", 2, "player", at(22)))
    table.when(table.buy_command("p2", 2)).then(e.PurchaseMade("p2", 2, 100, "p2.2.purchase.0", at(21)))


def test_the_window_closes_early_when_every_asked_box_has_decided() -> None:
    table = offered().buy("p1", 2).decline("p1", 3)
    table.when(c.ClosePurchase(at(22))).refused("window_still_open", closes_at=at(31))
    table.decline("p2", 2)
    table.when(c.ClosePurchase(at(22))).then(e.PurchaseClosed(at(22)))


def test_the_platform_never_buys() -> None:
    table = offered().buy("p1", 3)
    table.when(c.ClosePurchase(at(30, 999))).refused("window_still_open", closes_at=at(31))
    table.when(c.ClosePurchase(at(31))).then(
        e.PurchaseDeclined("p1", 2, "platform"),
        e.PurchaseDeclined("p2", 2, "platform"),
        e.PurchaseClosed(at(31)),
    )


@pytest.mark.parametrize("seconds", [31, 32])
def test_a_purchase_at_the_cut_off_or_later_is_declined(seconds: int) -> None:
    table = offered()
    late = replace(table.buy_command("p1", 2), arrived_at=at(seconds))
    stakes = (e.DeclinedStake(2, "purchase_fee", 100),)
    declined = e.BetDeclined(
        "p1", "EUR", "p1.2.purchase.0", stakes, "window_closed", at(seconds), "MakePurchase"
    )
    table.when(late).then(declined)
    table.when(c.DeclinePurchase("p1", 2, at(seconds))).refused("window_closed", box=2)
    table.close_purchase()
    table.when(replace(late, funds="not_asked")).then(declined)
    table.when(replace(late, arrived_at=at(30))).then(
        replace(declined, arrived_at=at(30), reason="hold_answered_late")
    )


def test_nothing_is_bought_before_the_dealers_hand_is_open() -> None:
    table = Scripted("live-shared@1", LIVE).open().place("p1", ante(2)).deal()
    table.when(table.buy_command("p1", 2)).refused("window_not_open", box=2)
    table.when(c.ClosePurchase(at(40))).refused("window_not_open")


def test_without_a_purchase_the_dealer_draws_no_card() -> None:
    table = offered()
    table.close_purchase()
    assert table.awaited() == ()
    table.when(c.Proceed(table.now)).refused("nothing_to_do")
    table.when(table.scan_command("Ac", "scan-1")).refused("no_card_awaited")
    assert isinstance(table.settle()[-1], e.RoundSettled)
    assert not [event for event in table.events if isinstance(event, e.DealerRequalified)]


def test_money_moves_only_when_the_round_settles() -> None:
    table = offered().buy("p2", 2)
    table.close_purchase()
    table.when(c.Settle()).refused("round_not_decided")
    table.lay()
    table.when(c.Settle()).refused("round_not_decided")
    table.confirm()
    assert not [event for event in table.events if isinstance(event, e.PlayerSettled)]
    assert isinstance(table.settle()[-1], e.RoundSettled)


OPTIONS: tuple[DecidedOption | None, ...] = ("bet", "sixth", None)


@pytest.mark.parametrize("kind", OPTIONS)
def test_an_open_box_may_buy_whatever_its_option_was(kind: DecidedOption | None) -> None:
    table = Scripted("three-box@1", TRIPS).open().place("p1", ante(1)).deal()
    if kind:
        table.option("p1", 1, kind)
    table.close_options()
    if table.awaited():
        table.lay()
        table.confirm()
    else:
        table.proceed()
    table.close_finals()
    table.proceed()
    assert asked(table) == (e.BoxPlayers(1, ("p1",)),)
