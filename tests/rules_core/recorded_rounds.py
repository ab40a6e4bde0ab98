"""Rounds with every mishap and every kind of refused money, each step as commanded and as recorded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from rules_core.cards import parse_card
from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.limits import AmountRange, BoxLimits
from rules_core.rulesets.shipped import shipped
from tests.rules_core.recording import Recording
from tests.rules_core.round.scripted import DEALER, ante, bonus_b, bonus_d, limits_for, salt_of

TRIPS = "9s 9h 9d 4c 2d"
NOTHING = "Ks Jh 9d 4c 2d"
NO_GAME = "Qs Jd 8h 5c 3d"


def _shared(cards: dict[str, str] | None = None) -> Recording:
    return Recording("live-shared@1", cards or {"box.2": TRIPS, "dealer": NO_GAME, "draw": "8s"})


def betting_window() -> Recording:
    """An empty window, then every kind of bet, change and refusal, and a cancellation before the deal."""
    table = _shared()
    table.open().close_betting()
    table.do(c.ExtendWindow(table.now, 2_000, "fail_over"))
    table.do(c.ExtendWindow(table.now, 1_000, "floor", "staff:floor-1"))
    full = (ante(2), bonus_b(2, 50), bonus_d(2, 150), ante(1, 200, blind=True))
    table.place("p1", *full)
    table.tick()
    table.do(c.DoubleBets("p1", "double-1", table.now))
    table.do(c.WithdrawBet("p1", 2, "bonus_player", table.now))
    table.do(c.UndoBet("p1", table.now))
    table.do(c.WithdrawBet("p1", 1, "ante", table.now))
    table.place("p2", ante(3, 100, blind=True, funding="freebet-7"), bonus_b(3, 100, blind=True))
    table.do(c.RepeatBets("p3", "EUR", "repeat-1", full, table.now))
    table.do(c.ClearBets("p3", table.now))
    table.declined(table.place_command("p4", *full), "refused", "unavailable")
    table.declined(c.RepeatBets("p4", "EUR", "", full, table.now), "refused", "unavailable")
    table.declined(c.DoubleBets("p1", "", table.now), "refused", "unavailable")
    early = table.now
    table.do(c.DeclineBet("p5", None, "late-1", (_declined("ante"),), "hold_answered_late", table.now))
    table.close_betting()
    late = table.place_command("p6", ante(2, funding="freebet-8"))
    table.declined(late, "held", "not_asked", "refused")
    table.declined(replace(late, arrived_at=early), "held")
    table.declined(c.RepeatBets("p6", "EUR", "", full, table.now), "held")
    table.declined(c.DoubleBets("p1", "", table.now), "held")
    table.declined(c.DoubleBets("p1", "", early), "held")
    table.do(c.CancelRound("technical_failure", "system"))
    return table


def _declined(wager: str, amount: int = 100) -> e.DeclinedStake:
    return e.DeclinedStake(2, wager, amount)  # type: ignore[arg-type]  # the callers' literals


def shared_round() -> Recording:
    """All choices of a shared table: refused money, late ones, the platform's, a purchase."""
    table = _shared()
    table.open()
    for number in range(1, 9):
        table.place(f"p{number}", ante(2), bonus_d(2, 50))
    table.place("p1", ante(1, blind=True), bonus_b(1, 50, blind=True))
    table.deal()
    table.tick()
    table.do(c.ExtendWindow(table.now, 5_000, "floor", "staff:floor-1"))
    early = table.now
    table.declined(table.option_command("p1", 2, "bet"), "refused", "unavailable")
    table.declined(table.option_command("p1", 2, "sixth"), "refused")
    table.declined(table.option_command("p1", 2, "exchange", 4, 3), "unavailable")
    table.option("p1", 2, "exchange", 4, 3).option("p2", 2, "sixth").option("p3", 2, "bet")
    table.option("p7", 2, "bet").option("p8", 2, "fold")
    table.close_options()
    table.declined(table.option_command("p4", 2, "exchange", 0), "held")
    table.declined(replace(table.option_command("p4", 2, "sixth"), arrived_at=early), "held")
    table.lay()
    table.do(c.ConfirmCards(table.now, "system"))
    early = table.now
    table.declined(table.final_command("p1", 2, "bet", 150), "refused", "unavailable")
    table.declined(table.final_command("p3", 2, "stand", 150), "refused")
    table.final("p1", 2, "bet", 150).final("p2", 2, "fold").final("p3", 2, "stand", 150)
    table.close_finals((2, "p5", "refused"), (2, "p6", "unavailable"))
    table.declined(table.final_command("p4", 2, "bet"), "held", "not_asked")
    table.declined(replace(table.final_command("p7", 2, "stand", 100), arrived_at=early), "held")
    table.proceed()
    table.proceed()
    early = table.now
    table.do(c.ExtendWindow(table.now, 1_000, "fail_over"))
    table.declined(table.buy_command("p1", 2), "refused", "unavailable")
    table.buy("p1", 2).decline("p3", 2)
    table.close_purchase()
    table.declined(table.buy_command("p4", 2), "held")
    table.declined(replace(table.buy_command("p4", 2), arrived_at=early), "held")
    table.lay()
    table.confirm()
    table.settle()
    fee = (_declined("option_fee"), _declined("insurance"), _declined("purchase_fee"))
    table.do(c.DeclineBet("p1", "EUR", "late-2", fee, "hold_answered_late", table.now))
    return table


