"""Deciding the cards: scan, rescan, burn, and the openings of hidden ones (RULES.md sections 4.2, 4.4, 7)."""

from __future__ import annotations

from collections.abc import Iterable

from rules_core.cards import CARD_OF, Card, card_text
from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.hands import undealt
from rules_core.round.places import UP_CARD
from rules_core.round.refusal import Refusal, refuse
from rules_core.round.sealed import Sealed, commitment_of
from rules_core.round.state import RoundState
from rules_core.settlement.dealer import draws_needed

Decision = tuple[e.RoundEvent, ...] | Refusal
_DEALT_STEPS = frozenset(
    {"deal", "options", "replace", "next", "final_options", "revealed", "purchase", "draw", "decided"}
)
_SALT_HEX_LENGTH = 32


def face_down(state: RoundState, place: str) -> bool:
    """Whether a card is laid face down in this place (RULES.md section 4.2 and section 7, hidden card)."""
    kind, _, rest = place.partition(".")
    if kind == "box":
        return _box_face_down(state, int(rest.partition(".")[0]))
    if kind == "dealer":
        return place != UP_CARD
    if kind == "replacement":
        return state.ruleset.private
    return kind == "switch"


def _box_face_down(state: RoundState, box: int) -> bool:
    ruleset = state.ruleset
    if ruleset.shared:
        return not ruleset.box_may_be(box, blind=False)
    seat = state.seats.get(state.owners.get(box, ""))
    play = seat.plays.get(box) if seat is not None else None
    return ruleset.private or (play is not None and play.blind)


def is_known(card: Card, state: RoundState, sealed: Sealed, *, besides: str | None = None) -> bool:
    """Whether a card of this deck was accepted before, face down too; `besides` leaves one place out."""
    hidden = state.commitments
    if besides in hidden:
        hidden = {place: commitment for place, commitment in hidden.items() if place != besides}
    # Hidden cards first: one that is not at hand is an error, whatever lies open.
    if card in sealed.cards_of(hidden.values()):
        return True
    lying = state.cards
    if lying.get(besides or "") == card:
        lying = {place: other for place, other in lying.items() if place != besides}
    return card in lying.values() or card in state.burned


def _deck_empty() -> Refusal:
    return refuse("deck_empty", "all 52 cards of the deck are out; cancel the round (extra_card_dealt)")


def _scan_problem() -> Refusal:
    return refuse("scan_problem", "the card cannot be accepted; scan it again, rescan another one, or cancel")


def scan_card(command: c.ScanCard, state: RoundState, sealed: Sealed) -> Decision:
    """CardScanned in the place that awaits a card; face down with its commitment alone."""
    if command.scan_id in state.scan_ids:
        return refuse("scan_id_used", "this scan is recorded already")
    if not state.awaited:
        text = "no card is awaited; burn it, or cancel the round if it was laid in a hand"
        return refuse("no_card_awaited", text)
    if not undealt(state):
        return _deck_empty()
    place = state.awaited[0]
    hidden = face_down(state, place)
    manual = command.source == "manual"
    if manual and state.ruleset.private:
        return refuse("manual_mode_not_private", "private tables cannot be dealt by hand; cancel the round")
    if manual and hidden and place.startswith("switch."):
        hidden = False
    if manual and hidden:
        if command.card is not None:
            return refuse(
                "card_not_expected", "leave a face-down card unread until it is opened", place=place
            )
        return (e.CardScanned(place, command.scan_id, command.source),)
    found = _check_card(command.card, command.card_salt, state, sealed, hidden=hidden, besides=None)
    if found is not None:
        return found
    card, commitment = _faces(command.card, command.card_salt, hidden=hidden)
    return (e.CardScanned(place, command.scan_id, command.source, card, commitment),)


def _faces(card: Card | None, salt: str | None, *, hidden: bool) -> tuple[str | None, str | None]:
    if card is None:
        return None, None
    if hidden:
        return None, commitment_of(card, salt or "")
    return card_text(card), None


def _check_card(
    card: Card | None,
    salt: str | None,
    state: RoundState,
    sealed: Sealed,
    *,
    hidden: bool,
    besides: str | None,
) -> Refusal | None:
    if card is None:
        return refuse("card_missing", "this place needs the card that was read")
    if hidden and not _is_salt(salt):
        return refuse("card_salt_missing", "a face-down card needs a card salt of 16 bytes as 32 hex digits")
    if hidden and salt in _salts(state, sealed):
        # With one of the two opened, the other could be guessed from its commitment.
        return refuse("card_salt_used", "each face-down card needs a card salt of its own")
    return _scan_problem() if is_known(card, state, sealed, besides=besides) else None


def _salts(state: RoundState, sealed: Sealed) -> set[str]:
    """The card salts of this round's face-down cards, misreads included."""
    salts = {sealed.open(commitment).salt for commitment in state.commitments.values()}
    for misread in state.superseded.values():
        salts.update(sealed.open(commitment).salt for commitment in misread)
    return salts


