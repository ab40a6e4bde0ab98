"""`evolve` never validates and never raises, whatever came before (ARCHITECTURE.md, The log, 2)."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator

import pytest

from rules_core.round import events as e
from rules_core.round.evolve import evolve, fold
from rules_core.round.limits import AmountRange, CurrencyLimits
from rules_core.round.state import RoundState, new_round
from tests.rules_core.round.rounds_on_the_way import STOPS, on_the_way, private_round, shared_round
from tests.rules_core.round.scripted import DURATIONS, Scripted, at
from tests.rules_core.round.settled_table import P1

STRANGE: list[e.RoundEvent] = [
    e.BetPlaced("p9", "XXX", "x1", "place", (e.Stake(99, "bonus_dealer", -5),), at(0)),
    e.BetPlaced("p9", "XXX", "x2", "double", (), at(0)),
    e.BetDeclined("p9", None, "x3", (), "no reason", at(0), "DeclineBet"),
    e.BetWithdrawn("p9", "clear", (e.WithdrawnStake("x9", 7, "ante", 100),), at(0)),
    e.BetWithdrawn("p1", "undo", (e.WithdrawnStake("x9", 7, "ante", 100),), at(0)),
    e.BettingClosed(at(0), ()),
    e.BettingClosed(at(0), (9,)),
    e.CardScanned("draw.0", "x4", "manual", card="Ah"),
    e.CardScanned("draw.0", "x5", "shoe", card="no card"),
    e.CardScanned("nowhere", "x6", "shoe", commitment="00"),
    e.CardScanned("box.1.0", "x7", "manual"),
    e.CardRescanned("nowhere", "x8", "shoe", card="Ah"),
    e.CardRescanned("draw.1", "x8", "shoe", card="Ah"),
    e.CardBurned("x9", "no card"),
    e.CardsRevealed((e.CardOpening("nowhere", "no card", committed=False),), final=True),
    e.CardsRevealed((e.CardOpening("nowhere", "Ah", superseded=True),), final=False),
    e.DealerRevealed((), "no hand", qualified=True),
    e.DealerRequalified((), "no hand", qualified=True, confirmed_by="nobody"),
    e.OptionsOpened(99, at(0), at(1)),
    e.OptionsClosed(99, at(0), (e.BoxPlayers(99, ("p9",)),)),
    e.OptionChosen("p9", 99, "exchange", at(0), (7, 7, 7), 1, "x10"),
    e.FinalOptionsOpened(99, (e.BoxPlayers(99, ("p9",)),), at(0), at(1)),
    e.FinalOptionChosen("p9", 99, "stand", "platform"),
    e.FinalOptionsClosed(99, at(0)),
    e.WindowExtended("purchase", 99, at(0), -1, "floor", at(0)),
    e.PurchaseOffered((e.BoxPlayers(99, ("p9",)),), at(0), at(1)),
    e.PurchaseMade("p9", 99, 1, "x11", at(0)),
    e.PurchaseDeclined("p9", 99, "platform"),
    e.PurchaseClosed(at(0)),
    e.PlayerSettled("p9", "XXX", 5, (P1,), 1, 2, 1),
    e.RoundCancelled("no reason", ("nowhere",)),
    e.CorrectionDecided(
        7,
        "no reason",
        "nobody",
        "nobody",
        refund=False,
        cards=(e.CardCorrection("nowhere", "no card"),),
        choices=(e.ChoiceCorrection(99, "p9", option="none"),),
    ),
    e.RoundOpened(
        "t9",
        0,
        "none@1",
        "",
        9,
        (CurrencyLimits("XXX", 0, AmountRange(9, 1)),),
        DURATIONS,
        "never",
        "never",
    ),
]


def copied(state: RoundState) -> RoundState:
    """A copy that shares what nothing changes."""
    shared = (state.ruleset, state.opened)
    return copy.deepcopy(state, {id(one): one for one in shared})


def recorded(play: Callable[[], Iterator[Scripted]]) -> dict[str, e.RoundEvent]:
    """The last event of each type in a round."""
    *_, table = play()
    return {type(event).__name__: event for event in table.events}


@pytest.mark.parametrize(("play", "stop"), STOPS, ids=[f"{play.__name__}-{stop}" for play, stop in STOPS])
def test_any_event_can_follow_any_state(play: Callable[[], Iterator[Scripted]], stop: int) -> None:
    state = on_the_way(play, stop).state
    events = [*recorded(shared_round).values(), *recorded(private_round).values(), *STRANGE]
    for event in events:
        trial = copied(state)
        assert evolve(trial, event) is trial


@pytest.mark.parametrize("play", [shared_round, private_round])
def test_the_events_of_a_round_in_reverse(play: Callable[[], Iterator[Scripted]]) -> None:
    *_, table = play()
    fold(new_round(table.ruleset), reversed(table.events))
    fold(copied(table.state), (*table.events, *STRANGE, *table.events))


@pytest.mark.parametrize("play", [shared_round, private_round])
def test_folding_the_events_gives_the_state_that_recorded_them(
    play: Callable[[], Iterator[Scripted]],
) -> None:
    *_, table = play()
    assert fold(new_round(table.ruleset), table.events) == table.state


def test_every_event_type_is_tried() -> None:
    tried = {type(event) for event in (*recorded(shared_round).values(), *STRANGE)}
    tried |= {type(event) for event in recorded(private_round).values()}
    assert tried | {e.RoundResettled} == set(e.EVENT_TYPES)
