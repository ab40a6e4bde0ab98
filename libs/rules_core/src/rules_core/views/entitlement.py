"""Which face-down cards a player may see before everyone else does (RULES.md sections 4.2, 4.4 and 7).

The one module of the views that asks the sealed cards, and only for these. Everything else that is shown
comes from the public state and from what `known_to` gives.
"""

from __future__ import annotations

from collections.abc import Iterator

from rules_core.round.places import HAND_SIZE, box_place, replacement_place, switch_place
from rules_core.round.sealed import Sealed
from rules_core.round.state import PlayerSeat, RoundState
from rules_core.views.viewers import Player, Viewer


def entitled_places(state: RoundState, player: str) -> tuple[str, ...]:
    """The places whose cards lie face down for everyone else and that `player` may see now.

    Private boxes: the own open boxes from the moment their turn opens, and their replacement cards once laid;
    folded or not, until the round opens them for all. Shared switch cards: the first k of whoever bought k,
    once laid. Blind boxes and the dealer's hand: never.
    """
    seat = state.seats.get(player)
    if seat is None:
        return ()
    places = _switch_places(seat) if state.ruleset.shared else _private_places(state, seat)
    return tuple(place for place in places if place in state.commitments)


def _switch_places(seat: PlayerSeat) -> Iterator[str]:
    most = max((play.bought for play in seat.plays.values()), default=0)
    return (switch_place(index) for index in range(most))


def _private_places(state: RoundState, seat: PlayerSeat) -> Iterator[str]:
    for play in seat.ordered():
        if play.blind or play.box > state.current_box:
            continue
        yield from (box_place(play.box, index) for index in range(HAND_SIZE))
        yield from (replacement_place(play.box, index) for index in range(play.bought))


def known_to(viewer: Viewer, state: RoundState, sealed: Sealed) -> Sealed:
    """The face-down cards that the viewer may see now, and no other; empty for everyone but a player.

    Raises SealMissingError where `sealed` does not hold such a card: a broken invariant of the caller.
    """
    known = Sealed()
    if isinstance(viewer, Player):
        for place in entitled_places(state, viewer.player):
            opened = sealed.open(state.commitments[place])
            known.add(opened.card, opened.salt)
    return known
