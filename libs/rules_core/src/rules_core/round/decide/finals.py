"""Deciding the final options (RULES.md sections 4.5 and 4.6)."""

from __future__ import annotations

from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.decide.money import (
    Asked,
    check_may_stake,
    declined,
    late_reason,
    money_reason,
    not_asked,
)
from rules_core.round.decide.options import check_bet_id, find_play
from rules_core.round.events.fields import DefaultReason
from rules_core.round.hands import HandMemo, hand_of
from rules_core.round.limits import CurrencyLimits
from rules_core.round.refusal import Refusal, refuse
from rules_core.round.sealed import Sealed
from rules_core.round.state import BoxPlay, RoundState
from rules_core.settlement.insurance import Bounds, insurance_bounds, insurance_refusal

Decision = tuple[e.RoundEvent, ...] | Refusal

_UNFUNDED_REASON: dict[str, DefaultReason] = {
    "refused": "bet_not_funded",
    "unavailable": "wallet_unavailable",
}
_INSURANCE_TEXT = {
    "insurance_not_offered": "this game has no insurance",
    "insurance_hand_too_low": "insurance needs three of a kind or better",
    "insurance_maximum_below_minimum": "the most to insure is below one ante, so it is not offered",
}


def _limits(state: RoundState, player: str) -> CurrencyLimits:
    return state.limits[state.seats[player].currency]


def insurance_offer(state: RoundState, sealed: Sealed, play: BoxPlay, memo: HandMemo) -> Bounds | None:
    """The least and most insurance (minor units) of a box whose option is chosen; None: not offered."""
    if play.blind or play.option not in {"bet", "sixth", "exchange"}:
        return None
    if state.ruleset.insurance is None:
        return None
    limits = _limits(state, play.player)
    hand = hand_of(state, sealed, play, memo)
    max_payout = limits.max_payout_in(play.box)
    return insurance_bounds(state.ruleset, hand, play.ante, max_payout, limits.insurance_max)


def asks_final(state: RoundState, sealed: Sealed, play: BoxPlay, memo: HandMemo) -> bool:
    """Whether the final window asks this box (RULES.md section 4.5)."""
    if play.blind or play.option in {None, "fold"} or play.asked_final:
        return False
    if play.option == "bet":
        return insurance_offer(state, sealed, play, memo) is not None
    return True


def check_final(
    state: RoundState, sealed: Sealed, play: BoxPlay, choice: str, insurance: int, memo: HandMemo
) -> Refusal | None:
    """Why an asked box may not choose this, or None; money and time aside."""
    has_bet = play.option == "bet"
    if choice == "bet" and has_bet:
        return refuse("bet_stands_already", "this box has bet; take insurance or let it stand", box=play.box)
    if choice == "stand" and not has_bet:
        return refuse("no_bet_yet", "this box has no bet to stand; bet or fold", box=play.box)
    if choice == "fold" and has_bet:
        return refuse("bet_cannot_be_folded", "a bet is final; take insurance or let it stand", box=play.box)
    if insurance == 0:
        return None
    return _check_insurance(state, sealed, play, choice, insurance, memo)


def _check_insurance(
    state: RoundState, sealed: Sealed, play: BoxPlay, choice: str, insurance: int, memo: HandMemo
) -> Refusal | None:
    if insurance < 0:
        return refuse("amount_not_positive", "insurance must be above zero, or left out", amount=insurance)
    if choice == "fold":
        return refuse("insurance_with_fold", "a folded box cannot be insured", box=play.box)
    if play.option == "none":
        return refuse("insurance_after_pass", "a box that passed its options cannot be insured", box=play.box)
    limits = _limits(state, play.player)
    hand = hand_of(state, sealed, play, memo)
    max_payout = limits.max_payout_in(play.box)
    code = insurance_refusal(
        state.ruleset,
        hand,
        ante=play.ante,
        amount=insurance,
        max_payout=max_payout,
        table_max=limits.insurance_max,
    )
    if code is None:
        return None
    bounds = insurance_bounds(state.ruleset, hand, play.ante, max_payout, limits.insurance_max)
    if bounds is None:
        return refuse(code, _INSURANCE_TEXT.get(code, "insurance is not offered"), box=play.box)
    text = f"insure between {bounds.min} and {bounds.max}"
    return refuse(code, text, box=play.box, minimum=bounds.min, maximum=bounds.max)