def quiet_shared_round() -> Recording:
    """Nobody decides, and the dealer has a game: the platform's folds, and a bet that stands."""
    cards = {"dealer": "As Kd 8h 5c 3d", "switch": "7s 7c 6h 6s Th", "box.3": "Ac Kh 8d 5s 3c"}
    table = _shared({**cards, "box.2": NOTHING})
    table.open().place("p1", ante(2)).place("p2", ante(2)).place("p3", ante(3, blind=True))
    table.deal()
    table.option("p2", 2, "bet")
    table.close_options()
    table.lay()
    table.confirm()
    table.close_finals()
    table.proceed()
    table.settle()
    return table


def misread_cards() -> Recording:
    """Cards read again, face up and face down, and cards burned, read and not."""
    cards = {"box.2": TRIPS, "dealer": NO_GAME, "box.1": "2c 3s 4s 5s 7h", "draw": "8s"}
    table = _shared({**cards, "spare": "Tc Td 2h 2s 9c Jh Th 6s"})
    table.open().place("p1", ante(2), ante(1, blind=True)).close_betting()
    table.lay(5)
    table.do(c.BurnCard("burned-1", parse_card("Tc"), DEALER))
    table.do(c.BurnCard("burned-2", None, DEALER))
    table.do(c.BurnCard("burned-3", parse_card("Td")))
    table.do(table.rescan_command("box.1.0", "2h"))
    table.do(
        replace(table.rescan_command("box.1.0", "2s"), scan_id="once-more", card_salt=salt_of("once-more"))
    )
    table.do(table.rescan_command("box.2.0", "9c"))
    table.do(c.RescanCard("by-hand", "box.2.0", parse_card("9s"), None, "manual", DEALER))
    table.lay()
    table.do(replace(table.rescan_command("dealer.1", "Jh"), by="system"))
    table.confirm()
    table.option("p1", 2, "sixth")
    table.close_options()
    table.lay()
    table.do(table.rescan_command("switch.4", "Th"))
    table.confirm()
    table.final("p1", 2, "bet")
    table.close_finals()
    table.proceed()
    table.proceed()
    table.buy("p1", 2)
    table.close_purchase()
    table.lay()
    table.do(table.rescan_command("draw.0", "6s"))
    table.confirm()
    table.settle()
    return table


