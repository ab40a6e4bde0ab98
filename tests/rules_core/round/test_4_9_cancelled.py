"""RULES.md 4.9 and 7: a round is cancelled in any step before its settlement, and everything is opened."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rules_core.round import commands as c
from rules_core.round import events as e
from tests.rules_core.round.scripted import Scripted, ante, at, bonus_b
from tests.rules_core.round.settled_table import decided

SHARED = {"box.2": "9s 9h 9d 4c 2d", "box.1": "Th 9c 7d 6s 2h", "dealer": "Qs Jd 8h 5c 3d", "draw": "Qc"}


def shared_betting() -> Scripted:
    return Scripted("live-shared@1", SHARED).open().place("p1", ante(2), bonus_b(2, 50), ante(1, blind=True))


def shared_closed() -> Scripted:
    return shared_betting().close_betting()


def shared_half_dealt() -> Scripted:
    return shared_closed().lay(6)


def shared_dealt() -> Scripted:
    return shared_closed().lay()


def shared_options() -> Scripted:
    table = shared_dealt()
    table.confirm()
    return table


def shared_replace() -> Scripted:
    table = shared_options().option("p1", 2, "sixth")
    table.close_options()
    return table.lay(2)


def shared_finals() -> Scripted:
    table = shared_replace().lay()
    table.confirm()
    return table


def shared_next() -> Scripted:
    table = shared_finals().final("p1", 2, "bet", 300)
    table.close_finals()
    return table


def shared_revealed() -> Scripted:
    table = shared_next()
    table.proceed()
    return table


def shared_purchase() -> Scripted:
    table = shared_revealed()
    table.proceed()
    return table


def shared_draw() -> Scripted:
    table = shared_purchase().buy("p1", 2)
    table.close_purchase()
    return table


def shared_decided() -> Scripted:
    table = shared_draw().lay()
    table.confirm()
    return table


BOXES = ("box.1", "box.3", "dealer")
SHARED_STEPS: list[tuple[Callable[[], Scripted], str, tuple[str, ...]]] = [
    # how far, the step's name, what still lies face down
    (shared_betting, "betting", ()),
    (shared_closed, "deal", ()),
    (shared_half_dealt, "deal", BOXES),
    (shared_dealt, "deal", BOXES),
    (shared_options, "options", BOXES),
    (shared_replace, "replace", (*BOXES, "switch")),
    (shared_finals, "final_options", (*BOXES, "switch")),
    (shared_next, "next", (*BOXES, "switch")),
    (shared_revealed, "revealed", ("switch",)),
    (shared_purchase, "purchase", ("switch",)),
    (shared_draw, "draw", ("switch",)),
    (shared_decided, "decided", ("switch",)),
]
CANCEL = c.CancelRound("dealer_mistake", "staff:s1")


@pytest.mark.parametrize(
    ("reach", "step", "hidden"), SHARED_STEPS, ids=[f.__name__ for f, _, _ in SHARED_STEPS]
)
def test_a_shared_round_is_cancelled_in_every_step(
    reach: Callable[[], Scripted], step: str, hidden: tuple[str, ...]
) -> None:
    table = reach()
    assert table.state.step == step
    openings = table.openings(*hidden)
    opened = (e.CardsRevealed(openings, final=True),) if openings else ()
    table.when(CANCEL).then(*opened, e.RoundCancelled("dealer_mistake"))
    table.do(CANCEL)
    assert (table.state.step, table.state.window) == ("cancelled", None)
    assert (table.awaited(), table.state.undecided) == ((), {})


PRIVATE = {
    "box.1": "9s 9h 9d 4c 2d",
    "box.3": "As Kh 7d 5s 2h",
    "dealer": "Qs Jd 8h 5c 3d",
    "replacement.1": "Td 6c",
}


def private_options() -> Scripted:
    return Scripted("four-box@1", PRIVATE).open().place("p1", ante(1), ante(3, blind=True)).deal()


def private_replace() -> Scripted:
    table = private_options().option("p1", 1, "exchange", 3, 4)
    table.close_options()
    return table.lay(1)


def private_finals() -> Scripted:
    table = private_replace().lay()
    table.confirm()
    return table


def private_revealed_after_fold() -> Scripted:
    table = private_finals().final("p1", 1, "fold")
    table.close_finals()
    table.proceed()
    return table


PRIVATE_STEPS: list[tuple[Callable[[], Scripted], tuple[str, ...]]] = [
    (private_options, ("box.1", "box.3", "dealer")),
    (private_replace, ("box.1", "box.3", "dealer", "replacement.1")),
    (private_finals, ("box.1", "box.3", "dealer", "replacement.1")),
    (private_revealed_after_fold, ("box.1", "replacement.1")),
]


@pytest.mark.parametrize(("reach", "hidden"), PRIVATE_STEPS, ids=[f.__name__ for f, _ in PRIVATE_STEPS])
def test_a_private_round_is_cancelled_with_all_that_is_hidden_opened(
    reach: Callable[[], Scripted], hidden: tuple[str, ...]
) -> None:
    table = reach()
    table.when(CANCEL).then(
        e.CardsRevealed(table.openings(*hidden), final=True), e.RoundCancelled("dealer_mistake")
    )


def test_nothing_to_cancel_before_the_round_opens() -> None:
    Scripted("live-shared@1").when(CANCEL).refused("round_not_open")


def test_a_round_that_is_being_settled_or_is_settled_is_not_cancelled_whatever_had_been_lost() -> None:
    table = decided()
    table.settle(1)
    table.when(CANCEL).refused("round_ended")
    table.settle()
    table.when(CANCEL).refused("round_ended")


def test_a_round_is_cancelled_once() -> None:
    table = shared_options()
    table.do(CANCEL)
    table.when(CANCEL).refused("round_ended")


def test_nothing_but_bet_declined_follows_a_cancellation() -> None:
    table = shared_options()
    table.do(CANCEL)
    late = c.ChooseOption("p1", 2, "bet", at(40), (), "late-1")
    stakes = (e.DeclinedStake(2, "bet", 200),)
    table.when(late).then(
        e.BetDeclined("p1", "EUR", "late-1", stakes, "window_closed", at(40), "ChooseOption", "bet")
    )
    for command, code in (
        (c.CloseOptions(at(50)), "window_not_open"),
        (c.Proceed(at(50)), "nothing_to_do"),
        (c.Settle(), "round_ended"),
        (table.scan_command("Ac", "scan-1"), "no_card_awaited"),
        (c.BurnCard("burn-1"), "no_cards_dealt_now"),
        (c.Resettle("wrong_result", "staff:a", "staff:b", refund=True), "round_not_settled"),
        (c.ExtendWindow(at(50), 1_000, "floor"), "window_not_open"),
        (table.open_command(), "round_already_open"),
    ):
        table.when(command).refused(code)


def test_a_choice_in_time_whose_money_came_after_the_cancellation_is_declined_for_that() -> None:
    table = shared_options()
    table.do(CANCEL)
    stakes = (e.DeclinedStake(2, "bet", 200),)
    table.when(table.option_command("p1", 2, "bet")).then(
        e.BetDeclined(
            "p1", "EUR", "p1.2.option.0", stakes, "hold_answered_late", at(15), "ChooseOption", "bet"
        )
    )


@pytest.mark.parametrize(
    "reason",
    [
        "hidden_card_exposed",
        "wrong_card_read",
        "extra_card_dealt",
        "table_cleared_early",
        "card_dropped",
        "dealer_mistake",
        "technical_failure",
    ],
)
def test_the_reasons_of_a_cancellation(reason: str) -> None:
    shared_betting().when(c.CancelRound(reason, "staff:s1")).then(e.RoundCancelled(reason))


@pytest.mark.parametrize("reason", ["wrong_result", "", "bored", "Dealer_Mistake"])
def test_any_other_reason_is_refused(reason: str) -> None:
    shared_betting().when(c.CancelRound(reason, "staff:s1")).refused("reason_unknown", reason=reason)