def choose_final_option(command: c.ChooseFinalOption, state: RoundState, sealed: Sealed) -> Decision:
    """FinalOptionChosen, BetDeclined (late, or its money refused), or a refusal."""
    play = find_play(state, command.player, command.box)
    if isinstance(play, Refusal):
        return play
    if play.final is not None and not play.defaulted:
        return refuse("already_decided", "the final option of this box is chosen", box=command.box)
    stakes = _stakes(play, command)
    late = _late(state, play, command)
    if late is not None:
        if stakes and late == "window_closed":
            reason = late_reason(state, command.arrived_at, command.funds, "final_options", command.box)
            return _declined(state, command, stakes, reason)
        return refuse(late, "the final options of this box are not open", box=command.box)
    found = check_final(state, sealed, play, command.choice, command.insurance, {})
    if found is None and stakes:
        found = check_may_stake(state, command.player) or check_bet_id(state, command.bet_id)
    if found is not None:
        return found
    return _chosen(state, command, stakes)


def _chosen(state: RoundState, command: c.ChooseFinalOption, stakes: tuple[e.DeclinedStake, ...]) -> Decision:
    if stakes and command.funds == "not_asked":
        return not_asked()
    reason = money_reason(command.funds) if stakes else None
    if reason is not None:
        return _declined(state, command, stakes, reason)
    bet = sum(stake.amount for stake in stakes if stake.wager == "bet")
    event = e.FinalOptionChosen(
        command.player,
        command.box,
        command.choice,
        "player",
        bet,
        command.insurance,
        command.arrived_at,
        command.bet_id if stakes else None,
    )
    return (event,)


def _stakes(play: BoxPlay, command: c.ChooseFinalOption) -> tuple[e.DeclinedStake, ...]:
    stakes = []
    if command.choice == "bet":
        stakes.append(e.DeclinedStake(play.box, "bet", 2 * play.ante))
    if command.insurance > 0:
        stakes.append(e.DeclinedStake(play.box, "insurance", command.insurance))
    return tuple(stakes)


def _late(state: RoundState, play: BoxPlay, command: c.ChooseFinalOption) -> str | None:
    window = state.window
    if (play.box, play.player) in state.undecided and state.step == "final_options" and window is not None:
        if command.arrived_at < window.opened_at:
            return "arrived_too_early"
        return None if command.arrived_at < window.closes_at else "window_closed"
    if play.asked_final or (state.ended and not play.blind):
        return "window_closed"
    return "window_not_open"


def _declined(
    state: RoundState, command: c.ChooseFinalOption, stakes: tuple[e.DeclinedStake, ...], reason: str
) -> Decision:
    found = check_bet_id(state, command.bet_id)
    if found is not None:
        return found
    currency = state.seats[command.player].currency
    return declined(state, command, currency, stakes, reason, Asked(choice=command.choice))


def default_choice(
    state: RoundState, sealed: Sealed, play: BoxPlay, memo: HandMemo, unfunded: str | None = None
) -> e.FinalOptionChosen:
    """What the platform chooses for a box when the window passes (RULES.md section 4.6)."""
    if play.option == "bet":
        return e.FinalOptionChosen(play.player, play.box, "stand", "platform", reason="bet_stands")
    if not hand_of(state, sealed, play, memo).qualifies:
        return e.FinalOptionChosen(play.player, play.box, "fold", "platform", reason="no_combination")
    if unfunded is not None:
        reason = _UNFUNDED_REASON[unfunded]
        return e.FinalOptionChosen(play.player, play.box, "fold", "platform", reason=reason)
    bet = 2 * play.ante
    return e.FinalOptionChosen(play.player, play.box, "bet", "platform", bet, reason="has_combination")


def close_final_options(command: c.CloseFinalOptions, state: RoundState, sealed: Sealed) -> Decision:
    """The platform's choices for boxes that passed, then FinalOptionsClosed."""
    window = state.window
    if state.step != "final_options" or window is None:
        return refuse("window_not_open", "no final options window is open")
    if state.undecided and command.at < window.closes_at:
        text = f"final options close at {window.closes_at}"
        return refuse("window_still_open", text, closes_at=window.closes_at)
    unfunded = {(box, player): what for box, player, what in command.unfunded}
    memo: HandMemo = {}
    choices = tuple(
        default_choice(state, sealed, play, memo, unfunded.get(key)) for key, play in state.undecided.items()
    )
    used = {(choice.box, choice.player) for choice in choices if choice.reason in _UNFUNDED_REASON.values()}
    for box, player in unfunded:
        if (box, player) not in used:
            text = "no default bet is due for this box; name only boxes that would bet"
            return refuse("no_default_bet", text, box=box, player=player)
    return (*choices, e.FinalOptionsClosed(window.box, command.at))