def round_by_hand() -> Recording:
    """Manual mode to the end: hidden cards are read when they open, and nothing proves them."""
    table = _shared()
    table.open().place("p1", ante(2), ante(1, blind=True), ante(3, blind=True))
    table.close_betting()
    table.lay_by_hand()
    table.confirm()
    table.option("p1", 2, "exchange", 3, 4)
    table.close_options()
    table.lay_by_hand()
    table.confirm()
    table.final("p1", 2, "bet")
    table.close_finals()
    table.do(c.Proceed(table.now, table.unread("box.", "dealer.")))
    _purchase(table, 2)
    return table


def _purchase(table: Recording, box: int) -> None:
    """Buy the dealer's exchange for a box of p1, and settle."""
    table.proceed()
    table.buy("p1", box)
    table.close_purchase()
    table.lay_by_hand() if table.state.unread else table.lay()
    table.confirm()
    table.settle()


def only_blind_boxes_by_hand() -> Recording:
    """Manual mode without an open box: the deal's confirmation opens everything."""
    table = _shared({"dealer": "As Kd 8h 5c 3d"})
    table.open().place("p1", ante(3, blind=True)).close_betting()
    table.lay_by_hand()
    table.do(c.ConfirmCards(table.now, DEALER, table.unread("box.", "dealer.")))
    table.settle()
    return table


def cancelled_by_hand() -> Recording:
    """Manual mode, cancelled: some hidden cards are read out, the rest never."""
    table = _shared()
    table.open().place("p1", ante(2)).close_betting()
    table.lay_by_hand()
    table.do(c.CancelRound("dealer_mistake", "dealer:d1", table.unread("box.1", "dealer.0")))
    return table


def cancelled_unread() -> Recording:
    """Manual mode, cancelled, and nobody reads anything."""
    table = _shared()
    table.open().place("p1", ante(2)).close_betting()
    table.lay_by_hand()
    table.do(c.CancelRound("card_dropped", "staff:manager-1"))
    return table


def cancelled_private() -> Recording:
    """A private table, cancelled in the middle of the deal, after a misread."""
    table = Recording("four-box@1")
    table.open().place("p1", ante(1), ante(3, blind=True)).close_betting()
    table.lay(4)
    table.do(replace(table.scan_command(), by="system"))
    table.do(table.rescan_command("box.3.0", "Th"))
    table.do(c.CancelRound("wrong_card_read", "staff:manager-1"))
    return table


def private_round() -> Recording:
    """A private table with free bets and jackpots: box after box, a passed one, a folded one, a blind one."""
    cards = {
        "box.1": "As Ks Qs Js Ts",
        "box.2": "Qh Jh 9h 4c 2c",
        "box.3": "7s 7h 7d 4h 2d",
        "box.4": "6s 6h 6d 3h 2h",
        "box.5": "Ac Kc 9c 5h 2s",
        "dealer": "Qd Jd 8h 5c 3d",
        "replacement.3": "Kh Th",
        "draw": "9s",
    }
    limits = replace(limits_for(shipped("dark-boxes@1")), bonus_player=AmountRange(100, 100))
    table = Recording("dark-boxes@1", cards, limits=limits)
    table.open()
    table.place("p1", ante(1, funding="freebet-1"), bonus_b(1, 100, funding="freebet-2"), ante(2))
    table.place("p2", ante(3), bonus_b(3, 100), ante(4))
    table.place("p3", ante(5, blind=True))
    table.deal()
    table.option("p1", 1, "bet")
    table.close_options()
    table.proceed()
    table.close_finals()
    table.proceed()
    table.option("p1", 2, "fold")
    table.close_options()
    table.proceed()
    table.option("p2", 3, "exchange", 4, 3)
    table.close_options()
    table.lay()
    table.confirm()
    table.final("p2", 3, "bet", 100)
    table.close_finals()
    table.proceed()
    table.do(c.ExtendWindow(table.now, 3_000, "fail_over"))
    table.close_options()
    table.proceed()
    table.do(c.ExtendWindow(table.now, 4_000, "floor", "staff:floor-2"))
    table.close_finals()
    table.proceed()
    table.proceed()
    table.buy("p2", 3).decline("p1", 1)
    table.close_purchase()
    table.lay()
    table.confirm()
    table.settle()
    return table


