"""Commands of every kind, at a time that is right for them or not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, get_args

from rules_core.cards import card_text
from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.decide.ending import CANCEL_REASONS
from rules_core.round.events.fields import DecidedOption, FeeName, FinalChoice
from rules_core.round.limits import MAX_AMOUNT, AmountRange
from tests.rules_core.stateful import arguments as a
from tests.rules_core.stateful.choices import Choices, chance, pick, some
from tests.rules_core.stateful.sensible import PLAYERS
from tests.rules_core.stateful.table import Table

REASONS = (*CANCEL_REASONS, "wrong_result")
FEES = get_args(FeeName)
DECLINED_FOR = ("hold_answered_late", "above_maximum", "betting_closed", "wallet_unavailable")


def open_round(choices: Choices, table: Table) -> c.Command:
    """The round opened, again or wrongly."""
    good = table.open_command()
    limits = good.limits[0]
    high = AmountRange(limits.chip, MAX_AMOUNT // limits.chip * limits.chip)
    wrong: tuple[dict[str, Any], ...] = (
        {},
        {"at": pick(choices, a.NO_INSTANTS)},
        {"ruleset": "classic@2"},
        {"ruleset_sha256": "0" * 64},
        {"engine": 0},
        {"number": 0},
        {"limits": ()},
        {"limits": (limits, limits)},
        {"limits": (replace(limits, chip=7),)},
        {"limits": (replace(limits, currency="eur"),)},
        {"limits": (replace(limits, ante=AmountRange(0, 100)),)},
        {"limits": (replace(limits, ante=high),)},
        {"limits": (replace(limits, max_payout=-1),)},
        {"durations": replace(good.durations, betting_ms=0)},
        {"durations": replace(good.durations, extension_max_ms=-1)},
    )
    return replace(good, **pick(choices, wrong))


def place_bet(choices: Choices, table: Table) -> c.PlaceBet:
    """A bet."""
    who = a.player(choices, table)
    limits = a.limits_of(choices, table, who)
    currency = "XXX" if a.odd(choices) else limits.currency
    placements, own_id = a.placements(choices, table, limits, who), a.a_bet_id(choices, table)
    return c.PlaceBet(who, currency, own_id, placements, a.instant(choices, table), a.funds(choices))


def repeat_bets(choices: Choices, table: Table) -> c.Command:
    """The bets of an earlier round: those that somebody has now, or others."""
    bet = place_bet(choices, table)
    books = list(table.books.boxes.values())
    previous = bet.placements
    if books and not a.odd(choices):
        who = pick(choices, books).player
        own = [book for book in books if book.player == who]
        previous = tuple(
            c.Placement(book.box, wager, book.stakes[wager], book.blind)
            for book in own
            for wager in a.WAGERS
            if book.stakes[wager]
        )
    who = pick(choices, PLAYERS)
    return c.RepeatBets(who, bet.currency, bet.bet_id, previous, bet.arrived_at, bet.funds)


def double_bets(choices: Choices, table: Table) -> c.Command:
    """Somebody doubles."""
    who, own_id = a.player(choices, table), a.a_bet_id(choices, table)
    return c.DoubleBets(who, own_id, a.instant(choices, table), a.funds(choices))


def withdraw_bet(choices: Choices, table: Table) -> c.Command:
    """Somebody takes a wager back: one that is there, or not."""
    where, who = a.hand(choices, table)
    return c.WithdrawBet(who, where, pick(choices, a.WAGERS), a.instant(choices, table))


def undo_bet(choices: Choices, table: Table) -> c.Command:
    """Somebody undoes."""
    return c.UndoBet(a.player(choices, table), a.instant(choices, table))


def clear_bets(choices: Choices, table: Table) -> c.Command:
    """Somebody clears."""
    return c.ClearBets(a.player(choices, table), a.instant(choices, table))


def decline_bet(choices: Choices, table: Table) -> c.Command:
    """A hold without a stake is refused."""
    who = a.player(choices, table)
    limits = a.limits_of(choices, table, who)
    where, wager = a.box(choices, table), pick(choices, FEES)
    stake = e.DeclinedStake(where, wager, a.amount(choices, limits, limits.ante))
    stakes = () if a.odd(choices) else (stake,) * choices.whole(1, 2)
    currency, own_id = pick(choices, (limits.currency, None)), a.a_bet_id(choices, table)
    reason, when = pick(choices, DECLINED_FOR), a.instant(choices, table)
    return c.DeclineBet(who, currency, own_id, stakes, reason, when)


def close_window(choices: Choices, table: Table) -> c.Command:
    """The open window closed, or another; in time, or too early."""
    window = table.state.window
    kinds = ("betting", "options", "final_options", "purchase")
    kind = pick(choices, kinds) if window is None or a.odd(choices) else window.kind
    when = a.instant(choices, table)
    if window is not None and chance(choices, 50):
        when = window.closes_at
    if kind == "final_options":
        hands = [*table.state.undecided, (1, "nobody")] if a.odd(choices) else [*table.state.undecided]
        why: tuple[c.Unfunded, ...] = ("refused", "unavailable")
        unfunded = tuple((*hand, pick(choices, why)) for hand in some(choices, hands, 0, 2))
        return c.CloseFinalOptions(when, unfunded)
    closings: dict[str, Callable[[str], c.Command]] = {
        "betting": c.CloseBetting,
        "options": c.CloseOptions,
        "purchase": c.ClosePurchase,
    }
    return closings[kind](when)


def scan_card(choices: Choices, table: Table) -> c.Command:
    """The next card, as it should be read or otherwise."""
    source, place = a.source(choices, table), (*table.state.awaited, "dealer.0")[0]
    read = source == "shoe" or place.startswith("switch.") or not table.laid.face_down(place)
    found = a.card(choices, table) if read != a.odd(choices) else None
    by, own_id = a.by(choices), a.a_scan_id(choices, table)
    return c.ScanCard(own_id, found, a.salt(choices, table), source, by)


def rescan_card(choices: Choices, table: Table) -> c.Command:
    """A card read again: one that is not confirmed, or another."""
    laid = table.state.laid
    place = (
        pick(choices, laid) if laid and not a.odd(choices) else pick(choices, (*table.laid.truth, *a.PLACES))
    )
    found, salt, by = a.card(choices, table), a.salt(choices, table), a.by(choices)
    return c.RescanCard(a.a_scan_id(choices, table), place, found, salt, a.source(choices, table), by)


def burn_card(choices: Choices, table: Table) -> c.Command:
    """A card put aside, read or not."""
    found = pick(choices, (a.card(choices, table), None))
    return c.BurnCard(a.a_scan_id(choices, table), found, a.by(choices))


def confirm_cards(choices: Choices, table: Table) -> c.Command:
    """Cards confirmed, perhaps with cards named."""
    when, by = a.instant(choices, table), a.by(choices)
    return c.ConfirmCards(when, by, a.named_cards(choices, table))


def proceed(choices: Choices, table: Table) -> c.Command:
    """The round's own step, perhaps with cards named."""
    return c.Proceed(a.instant(choices, table), a.named_cards(choices, table))


