"""Deciding the options window (RULES.md sections 4.3 and 4.4)."""

from __future__ import annotations

from dataclasses import dataclass

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
from rules_core.round.hands import spare_cards
from rules_core.round.refusal import Refusal, refuse
from rules_core.round.state import BoxPlay, RoundState
from rules_core.settlement.option import exchange_refusal

Decision = tuple[e.RoundEvent, ...] | Refusal


@dataclass(frozen=True, slots=True)
class OptionBounds:
    """What the options window offers a box; bet and fold are always offered."""

    sixth_card: bool
    exchange_max: int
    """Most cards that may be exchanged; 0: exchange is not offered."""


def option_bounds(state: RoundState) -> OptionBounds:
    """What the undealt deck can serve (RULES.md section 6, last paragraph)."""
    most = state.ruleset.exchange_max
    if state.ruleset.shared:
        return OptionBounds(sixth_card=True, exchange_max=most)
    spare = spare_cards(state)
    return OptionBounds(sixth_card=spare >= 1, exchange_max=min(most, spare))


def check_option(state: RoundState, kind: str, positions: tuple[int, ...]) -> Refusal | None:
    """Why an asked box may not choose this, or None; money and time aside."""
    if kind in {"bet", "fold"}:
        return refuse("positions_without_exchange", "only an exchange names positions") if positions else None
    bounds = option_bounds(state)
    if kind == "sixth":
        if positions:
            return refuse("positions_without_exchange", "only an exchange names positions")
        return None if bounds.sixth_card else refuse("deck_too_short", "the deck cannot serve a sixth card")
    if not bounds.exchange_max:
        return refuse("deck_too_short", "the deck cannot serve an exchange")
    code = exchange_refusal(positions, most=bounds.exchange_max)
    if code is None:
        return None
    text = f"exchange 1 to {bounds.exchange_max} cards, each position (0 to 4) once"
    return refuse(code, text, maximum=bounds.exchange_max)


def find_play(state: RoundState, player: str, box: int) -> BoxPlay | Refusal:
    """The player's hand in a box."""
    seat = state.seats.get(player)
    play = seat.plays.get(box) if seat is not None else None
    return play if play is not None else refuse("no_such_box", f"you do not play box {box}", box=box)


def check_bet_id(state: RoundState, bet_id: str | None) -> Refusal | None:
    """A choice that stakes money needs a bet id of its own."""
    if bet_id is None:
        return refuse("bet_id_missing", "a choice that stakes money needs a bet id")
    if bet_id in state.bet_ids:
        return refuse("bet_id_used", "this bet id is recorded already; use a new one for a new wager")
    return None


def choose_option(command: c.ChooseOption, state: RoundState) -> Decision:
    """OptionChosen, BetDeclined (late, or its money refused), or a refusal."""
    play = find_play(state, command.player, command.box)
    if isinstance(play, Refusal):
        return play
    if play.blind:
        return refuse("box_is_blind", "a blind box has no options", box=command.box)
    if play.option not in {None, "none"}:
        return refuse("already_decided", "the option of this box is chosen; it is final", box=command.box)
    stakes = _stakes(play, command.kind)
    late = _late(state, play, command)
    if late is not None:
        if stakes and late == "window_closed":
            reason = late_reason(state, command.arrived_at, command.funds, "options", command.box)
            return _declined(state, command, stakes, reason)
        return refuse(late, "the options of this box are not open", box=command.box)
    found = check_option(state, command.kind, command.positions)
    if found is None and stakes:
        found = check_may_stake(state, command.player) or check_bet_id(state, command.bet_id)
    if found is not None:
        return found
    return _chosen(state, command, stakes)


def _chosen(state: RoundState, command: c.ChooseOption, stakes: tuple[e.DeclinedStake, ...]) -> Decision:
    if stakes and command.funds == "not_asked":
        return not_asked()
    reason = money_reason(command.funds) if stakes else None
    if reason is not None:
        return _declined(state, command, stakes, reason)
    amount = stakes[0].amount if stakes else 0
    bet_id = command.bet_id if stakes else None
    return (
        e.OptionChosen(
            command.player, command.box, command.kind, command.arrived_at, command.positions, amount, bet_id
        ),
    )


def _stakes(play: BoxPlay, kind: str) -> tuple[e.DeclinedStake, ...]:
    if kind == "fold":
        return ()
    if kind == "bet":
        return (e.DeclinedStake(play.box, "bet", 2 * play.ante),)
    return (e.DeclinedStake(play.box, "option_fee", play.ante),)


def _late(state: RoundState, play: BoxPlay, command: c.ChooseOption) -> str | None:
    window = state.window
    if (play.box, play.player) in state.undecided and state.step == "options" and window is not None:
        if command.arrived_at < window.opened_at:
            return "arrived_too_early"
        return None if command.arrived_at < window.closes_at else "window_closed"
    passed = play.option == "none" or state.ended
    return "window_closed" if passed else "window_not_open"


def _declined(
    state: RoundState, command: c.ChooseOption, stakes: tuple[e.DeclinedStake, ...], reason: str
) -> Decision:
    currency = state.seats[command.player].currency
    found = check_bet_id(state, command.bet_id)
    if found is not None:
        return found
    asked = Asked(option=command.kind, positions=command.positions)
    return declined(state, command, currency, stakes, reason, asked)


def close_options(command: c.CloseOptions, state: RoundState) -> Decision:
    """OptionsClosed with the boxes that passed, in time or when every asked box has decided."""
    window = state.window
    if state.step != "options" or window is None:
        return refuse("window_not_open", "no options window is open")
    if state.undecided and command.at < window.closes_at:
        return refuse("window_still_open", f"options close at {window.closes_at}", closes_at=window.closes_at)
    return (e.OptionsClosed(window.box, command.at, group(state.undecided)),)


def group(undecided: dict[tuple[int, str], BoxPlay]) -> tuple[e.BoxPlayers, ...]:
    """Asked hands by box, boxes in number order, players in the order of their first bet."""
    by_box: dict[int, list[str]] = {}
    for box, player in undecided:
        by_box.setdefault(box, []).append(player)
    return tuple(e.BoxPlayers(box, tuple(by_box[box])) for box in sorted(by_box))
