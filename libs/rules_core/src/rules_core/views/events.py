"""Which events a viewer sees, and when (RULES.md sections 4.3, 4.4 and 7; docs/views.md has the table).

Face-down cards need no rule here: events carry their commitments alone until they are opened. What a player
may see earlier comes beside the event that entitles to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal, assert_never

from rules_core.cards import card_text
from rules_core.round import events as e
from rules_core.round.codec import payload_of
from rules_core.round.evolve import evolve
from rules_core.round.hands import card_at
from rules_core.round.sealed import Sealed
from rules_core.round.state import RoundState, new_round
from rules_core.rulesets.model import Ruleset
from rules_core.views.entitlement import entitled_places, known_to
from rules_core.views.viewers import Operations, Player, Viewer

Visibility = Literal["now", "at_close", "never"]
"""`at_close`: when the open window closes, or the round is cancelled."""

_CLOSING = (e.BettingClosed, e.OptionsClosed, e.FinalOptionsClosed, e.PurchaseClosed, e.RoundCancelled)


def visible_to(viewer: Viewer, event: e.RoundEvent, state: RoundState) -> Visibility:
    """Whether and when the viewer sees an event; `redacted` says how much of it.

    `state` may be the one before or after the event: no event that is delayed opens or closes a window.
    """
    match event:
        case (
            e.BetPlaced()
            | e.BetDeclined()
            | e.BetWithdrawn()
            | e.OptionChosen()
            | e.FinalOptionChosen()
            | e.PurchaseMade()
            | e.PurchaseDeclined()
            | e.PlayerSettled()
        ):
            own = isinstance(viewer, Player) and viewer.player == event.player
            return "now" if own else _of_another(viewer, event, state)
        case (
            e.RoundOpened()
            | e.BettingClosed()
            | e.CardScanned()
            | e.CardRescanned()
            | e.CardBurned()
            | e.CardsRevealed()
            | e.OptionsOpened()
            | e.OptionsClosed()
            | e.FinalOptionsOpened()
            | e.FinalOptionsClosed()
            | e.WindowExtended()
            | e.DealerRevealed()
            | e.PurchaseOffered()
            | e.PurchaseClosed()
            | e.DealerRequalified()
            | e.RoundSettled()
            | e.RoundCancelled()
            | e.CorrectionDecided()
            | e.RoundResettled()
        ):
            return "now"
        case _:
            assert_never(event)


_OfPlayer = (
    e.BetPlaced
    | e.BetDeclined
    | e.BetWithdrawn
    | e.OptionChosen
    | e.FinalOptionChosen
    | e.PurchaseMade
    | e.PurchaseDeclined
    | e.PlayerSettled
)


def _of_another(viewer: Viewer, event: _OfPlayer, state: RoundState) -> Visibility:
    operations = isinstance(viewer, Operations)
    shared = state.ruleset.shared
    match event:
        case e.PlayerSettled():
            return "now" if operations else "never"
        case e.BetDeclined():
            # It names the choice that was refused, which is hidden as long as one that was taken.
            deciding = state.window is not None and state.window.kind != "betting"
            return ("at_close" if shared and deciding else "now") if operations else "never"
        case e.BetPlaced() | e.BetWithdrawn():
            return "at_close" if shared and not operations else "now"
        case e.OptionChosen() | e.FinalOptionChosen() | e.PurchaseMade() | e.PurchaseDeclined():
            return "at_close" if shared else "now"
        case _:
            assert_never(event)


def redacted(viewer: Viewer, event: e.RoundEvent) -> e.RoundEvent:
    """The event as the viewer sees it: without others' free bets, and without the house's sums.

    With two players at a table, the sums less one's own would be the other's result.
    """
    if isinstance(viewer, Operations):
        return event
    match event:
        case e.BetPlaced() if not (isinstance(viewer, Player) and viewer.player == event.player):
            return replace(event, stakes=tuple(replace(stake, funding=None) for stake in event.stakes))
        case e.RoundSettled() | e.RoundResettled():
            return replace(event, totals=())
        case _:
            return event


@dataclass(frozen=True, slots=True)
class PrivateCard:
    """A card that its viewer alone may see as yet. Its repr does not show it."""

    place: str
    card: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Shown:
    """An event that a viewer sees."""

    round: int
    """Number of the round at its table: on everything that a player sees (RULES.md section 8)."""
    position: int
    """The event's position in the round's stream, from 1; delayed events come later than their position."""
    event: e.RoundEvent
    cards: tuple[PrivateCard, ...] = ()
    """Cards that the viewer alone sees from this event on."""


def shown_object(shown: Shown) -> dict[str, object]:
    """A shown event as plain JSON. Never log it where it has `cards`."""
    found: dict[str, object] = {
        "round": shown.round,
        "position": shown.position,
        "type": type(shown.event).__name__,
        "payload": payload_of(shown.event),
    }
    if shown.cards:
        found["cards"] = {private.place: private.card for private in shown.cards}
    return found


class Watch:
    """One viewer's view of a running round, event by event; keeps what waits for a window to close."""

    __slots__ = ("_told", "_viewer", "_waiting")

    def __init__(self, viewer: Viewer) -> None:
        self._viewer = viewer
        self._waiting: list[Shown] = []
        self._told: dict[str, str] = {}
        """Commitments of the private cards shown so far, by place: a rescanned card is shown again."""

    def see(self, event: e.RoundEvent, position: int, state: RoundState, sealed: Sealed) -> tuple[Shown, ...]:
        """What the viewer sees because of this event; `state` is the one after it.

        Delayed events come, in their order, just before the event that closes their window.
        """
        number = state.opened.number if state.opened is not None else 0
        visibility = visible_to(self._viewer, event, state)
        if visibility == "never":
            return ()
        shown = Shown(number, position, redacted(self._viewer, event))
        if visibility == "at_close":
            self._waiting.append(shown)
            return ()
        cards = self._new_cards(state, sealed)
        shown = replace(shown, cards=cards) if cards else shown
        if not isinstance(event, _CLOSING):
            return (shown,)
        waited, self._waiting = self._waiting, []
        return (*waited, shown)

    def _new_cards(self, state: RoundState, sealed: Sealed) -> tuple[PrivateCard, ...]:
        viewer = self._viewer
        if not isinstance(viewer, Player):
            return ()
        places = entitled_places(state, viewer.player)
        new = [place for place in places if self._told.get(place) != state.commitments[place]]
        if not new:
            return ()
        known = known_to(viewer, state, sealed)
        self._told.update({place: state.commitments[place] for place in new})
        return tuple(PrivateCard(place, card_text(card_at(state, known, place))) for place in new)


def visible_events(
    viewer: Viewer, events: Iterable[e.RoundEvent], ruleset: Ruleset, sealed: Sealed
) -> Iterator[Shown]:
    """What the viewer sees of a round's events, from the first one on, in the order in which it is shown.

    `sealed` is asked for nothing but the cards that the viewer may see; anyone but a player can give an empty
    one. Raises SealMissingError where such a card is not in it.
    """
    state = new_round(ruleset)
    watch = Watch(viewer)
    for position, event in enumerate(events, 1):
        yield from watch.see(event, position, evolve(state, event), sealed)
