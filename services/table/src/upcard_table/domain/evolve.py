"""The fold of a table's stream: a state and an event give the next state. Never validates, never raises."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Final

from upcard_table.domain import events as e
from upcard_table.domain.config import TableConfig
from upcard_table.domain.state import RECENT_RETIRED, RECENT_TIPS, ConfigSince, Deck, TableState


def evolve(state: TableState, event: e.TableEvent) -> TableState:
    """The state after `event`."""
    return _EVOLVE[type(event)](state, event)


def fold(state: TableState, events: Iterable[e.TableEvent]) -> TableState:
    """The state after all of `events`."""
    for event in events:
        state = evolve(state, event)
    return state


def _configured(state: TableState, config: TableConfig, from_round: int) -> tuple[ConfigSince, ...]:
    """The newest configuration, and before it the one that the round before `from_round` is played with."""
    earlier = [one for one in state.configs if one.from_round < from_round]
    return (*earlier[-1:], ConfigSince(from_round, config))


def _opened(state: TableState, event: e.TableOpened) -> TableState:
    configs = _configured(state, event.config, event.from_round)
    return replace(state, table=event.table, open=True, configs=configs)


def _limits_changed(state: TableState, event: e.LimitsChanged) -> TableState:
    return replace(state, configs=_configured(state, event.config, event.from_round))


def _verified(state: TableState, event: e.DeckVerified) -> TableState:
    decks = (
        replace(one, verified_after_round=event.after_round) if one.deck == event.deck else one
        for one in state.decks
    )
    return replace(state, decks=tuple(decks))


def _shuffled(state: TableState, event: e.DeckShuffled) -> TableState:
    decks = (
        replace(one, shuffled_after_round=event.after_round) if one.deck == event.deck else one
        for one in state.decks
    )
    return replace(state, decks=tuple(decks))


def _introduced(state: TableState, event: e.DeckIntroduced) -> TableState:
    return replace(state, decks=(*state.decks, Deck(event.deck)))


def _retired(state: TableState, event: e.DeckRetired) -> TableState:
    decks = tuple(one for one in state.decks if one.deck != event.deck)
    return replace(state, decks=decks, retired=(*state.retired, event.deck)[-RECENT_RETIRED:])


def _tip(state: TableState, event: e.TipGiven) -> TableState:
    return replace(state, recent_tips=(*state.recent_tips, event.transaction)[-RECENT_TIPS:])


_EVOLVE: Final[dict[type[Any], Callable[[TableState, Any], TableState]]] = {
    e.TableOpened: _opened,
    e.TableClosed: lambda state, _: replace(state, open=False),
    e.LimitsChanged: _limits_changed,
    e.DealerSignedIn: lambda state, event: replace(state, dealer=event.dealer),
    e.DealerSignedOut: lambda state, _: replace(state, dealer=None),
    e.ShiftStarted: lambda state, event: replace(state, shift=event.shift),
    e.ShiftEnded: lambda state, _: replace(state, shift=None),
    e.DeckIntroduced: _introduced,
    e.DeckVerified: _verified,
    e.DeckShuffled: _shuffled,
    e.DeckRetired: _retired,
    e.ManualModeEntered: lambda state, _: replace(state, manual_mode=True),
    e.ManualModeLeft: lambda state, _: replace(state, manual_mode=False),
    e.TipGiven: _tip,
}
