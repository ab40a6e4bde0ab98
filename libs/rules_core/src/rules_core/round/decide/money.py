"""What every command that stakes money shares: was it in time, and is its money held."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.commands import Funds
from rules_core.round.events.fields import DecidedOption, FinalChoice, StakingCommandName, WindowKind
from rules_core.round.refusal import Refusal, refuse
from rules_core.round.state import RoundState

_NAME_OF: dict[type[Any], StakingCommandName] = {
    c.PlaceBet: "PlaceBet",
    c.DoubleBets: "DoubleBets",
    c.RepeatBets: "RepeatBets",
    c.ChooseOption: "ChooseOption",
    c.ChooseFinalOption: "ChooseFinalOption",
    c.MakePurchase: "MakePurchase",
}
DECLINED_MAX = 20
"""Most counted BetDeclined of a player in a round (ARCHITECTURE.md, Refusals)."""


class StakingCommand(Protocol):
    """A player's command that stakes money under a bet id."""

    @property
    def player(self) -> str:
        """Who stakes."""

    @property
    def bet_id(self) -> str | None:
        """The id of its holds; None where the choice needs no money."""

    @property
    def arrived_at(self) -> str:
        """When it arrived at the table's owner."""

    @property
    def funds(self) -> Funds:
        """What became of its holds."""


def in_time(state: RoundState, arrived_at: str, closes_at: str, step: str) -> bool:
    """Whether a command that arrived then can still be recorded: no closing event, and before the cut-off."""
    return state.step == step and arrived_at < closes_at


def late_reason(state: RoundState, arrived_at: str, funds: Funds, kind: WindowKind, box: int) -> str:
    """Why a choice after its window is declined: it came late, or only its money's answer did."""
    key_box = None if state.ruleset.shared or kind == "purchase" else box
    closes_at = state.closed.get((kind, key_box), "")
    return "hold_answered_late" if funds == "held" and arrived_at < closes_at else "window_closed"


def may_stake(state: RoundState, player: str) -> bool:
    """Whether the wallet may still be asked for this player in this round."""
    return state.declined.get(player, 0) < DECLINED_MAX


def check_may_stake(state: RoundState, player: str) -> Refusal | None:
    """After so many declined wagers the wallet is not asked again (ARCHITECTURE.md, Refusals)."""
    if may_stake(state, player):
        return None
    return refuse("too_many_declined", "too many wagers of yours were declined in this round")


@dataclass(frozen=True, slots=True)
class Asked:
    """What else a declined command asked for, so that it can be told from its event."""

    option: DecidedOption | None = None
    positions: tuple[int, ...] = ()
    choice: FinalChoice | None = None


NOTHING_ELSE = Asked()


def declined(
    state: RoundState,
    command: StakingCommand,
    currency: str | None,
    stakes: tuple[e.DeclinedStake, ...],
    reason: str,
    asked: Asked = NOTHING_ELSE,
) -> tuple[e.BetDeclined] | Refusal:
    """BetDeclined, or a plain refusal once the player has had 20 in this round."""
    if state.declined.get(command.player, 0) >= DECLINED_MAX and reason != "hold_answered_late":
        return refuse(reason, "refused; no more declined bets of this player are recorded in this round")
    if command.bet_id is None:
        return refuse("bet_id_missing", "a choice that stakes money needs a bet id")
    event = e.BetDeclined(
        command.player,
        currency,
        command.bet_id,
        stakes,
        reason,
        command.arrived_at,
        _NAME_OF[type(command)],
        asked.option,
        asked.positions,
        asked.choice,
    )
    return (event,)


def money_reason(funds: Funds) -> str | None:
    """Why a wager whose money is not held is declined; None when it is held."""
    if funds == "held":
        return None
    return "funds_refused" if funds == "refused" else "wallet_unavailable"


def not_asked() -> Refusal:
    """A wager that breaks no rule but whose money was not asked for yet."""
    return refuse("money_not_held", "nothing speaks against it; hold the money, then decide again")