def choose_option(choices: Choices, table: Table) -> c.Command:
    """An option of a box."""
    where, who = a.hand(choices, table)
    kind: DecidedOption = pick(choices, get_args(DecidedOption))
    positions = a.positions(choices, table) if (kind == "exchange") != a.odd(choices) else ()
    own_id = None if a.odd(choices) else a.a_bet_id(choices, table)
    when, funds = a.instant(choices, table), a.funds(choices)
    return c.ChooseOption(who, where, kind, when, positions, own_id, funds)


def choose_final_option(choices: Choices, table: Table) -> c.Command:
    """A final option of a box, with insurance or not."""
    where, who = a.hand(choices, table)
    choice: FinalChoice = pick(choices, get_args(FinalChoice))
    own_id = None if a.odd(choices) else a.a_bet_id(choices, table)
    insurance = a.insurance(choices, table, where, who)
    when, funds = a.instant(choices, table), a.funds(choices)
    return c.ChooseFinalOption(who, where, choice, when, insurance, own_id, funds)


def make_purchase(choices: Choices, table: Table) -> c.Command:
    """Somebody buys."""
    where, who = a.hand(choices, table)
    own_id, when = a.a_bet_id(choices, table), a.instant(choices, table)
    return c.MakePurchase(who, where, own_id, when, a.funds(choices))


def decline_purchase(choices: Choices, table: Table) -> c.Command:
    """Somebody does not buy."""
    where, who = a.hand(choices, table)
    return c.DeclinePurchase(who, where, a.instant(choices, table))


def extend_window(choices: Choices, table: Table) -> c.Command:
    """The open window kept open for longer, or by nothing, or by too much."""
    reason: c.ExtensionReason = pick(choices, ("fail_over", "floor"))
    extend_ms = pick(choices, (60_001, 0, -1)) if a.odd(choices) else pick(choices, (1, 5_000, 30_000))
    return c.ExtendWindow(a.instant(choices, table), extend_ms, reason, a.by(choices))


def settle(choices: Choices, _: Table) -> c.Command:
    """A chunk of the settlement, or what is none."""
    most = c.SETTLE_CHUNK_MAX
    return c.Settle(pick(choices, (0, most + 1)) if a.odd(choices) else pick(choices, (1, 2, most)))


