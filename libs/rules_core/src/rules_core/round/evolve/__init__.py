"""The fold: a state and an event give the next state.

Works on public events alone, never validates and never raises (ARCHITECTURE.md, Functional core): an event
is a fact, and whoever must not trust it decides it again (`rules_core.log.replay`). The state is changed in
place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from rules_core.round import events as e
from rules_core.round.evolve import betting, cards, ending, windows
from rules_core.round.state import RoundState


def evolve(state: RoundState, event: e.RoundEvent) -> RoundState:
    """The state after `event`; the same object, changed."""
    _EVOLVE[type(event)](state, event)
    return state


def fold(state: RoundState, events: Iterable[e.RoundEvent]) -> RoundState:
    """The state after all of `events`."""
    handlers = _EVOLVE
    for event in events:
        handlers[type(event)](state, event)
    return state


_EVOLVE: dict[type[Any], Callable[[RoundState, Any], None]] = {
    e.RoundOpened: betting.round_opened,
    e.BetPlaced: betting.bet_placed,
    e.BetDeclined: betting.bet_declined,
    e.BetWithdrawn: betting.bet_withdrawn,
    e.BettingClosed: betting.betting_closed,
    e.CardScanned: cards.card_scanned,
    e.CardRescanned: cards.card_rescanned,
    e.CardBurned: cards.card_burned,
    e.CardsRevealed: cards.cards_revealed,
    e.OptionsOpened: windows.options_opened,
    e.OptionChosen: windows.option_chosen,
    e.OptionsClosed: windows.options_closed,
    e.FinalOptionsOpened: windows.final_options_opened,
    e.FinalOptionChosen: windows.final_option_chosen,
    e.FinalOptionsClosed: windows.final_options_closed,
    e.WindowExtended: windows.window_extended,
    e.DealerRevealed: cards.dealer_revealed,
    e.PurchaseOffered: windows.purchase_offered,
    e.PurchaseMade: windows.purchase_made,
    e.PurchaseDeclined: windows.purchase_declined,
    e.PurchaseClosed: windows.purchase_closed,
    e.DealerRequalified: cards.dealer_requalified,
    e.PlayerSettled: ending.player_settled,
    e.RoundSettled: ending.round_settled,
    e.RoundCancelled: ending.round_cancelled,
    e.CorrectionDecided: ending.correction_decided,
    e.RoundResettled: ending.round_resettled,
}
