"""The round's own next step: which window or hand opens now (RULES.md sections 4.3 to 4.8)."""

from __future__ import annotations

from rules_core.cards import CARD_OF, Card, card_text
from rules_core.hands import evaluate
from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.decide.cards import lying, openings_of
from rules_core.round.decide.finals import asks_final
from rules_core.round.decide.options import group
from rules_core.round.decide.purchase import purchase_asked
from rules_core.round.hands import HandMemo
from rules_core.round.places import HAND_SIZE, UP_CARD, box_place, dealer_place, replacement_place
from rules_core.round.refusal import Refusal, refuse
from rules_core.round.sealed import Sealed
from rules_core.round.state import BoxPlay, RoundState
from rules_core.round.times import plus_ms
from rules_core.settlement.dealer import final_dealer_cards

Decision = tuple[e.RoundEvent, ...] | Refusal


def awaits_confirmation(state: RoundState) -> bool:
    """Whether all awaited cards lie and only their confirmation is missing."""
    return state.step in {"deal", "replace", "draw"} and not state.awaited


def confirm_cards(command: c.ConfirmCards, state: RoundState, sealed: Sealed) -> Decision:
    """What follows the confirmed cards: a window, the showdown, or DealerRequalified."""
    if state.step in {"deal", "replace", "draw"} and state.awaited:
        place = state.awaited[0]
        text = f"lay {len(state.awaited)} more cards first, the next in {place}"
        return refuse("cards_missing", text, place=place)
    if not awaits_confirmation(state):
        return refuse("nothing_to_confirm", "no cards await a confirmation")
    if state.step != "draw":
        return _next(state, sealed, command.at, command.by, dict(command.manual_cards))
    return _not_opened(dict(command.manual_cards)) or requalified(state, command.by)


def proceed(command: c.Proceed, state: RoundState, sealed: Sealed) -> Decision:
    """The next step where no card has to be confirmed."""
    manual = dict(command.manual_cards)
    if state.step == "next":
        return _next(state, sealed, command.at, None, manual)
    if state.step == "revealed":
        return _not_opened(manual) or offer_purchase(state, sealed, command.at)
    return refuse("nothing_to_do", "the round waits for cards, for a window to close, or for its settlement")


def _not_opened(manual: dict[str, Card]) -> Refusal | None:
    """Cards named in manual mode must be cards that open now."""
    if not manual:
        return None
    place = next(iter(manual))
    return refuse("card_not_expected", f"no card of {place} is opened now", place=place)


def _next(state: RoundState, sealed: Sealed, at: str, by: str | None, manual: dict[str, Card]) -> Decision:
    window = _window(state, sealed, at, by)
    if window is None:
        return showdown(state, sealed, by, manual)
    return _not_opened(manual) or (window,)


def _window(
    state: RoundState, sealed: Sealed, at: str, by: str | None
) -> e.OptionsOpened | e.FinalOptionsOpened | None:
    """The window that opens now, or None when the showdown is next."""
    if state.opened is None:
        return None
    durations = state.opened.durations
    box = None if state.ruleset.shared else state.current_box or None
    asked = _asked_final(state, sealed, _turn(state))
    if asked:
        closes_at = plus_ms(at, durations.final_options_ms)
        return e.FinalOptionsOpened(box, asked, at, closes_at, by)
    if state.ruleset.shared:
        following = None
        opens = state.step == "deal" and bool(_open_plays(state))
    else:
        following = _next_open_box(state)
        opens = following is not None
    return e.OptionsOpened(following, at, plus_ms(at, durations.options_ms), by) if opens else None


def _turn(state: RoundState) -> list[BoxPlay]:
    """The boxes whose options are done and that the final window may ask now."""
    if state.ruleset.shared:
        return _open_plays(state) if state.step == "replace" else []
    play = _play_of(state, state.current_box)
    return [play] if play is not None else []


