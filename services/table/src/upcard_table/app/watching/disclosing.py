"""Which face-down cards an event lets players see, and whose they are (RULES.md section 7).

`rules_core.views.entitlement` is the rule. Here it is asked of the players concerned alone: a shared table
has any number of them, and an event concerns few, or all who bought as many switch cards.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from rules_core.cards import card_text
from rules_core.hands import evaluate
from rules_core.round import events as e
from rules_core.round.hands import card_at, first_five
from rules_core.round.places import HAND_SIZE, SWITCH_CARDS, box_place, switch_place
from rules_core.round.sealed import Sealed
from rules_core.round.state import BoxPlay, RoundState
from rules_core.settlement.bonus import player_bonus_line, player_bonus_row
from rules_core.views.entitlement import entitled_places
from rules_core.views.events import PrivateCard
from upcard_table.app.watching.shown import Item, KnownBonus


def wanted_by(event: e.RoundEvent, state: RoundState) -> tuple[str, ...]:
    """Commitments of the cards that some player may see from this event on; `state` is the one before it."""
    match event:
        case e.OptionsOpened(box=int(box)):
            return tuple(_lying(state, box))
        case e.CardScanned(commitment=str(commitment)) | e.CardRescanned(commitment=str(commitment)):
            return (commitment,) if _is_somebodys(event.place, state) else ()
        case _:
            return ()


def _lying(state: RoundState, box: int) -> Iterator[str]:
    """Face-down cards of open boxes whose turn has come by the one of `box`."""
    for play in _open_plays(state):
        if play.box <= box:
            for index in range(HAND_SIZE):
                commitment = state.commitments.get(box_place(play.box, index))
                if commitment is not None:
                    yield commitment


def _open_plays(state: RoundState) -> Iterator[BoxPlay]:
    for seat in state.seats.values():
        yield from (play for play in seat.plays.values() if not play.blind)


def _is_somebodys(place: str, state: RoundState) -> bool:
    kind, _, rest = place.partition(".")
    number = int(rest.partition(".")[0])
    if kind == "switch":
        bought = (play.bought for seat in state.seats.values() for play in seat.plays.values())
        return any(cards > number for cards in bought)
    if kind == "box" and not state.ruleset.shared:
        return number <= state.current_box and any(play.box == number for play in _open_plays(state))
    return kind == "replacement"


@dataclass(slots=True)
class Disclosures:
    """What each player of a round has been told of face-down cards."""

    told: dict[str, dict[str, str]] = field(default_factory=dict)
    """Exclusive tables: by player and place, the commitment of the card that was shown."""
    buyers: list[list[str]] = field(default_factory=list)
    """Shared tables, once the options are closed: players who bought more than so many cards."""

    def after(
        self, event: e.RoundEvent, position: int, state: RoundState, sealed: Sealed
    ) -> Iterator[tuple[str, Item]]:
        """Who is shown which cards because of this event; `state` is the one after it."""
        match event:
            case e.OptionsClosed() if state.ruleset.shared:
                self._note_buyers(state)
            case e.CardScanned(commitment=str()) | e.CardRescanned(commitment=str()) if state.ruleset.shared:
                yield from self._switch_card(event, position, state, sealed)
            case e.CardScanned(commitment=str()) | e.CardRescanned(commitment=str()) | e.OptionsOpened():
                yield from self._of_private_boxes(event, position, state, sealed)
            case _:
                pass

    def _note_buyers(self, state: RoundState) -> None:
        most = {
            seat.player: max((play.bought for play in seat.plays.values()), default=0)
            for seat in state.seats.values()
        }
        self.buyers = [
            [player for player, bought in most.items() if bought > index] for index in range(SWITCH_CARDS)
        ]

    def _switch_card(
        self, event: e.CardScanned | e.CardRescanned, position: int, state: RoundState, sealed: Sealed
    ) -> Iterator[tuple[str, Item]]:
        index = next((i for i in range(len(self.buyers)) if event.place == switch_place(i)), None)
        if index is None or not self.buyers[index]:
            return
        # All of them are shown the same.
        item = Item(position, event, (_private(state, sealed, event.place),))
        for player in self.buyers[index]:
            yield player, item

    def _of_private_boxes(
        self, event: e.RoundEvent, position: int, state: RoundState, sealed: Sealed
    ) -> Iterator[tuple[str, Item]]:
        for player in state.seats:
            told = self.told.setdefault(player, {})
            places = entitled_places(state, player)
            new = [place for place in places if told.get(place) != state.commitments[place]]
            if not new:
                continue
            bonuses = tuple(_known_bonuses(state, sealed, player, frozenset(new), told))
            told.update({place: state.commitments[place] for place in new})
            yield (
                player,
                Item(position, event, tuple(_private(state, sealed, place) for place in new), bonuses),
            )


def _private(state: RoundState, sealed: Sealed, place: str) -> PrivateCard:
    return PrivateCard(place, card_text(card_at(state, sealed, place)))


def _known_bonuses(
    state: RoundState, sealed: Sealed, player: str, new: frozenset[str], told: dict[str, str]
) -> Iterator[KnownBonus]:
    """Bonus B of the boxes whose first five the player now sees for the first time (RULES.md section 6)."""
    rows = state.ruleset.bonus_player
    if rows is None:
        return
    for play in state.seats[player].ordered():
        places = [box_place(play.box, index) for index in range(HAND_SIZE)]
        if not play.bonus_player or new.isdisjoint(places):
            continue
        if not all(place in new or place in told or place in state.cards for place in places):
            continue
        row = player_bonus_row(rows, evaluate(first_five(state, sealed, play.box)))
        line = player_bonus_line(row, play.bonus_player, play.bonus_player_funding)
        hand = None if row is None else row.hand
        yield KnownBonus(play.box, line.stake, hand, line.returned, line.jackpot_share_percent)
