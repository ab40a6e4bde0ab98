"""Deciding the dealer purchase (RULES.md section 4.8)."""

from __future__ import annotations

from rules_core.hands import evaluate
from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.decide.money import check_may_stake, declined, late_reason, money_reason, not_asked
from rules_core.round.decide.options import check_bet_id, find_play, group
from rules_core.round.hands import HandMemo, dealer_five, hand_of, undealt
from rules_core.round.refusal import Refusal, refuse
from rules_core.round.sealed import Sealed
from rules_core.round.state import BoxPlay, RoundState
from rules_core.settlement.purchase import purchase_refusal

Decision = tuple[e.RoundEvent, ...] | Refusal


def purchase_asked(state: RoundState, sealed: Sealed) -> tuple[e.BoxPlayers, ...]:
    """The boxes that may buy; none when the dealer has a game or the deck cannot serve the draws."""
    rules = state.ruleset.purchase
    if rules is None or undealt(state) < rules.reserve_cards:
        return ()
    if evaluate(dealer_five(state, sealed)).qualifies:
        return ()
    memo: HandMemo = {}
    asked = {
        (play.box, seat.player): play
        for seat in state.seats.values()
        for play in seat.plays.values()
        if may_purchase(state, sealed, play, memo)
    }
    return group(asked)


def may_purchase(state: RoundState, sealed: Sealed, play: BoxPlay, memo: HandMemo) -> bool:
    """Whether this box may buy once the dealer has no game."""
    if play.folded:
        return False
    qualifies = hand_of(state, sealed, play, memo).qualifies
    insured = play.insurance > 0
    code = purchase_refusal(
        state.ruleset, blind=play.blind, insured=insured, folded=False, qualifies=qualifies
    )
    return code is None


def _late(state: RoundState, play: BoxPlay, arrived_at: str) -> Refusal | None:
    window = state.window
    if play.purchase and state.step != "purchase":
        return refuse("already_decided", "the purchase of this box is decided", box=play.box)
    if state.step == "purchase" and window is not None:
        if (play.box, play.player) not in state.undecided:
            if play.purchase is not None:
                return refuse("already_decided", "the purchase of this box is decided", box=play.box)
            return refuse("purchase_not_offered", "this box may not buy", box=play.box)
        if arrived_at < window.opened_at:
            return refuse(
                "arrived_too_early", "this command says that it came before the window opened", box=play.box
            )
        if arrived_at < window.closes_at:
            return None
        return refuse("window_closed", "the purchase window is over", box=play.box)
    if play.purchase is not None:
        return refuse("window_closed", "the purchase window is over", box=play.box)
    return refuse("window_not_open", "no purchase window is open for this box", box=play.box)


def make_purchase(command: c.MakePurchase, state: RoundState) -> Decision:
    """PurchaseMade, BetDeclined (late, or its money refused), or a refusal."""
    play = find_play(state, command.player, command.box)
    if isinstance(play, Refusal):
        return play
    stakes = (e.DeclinedStake(play.box, "purchase_fee", play.ante),)
    currency = state.seats[command.player].currency
    late = _late(state, play, command.arrived_at)
    if late is not None and late.code != "window_closed":
        return late
    found = check_bet_id(state, command.bet_id)
    if found is None and late is None:
        found = check_may_stake(state, command.player)
    if found is not None:
        return found
    if late is not None:
        reason = late_reason(state, command.arrived_at, command.funds, "purchase", command.box)
        return declined(state, command, currency, stakes, reason)
    if command.funds == "not_asked":
        return not_asked()
    no_money = money_reason(command.funds)
    if no_money is not None:
        return declined(state, command, currency, stakes, no_money)
    return (e.PurchaseMade(command.player, command.box, play.ante, command.bet_id, command.arrived_at),)


def decline_purchase(command: c.DeclinePurchase, state: RoundState) -> Decision:
    """PurchaseDeclined by the player, or a refusal."""
    play = find_play(state, command.player, command.box)
    if isinstance(play, Refusal):
        return play
    late = _late(state, play, command.arrived_at)
    if late is not None:
        return late
    return (e.PurchaseDeclined(command.player, command.box, "player", command.arrived_at),)


def close_purchase(command: c.ClosePurchase, state: RoundState) -> Decision:
    """The platform never buys: PurchaseDeclined for each box that passed, then PurchaseClosed."""
    window = state.window
    if state.step != "purchase" or window is None:
        return refuse("window_not_open", "no purchase window is open")
    if state.undecided and command.at < window.closes_at:
        text = f"purchases close at {window.closes_at}"
        return refuse("window_still_open", text, closes_at=window.closes_at)
    passed = tuple(e.PurchaseDeclined(player, box, "platform") for box, player in state.undecided)
    return (*passed, e.PurchaseClosed(command.at))