def _open_plays(state: RoundState) -> list[BoxPlay]:
    return [play for seat in state.seats.values() for play in seat.plays.values() if not play.blind]


def _play_of(state: RoundState, box: int) -> BoxPlay | None:
    seat = state.seats.get(state.owners.get(box, ""))
    return seat.plays.get(box) if seat is not None else None


def _next_open_box(state: RoundState) -> int | None:
    if state.ruleset.shared:
        return None
    for box in state.boxes:
        play = _play_of(state, box)
        if box > state.current_box and play is not None and not play.blind:
            return box
    return None


def _asked_final(state: RoundState, sealed: Sealed, plays: list[BoxPlay]) -> tuple[e.BoxPlayers, ...]:
    memo: HandMemo = {}
    asked = {(play.box, play.player): play for play in plays if asks_final(state, sealed, play, memo)}
    return group(asked)


def showdown(state: RoundState, sealed: Sealed, by: str | None, manual: dict[str, Card]) -> Decision:
    """The boxes and the dealer's hand, in the order of RULES.md section 4.7."""
    boxes = openings_of(state, sealed, _showdown_places(state), manual)
    if isinstance(boxes, Refusal):
        return boxes
    dealer = dealer_revealed(state, sealed, by, manual)
    if isinstance(dealer, Refusal):
        return dealer
    unopened = _not_opened(manual)
    if unopened is not None:
        return unopened
    repeated = lying(boxes) & lying(dealer.openings)
    if repeated:
        return refuse(
            "scan_problem", "the card cannot be accepted; scan it again, rescan another one, or cancel"
        )
    cards = (e.CardsRevealed(boxes, final=False, confirmed_by=by),) if boxes else ()
    return (dealer, *cards) if state.ruleset.private else (*cards, dealer)


def _showdown_places(state: RoundState) -> tuple[str, ...]:
    """Face-down boxes that open at the showdown: on private tables those that did not fold."""
    places: list[str] = []
    for box in state.boxes:
        play = _play_of(state, box) if not state.ruleset.shared else None
        if play is not None and play.folded:
            continue
        places += [box_place(box, i) for i in range(HAND_SIZE)]
        if play is not None:
            places += [replacement_place(box, i) for i in range(play.bought)]
    return tuple(places)


def dealer_revealed(
    state: RoundState, sealed: Sealed, by: str | None, manual: dict[str, Card]
) -> e.DealerRevealed | Refusal:
    """The dealer's hand opened (RULES.md section 4.7); takes manual cards out of `manual`."""
    openings = openings_of(state, sealed, tuple(dealer_place(i) for i in range(HAND_SIZE - 1)), manual)
    if isinstance(openings, Refusal):
        return openings
    by_place = {o.place: CARD_OF[o.card] for o in openings if not o.superseded}
    by_place[UP_CARD] = state.cards[UP_CARD]
    hand = evaluate(tuple(by_place[dealer_place(i)] for i in range(HAND_SIZE)))
    return e.DealerRevealed(openings, hand.best, hand.qualifies, by)


def offer_purchase(state: RoundState, sealed: Sealed, at: str) -> Decision:
    """PurchaseOffered where the dealer has no game and a box may buy."""
    asked = purchase_asked(state, sealed)
    if not asked or state.opened is None:
        return refuse("nothing_to_do", "no box may buy; settle the round")
    return (e.PurchaseOffered(asked, at, plus_ms(at, state.opened.durations.purchase_ms)),)


def requalified(state: RoundState, by: str) -> tuple[e.DealerRequalified]:
    """The dealer's hand after the draws (RULES.md section 4.8)."""
    dealer = tuple(state.cards[dealer_place(i)] for i in range(HAND_SIZE))
    draws = tuple(state.cards[f"draw.{i}"] for i in range(state.draws))
    final = final_dealer_cards(dealer, draws)
    hand = evaluate(final)
    cards = tuple(card_text(card) for card in final)
    return (e.DealerRequalified(cards, hand.best, hand.qualifies, by),)