def _is_salt(salt: str | None) -> bool:
    return salt is not None and len(salt) == _SALT_HEX_LENGTH and not set(salt) - set("0123456789abcdef")


def rescan_card(command: c.RescanCard, state: RoundState, sealed: Sealed) -> Decision:
    """CardRescanned of a card that is not confirmed yet; later a misread card cancels the round."""
    place = command.place
    if command.scan_id in state.scan_ids:
        return refuse("scan_id_used", "this scan is recorded already")
    if place not in state.laid:
        text = "only a card that is not confirmed yet can be scanned again; else cancel (wrong_card_read)"
        return refuse("card_confirmed", text, place=place)
    if command.source == "manual" and state.ruleset.private:
        return refuse("manual_mode_not_private", "private tables cannot be dealt by hand; cancel the round")
    hidden = place in state.commitments
    if place in state.unread or (hidden and command.source == "manual"):
        return refuse("card_not_expected", "leave a face-down card unread until it is opened", place=place)
    found = _check_card(command.card, command.card_salt, state, sealed, hidden=hidden, besides=place)
    if found is None and place.startswith("draw."):
        found = _check_draws(state, place, command.card)
    if found is not None:
        return found
    card, commitment = _faces(command.card, command.card_salt, hidden=hidden)
    return (e.CardRescanned(place, command.scan_id, command.source, card, commitment),)


def _check_draws(state: RoundState, place: str, card: Card) -> Refusal | None:
    """A corrected draw must not make a later draw one too many."""
    dealer = tuple(state.cards[f"dealer.{i}"] for i in range(5))
    drawn = tuple(card if f"draw.{i}" == place else state.cards[f"draw.{i}"] for i in range(state.draws))
    for count in range(1, len(drawn)):
        if not draws_needed(state.ruleset, dealer, drawn[:count]):
            text = "with this card a later one was drawn too many; cancel the round (extra_card_dealt)"
            return refuse("draw_too_many", text, place=place)
    return None


def burn_card(command: c.BurnCard, state: RoundState, sealed: Sealed) -> Decision:
    """CardBurned: gone from the deck; public if it was read (RULES.md section 7)."""
    if command.scan_id in state.scan_ids:
        return refuse("scan_id_used", "this scan is recorded already")
    if state.step not in _DEALT_STEPS:
        return refuse(
            "no_cards_dealt_now", "a card can be burned from the close of betting to the settlement"
        )
    if not undealt(state):
        return _deck_empty()
    if command.card is None:
        return (e.CardBurned(command.scan_id),)
    if is_known(command.card, state, sealed):
        return _scan_problem()
    return (e.CardBurned(command.scan_id, card_text(command.card)),)


def openings_of(
    state: RoundState, sealed: Sealed, places: tuple[str, ...], manual: dict[str, Card]
) -> tuple[e.CardOpening, ...] | Refusal:
    """What opens these places, misreads first; takes manual cards out of `manual`."""
    opened: list[e.CardOpening] = []
    for place in places:
        misreads = state.superseded.get(place, ())
        opened.extend(_opening(sealed, place, old, superseded=True) for old in misreads)
        commitment = state.commitments.get(place)
        if commitment is not None:
            opened.append(_opening(sealed, place, commitment, superseded=False))
        elif place in state.unread:
            card = manual.pop(place, None)
            if card is None:
                return refuse(
                    "card_missing", f"name the card in {place}; it was not read at the deal", place=place
                )
            if is_known(card, state, sealed) or card in lying(opened):
                return _scan_problem()
            opened.append(e.CardOpening(place, card_text(card), committed=False))
    return tuple(opened)


def _opening(sealed: Sealed, place: str, commitment: str, *, superseded: bool) -> e.CardOpening:
    card = sealed.open(commitment)
    return e.CardOpening(
        place,
        card_text(card.card),
        committed=True,
        salt=card.salt,
        commitment=commitment,
        superseded=superseded,
    )


def lying(openings: Iterable[e.CardOpening]) -> set[Card]:
    """The cards that these openings show to lie there, misreads left out."""
    return {CARD_OF[opening.card] for opening in openings if not opening.superseded}


def hidden_places(state: RoundState) -> tuple[str, ...]:
    """Places with anything not yet opened, in the order laid."""
    places: dict[str, None] = {}
    for known in (state.superseded, state.commitments, state.unread):
        for place in known:
            places[place] = None
    return tuple(sorted(places, key=_place_key))


def _place_key(place: str) -> tuple[int, tuple[int, ...]]:
    kind, *numbers = place.split(".")
    order = ("box", "dealer", "switch", "replacement", "draw")
    return order.index(kind), tuple(int(number) for number in numbers)