def cancel_round(choices: Choices, table: Table) -> c.Command:
    """The round cancelled, for a reason or none."""
    reason = pick(choices, ("no_reason", "wrong_result")) if a.odd(choices) else pick(choices, CANCEL_REASONS)
    return c.CancelRound(reason, a.by(choices), a.named_cards(choices, table))


def resettle(choices: Choices, table: Table) -> c.Command:
    """A correction: cards, choices, or all wagers back."""
    kind = pick(choices, ("cards", "choices", "both", "refund"))
    cards: tuple[e.CardCorrection, ...] = ()
    fixes: tuple[e.ChoiceCorrection, ...] = ()
    if kind in {"cards", "both"}:
        cards = tuple(card_correction(choices, table) for _ in range(choices.whole(1, 2)))
    if kind in {"choices", "both"}:
        fixes = tuple(choice_correction(choices, table) for _ in range(choices.whole(1, 2)))
    refund = (kind == "refund") != a.odd(choices)
    reason = pick(choices, REASONS if refund or a.odd(choices) else CANCEL_REASONS)
    people = pick(choices, (("staff:s1", "staff:s1"), ("dealer:d1", "staff:s2")))
    if not a.odd(choices):
        people = ("staff:s1", "staff:s2")
    limit = 0 if a.odd(choices) else pick(choices, (1, 2, c.SETTLE_CHUNK_MAX))
    return c.Resettle(reason, *people, refund, cards, fixes, limit)


def card_correction(choices: Choices, table: Table) -> e.CardCorrection:
    """Another card in a place where one lay, or in none."""
    places = list(table.laid.truth)
    place = pick(choices, a.PLACES) if a.odd(choices) or not places else pick(choices, places)
    return e.CardCorrection(place, "1x" if a.odd(choices) else card_text(a.card(choices, table)))


def choice_correction(choices: Choices, table: Table) -> e.ChoiceCorrection:
    """What a box is said to have done: one thing, or several."""
    where, who = a.hand(choices, table)
    what = [pick(choices, ("option", "final", "insurance", "purchase"))]
    if chance(choices, 30):
        what.append(pick(choices, ("option", "final", "insurance", "purchase")))
    option: Any = pick(choices, ("bet", "sixth", "exchange", "fold", "none")) if "option" in what else None
    final: Any = pick(choices, ("bet", "fold")) if "final" in what else None
    if a.odd(choices):
        option, final = pick(choices, (("raise", final), (option, "call"), (option, "stand")))
    positions = a.positions(choices, table) if (option == "exchange") != a.odd(choices) else ()
    amounts = (0, 100, 150, 200, 400, -1, MAX_AMOUNT)
    insurance = pick(choices, amounts) if "insurance" in what else None
    purchase = pick(choices, (True, False)) if "purchase" in what else None
    return e.ChoiceCorrection(where, who, option, positions, final, insurance, purchase)


Maker = Callable[[Choices, Table], c.Command]
MAKERS: tuple[Maker, ...] = (
    open_round,
    place_bet,
    repeat_bets,
    double_bets,
    withdraw_bet,
    undo_bet,
    clear_bets,
    decline_bet,
    close_window,
    scan_card,
    rescan_card,
    burn_card,
    confirm_cards,
    proceed,
    choose_option,
    choose_final_option,
    make_purchase,
    decline_purchase,
    extend_window,
    settle,
    cancel_round,
    resettle,
)
AFTER_SCANS: tuple[Maker, ...] = (rescan_card, rescan_card, scan_card, burn_card, confirm_cards)
IN_PLACE: dict[str, tuple[Maker, ...]] = {
    "new": (open_round,),
    "betting": (
        place_bet,
        repeat_bets,
        double_bets,
        withdraw_bet,
        undo_bet,
        clear_bets,
        close_window,
        extend_window,
    ),
    "deal": AFTER_SCANS,
    "options": (choose_option, choose_option, choose_option, close_window, extend_window),
    "replace": AFTER_SCANS,
    "next": (proceed, burn_card),
    "final_options": (
        choose_final_option,
        choose_final_option,
        choose_final_option,
        close_window,
        extend_window,
    ),
    "revealed": (proceed, settle, burn_card),
    "purchase": (make_purchase, decline_purchase, close_window, extend_window),
    "draw": AFTER_SCANS,
    "decided": (settle, burn_card),
    "settling": (settle,),
    "settled": (resettle, settle, decline_bet),
    "resettling": (settle,),
    "cancelled": (decline_bet,),
}
"""Commands that are in place at a step, though their arguments may not be."""
