"""Which money a command needs before it can be accepted: what would be decided with it says so."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final, TypeGuard

from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.decide import decide
from rules_core.round.decide.betting import stakes_of as placed_stakes
from rules_core.round.refusal import Refusal, refuse
from rules_core.round.sealed import Sealed
from rules_core.round.state import RoundState
from upcard_table.app.ports import HoldsAnswer

StakingCommand = (
    c.PlaceBet | c.DoubleBets | c.RepeatBets | c.ChooseOption | c.ChooseFinalOption | c.MakePurchase
)
"""A player's command that may stake money."""

_STAKING: Final = (
    c.PlaceBet,
    c.DoubleBets,
    c.RepeatBets,
    c.ChooseOption,
    c.ChooseFinalOption,
    c.MakePurchase,
)
_NOT_HELD: Final = "money_not_held"
_REFUSED: Final = frozenset({"funds_refused", "player_refused", "account_unknown"})
"""The wallet's words for a player who cannot pay; whatever else it says, the money could not be asked for."""

_wallet_takes = re.compile("[A-Za-z0-9_-]{1,64}").fullmatch


@dataclass(frozen=True, slots=True)
class Needed:
    """What has to be held; nothing where the command stakes nothing, or its money is reserved already."""

    wagers: tuple[e.DeclinedStake, ...]
    """The stakes of the command, in their order, and after them the reserves of its antes."""
    currency: str
    """Of the amounts; empty where there are none."""


NOTHING: Final = Needed((), "")


def may_stake_money(command: c.Command) -> TypeGuard[StakingCommand]:
    """Whether `wagers_to_hold` has to be asked before this command is decided."""
    return isinstance(command, _STAKING)


def wagers_to_hold(
    command: StakingCommand, state: RoundState, sealed: Sealed, *, reserve: bool
) -> Needed | Refusal | e.BetDeclined:
    """What has to be held before the command can be decided with `funds="held"`.

    A refusal or BetDeclined (it came late) ends the command: the wallet is not asked. `reserve`: the
    `reserve_bet_with_ante` of this round (`TableState.config_of`). Raises SealMissingError, as `decide` does.
    """
    asked = decide(_not_asked(command), state, sealed)
    if not isinstance(asked, Refusal):
        declined = [event for event in asked if isinstance(event, e.BetDeclined)]
        return declined[0] if declined else NOTHING
    if asked.code != _NOT_HELD:
        return asked
    if command.bet_id is None or _wallet_takes(command.bet_id) is None:
        text = "bet_id: an id is 1 to 64 letters, digits, hyphens and underscores"
        return refuse("word_invalid", text, key="bet_id")
    stakes = _stakes(command, state, sealed)
    if isinstance(stakes, Refusal):
        return stakes
    if reserve:
        # An open box's own bet was held with its ante; a blind one's is a stake of the same command.
        stakes = tuple(one for one in stakes if one.wager != "bet" or one.blind)
        stakes = (*stakes, *reserves_of(stakes))
    return Needed(stakes, _currency(command, state))


def stakes_of(event: e.RoundEvent) -> tuple[e.DeclinedStake, ...]:
    """The wagers that an event stakes, each as it is held."""
    match event:
        case e.BetPlaced(stakes=stakes):
            return _declined(stakes)
        case e.OptionChosen(box=box, kind=kind, amount=amount) if amount:
            return (e.DeclinedStake(box, "bet" if kind == "bet" else "option_fee", amount),)
        case e.FinalOptionChosen(box=box, bet=bet, insurance=insurance):
            both = (e.DeclinedStake(box, "bet", bet), e.DeclinedStake(box, "insurance", insurance))
            return tuple(stake for stake in both if stake.amount)
        case e.PurchaseMade(box=box, fee=fee):
            return (e.DeclinedStake(box, "purchase_fee", fee),)
        case _:
            return ()


def reserves_of(stakes: tuple[e.DeclinedStake, ...]) -> tuple[e.DeclinedStake, ...]:
    """What is held beside these stakes for the bets of open boxes: of each ante twice as much, in cash."""
    return tuple(
        e.DeclinedStake(stake.box, "bet", 2 * stake.amount)
        for stake in stakes
        if stake.wager == "ante" and not stake.blind
    )


def funds_of(answer: HoldsAnswer) -> c.Funds:
    """What a command is decided with once its answer is there; `overloaded` is a refusal before that."""
    if answer.outcome == "held":
        return "held"
    return "refused" if answer.outcome == "refused" and answer.reason in _REFUSED else "unavailable"


def _not_asked(command: StakingCommand) -> StakingCommand:
    return command if command.funds == "not_asked" else replace(command, funds="not_asked")


def _stakes(
    command: StakingCommand, state: RoundState, sealed: Sealed
) -> tuple[e.DeclinedStake, ...] | Refusal:
    """What a command stakes of which nothing is wrong but that its money is not held."""
    if isinstance(command, c.PlaceBet | c.RepeatBets):  # most of all commands, and they say it themselves
        placements = command.placements if isinstance(command, c.PlaceBet) else command.previous
        return _declined(placed_stakes(placements))
    held = decide(replace(command, funds="held"), state, sealed)
    if isinstance(held, Refusal):
        return held
    return tuple(stake for event in held for stake in stakes_of(event))


def _declined(stakes: Iterable[e.Stake]) -> tuple[e.DeclinedStake, ...]:
    return tuple([e.DeclinedStake(s.box, s.wager, s.amount, s.blind, s.funding) for s in stakes])


def _currency(command: StakingCommand, state: RoundState) -> str:
    if isinstance(command, c.PlaceBet | c.RepeatBets):
        return command.currency
    return state.seats[command.player].currency