def everything_blind_and_private() -> Recording:
    """Only blind boxes at a private table, redrawn: the confirmation of the deal opens the dealer's hand."""
    cards = {"dealer": NO_GAME, "draw": "Qh Qd 4d 2h", "box.1": TRIPS}
    table = Recording("classic@1", cards)
    table.open().place("p1", ante(1), ante(2), ante(3, blind=True))
    table.deal()
    table.option("p1", 1, "fold")
    table.close_options()
    table.proceed()
    table.option("p1", 2, "fold")
    table.close_options()
    table.proceed()
    _purchase(table, 3)
    return table


def own_limits() -> Recording:
    """Two currencies, boxes with limits of their own, every cap; cancelled before anyone bets."""
    ruleset = shipped("live-shared@1")
    euros = replace(
        limits_for(ruleset),
        insurance_max=1_000,
        max_payout=100_000,
        player_total_max=20_000,
        boxes=(
            BoxLimits(1, AmountRange(200, 300), 50_000),
            BoxLimits(2, AmountRange(300, 400)),
            BoxLimits(3),
        ),
    )
    dollars = replace(limits_for(ruleset, "USD"), bonus_player=None, bonus_dealer=None)
    table = Recording(ruleset, limits=(euros, dollars))
    table.do(replace(table.open_command(), deck=None, by="staff:floor-1"))
    table.do(c.CancelRound("table_cleared_early", "staff:manager-1"))
    return table


def corrected_round() -> Recording:
    """A settled round corrected four times: a card, choices, one that changes nothing, all wagers back."""
    table = shared_round()
    people = ("staff:manager-1", "staff:manager-2")
    card = (e.CardCorrection("box.2.3", "Kc"),)
    table.do(c.Resettle("wrong_card_read", *people, cards=card))
    choices = (
        e.ChoiceCorrection(2, "p2", "exchange", (0, 4), "bet"),
        e.ChoiceCorrection(2, "p1", insurance=200),
        e.ChoiceCorrection(2, "p3", purchase=True),
        e.ChoiceCorrection(2, "p4", purchase=False),
    )
    table.do(c.Resettle("dealer_mistake", *people, choices=choices))
    table.do(c.Resettle("dealer_mistake", *people, choices=(e.ChoiceCorrection(2, "p3", insurance=150),)))
    table.do(c.Resettle("wrong_result", *people, refund=True))
    return table


def corrected_options() -> Recording:
    """A settled round whose first choices were recorded wrongly, one correction for each."""
    table = shared_round()
    for choice in (
        e.ChoiceCorrection(2, "p3", "sixth", final="bet", purchase=False),
        e.ChoiceCorrection(2, "p8", "bet", final="bet"),
        e.ChoiceCorrection(2, "p7", "fold", purchase=False),
        e.ChoiceCorrection(2, "p1", "none", final="fold", insurance=0, purchase=False),
    ):
        table.do(c.Resettle("dealer_mistake", "staff:manager-1", "staff:manager-2", choices=(choice,)))
    return table


def corrected_without_purchase() -> Recording:
    """The dealer's game was none, but nobody was asked to buy."""
    table = quiet_shared_round()
    card = (e.CardCorrection("dealer.1", "Qd"),)
    table.do(c.Resettle("wrong_card_read", "staff:manager-1", "staff:manager-2", cards=card))
    return table


ROUNDS: dict[str, Callable[[], Recording]] = {
    make.__name__: make
    for make in (
        betting_window,
        shared_round,
        quiet_shared_round,
        misread_cards,
        round_by_hand,
        only_blind_boxes_by_hand,
        cancelled_by_hand,
        cancelled_unread,
        cancelled_private,
        private_round,
        everything_blind_and_private,
        own_limits,
        corrected_round,
        corrected_options,
        corrected_without_purchase,
    )
}
