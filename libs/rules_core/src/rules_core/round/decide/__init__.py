"""`decide(command, state, sealed) -> events | refusal`: pure, total, the one place where a round is decided.

Nothing is changed here; `evolve` records what was decided.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.decide import (
    betting,
    cards,
    correcting,
    ending,
    finals,
    opening,
    options,
    purchase,
    settling,
    steps,
)
from rules_core.round.decide.wording import check_wording
from rules_core.round.refusal import Refusal
from rules_core.round.sealed import Sealed
from rules_core.round.state import RoundState

Decision = tuple[e.RoundEvent, ...] | Refusal


def decide(command: c.Command, state: RoundState, sealed: Sealed) -> Decision:
    """What becomes of a command: the events to append, in order, or why not.

    Raises SealMissingError when a decision needs a face-down card that `sealed` does not hold.
    """
    return check_wording(command, state) or _DECIDE[type(command)](command, state, sealed)


def _settle(command: c.Settle, state: RoundState, sealed: Sealed) -> Decision:
    if state.step == "resettling":
        return correcting.continue_resettling(command, state, sealed)
    return settling.settle(command, state, sealed)


_DECIDE: dict[type[Any], Callable[[Any, RoundState, Sealed], Decision]] = {
    c.OpenRound: lambda command, state, _: opening.open_round(command, state),
    c.PlaceBet: lambda command, state, _: betting.place_bet(command, state),
    c.DoubleBets: lambda command, state, _: betting.double_bets(command, state),
    c.RepeatBets: lambda command, state, _: betting.repeat_bets(command, state),
    c.WithdrawBet: lambda command, state, _: betting.withdraw_bet(command, state),
    c.UndoBet: lambda command, state, _: betting.undo_bet(command, state),
    c.ClearBets: lambda command, state, _: betting.clear_bets(command, state),
    c.DeclineBet: lambda command, state, _: ending.decline_bet(command, state),
    c.CloseBetting: lambda command, state, _: betting.close_betting(command, state),
    c.ScanCard: cards.scan_card,
    c.RescanCard: cards.rescan_card,
    c.BurnCard: cards.burn_card,
    c.ConfirmCards: steps.confirm_cards,
    c.Proceed: steps.proceed,
    c.ChooseOption: lambda command, state, _: options.choose_option(command, state),
    c.CloseOptions: lambda command, state, _: options.close_options(command, state),
    c.ChooseFinalOption: finals.choose_final_option,
    c.CloseFinalOptions: finals.close_final_options,
    c.MakePurchase: lambda command, state, _: purchase.make_purchase(command, state),
    c.DeclinePurchase: lambda command, state, _: purchase.decline_purchase(command, state),
    c.ClosePurchase: lambda command, state, _: purchase.close_purchase(command, state),
    c.ExtendWindow: lambda command, state, _: ending.extend_window(command, state),
    c.Settle: _settle,
    c.CancelRound: ending.cancel_round,
    c.Resettle: correcting.resettle,
}
