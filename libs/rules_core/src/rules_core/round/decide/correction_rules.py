"""What a correction may say, and what the corrected round must be (RULES.md sections 4.9, 5 and 7)."""

from __future__ import annotations

from rules_core.cards import CARD_OF
from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.decide.ending import CANCEL_REASONS
from rules_core.round.decide.settling import box_case, drawn_cards
from rules_core.round.decide.wording import is_staff
from rules_core.round.hands import dealer_five, hand_of
from rules_core.round.refusal import Refusal, refuse
from rules_core.round.sealed import Sealed
from rules_core.round.state import BoxPlay, PlayerSeat, RoundState
from rules_core.settlement.insurance import insurance_refusal
from rules_core.settlement.model import Case, CaseError
from rules_core.settlement.settle import settle

RESETTLE_REASONS = (*CANCEL_REASONS, "wrong_result")
"""RULES.md section 7."""
_OPTIONS = frozenset({"bet", "sixth", "exchange", "fold", "none"})
_FINALS = frozenset({"bet", "fold"})
_FIXES_MAX = 1_000
"""Bound of the cards, and of the choices, in one correction."""


def check_correction(command: c.Resettle, state: RoundState) -> Refusal | None:
    """Whether a correction is by two people, for a known reason, and says something that it can mean."""
    return check_grounds(command, state) or _check_cards(command, state) or _check_choices(command, state)


def check_grounds(command: c.Resettle, state: RoundState) -> Refusal | None:
    """Whether a correction comes when it can, by two people, for a known reason, with an input."""
    if state.step != "settled":
        return refuse("round_not_settled", "only a settled round can be corrected; cancel one that is not")
    if command.reason not in RESETTLE_REASONS:
        text = f"give one of: {', '.join(RESETTLE_REASONS)}"
        return refuse("reason_unknown", text, reason=command.reason)
    people = (command.proposer, command.approver)
    if not all(is_staff(person) for person in people) or people[0] == people[1]:
        return refuse("second_person_missing", "a correction is proposed and approved by two different staff")
    if command.reason == "wrong_result" and not command.refund:
        return refuse("refund_missing", "a wrong result refunds every wager (RULES.md section 4.9)")
    if command.refund == bool(command.cards or command.choices):
        return refuse("correction_unclear", "give either a refund, or the cards or choices that were wrong")
    return None


def _check_cards(command: c.Resettle, state: RoundState) -> Refusal | None:
    if len({fix.place for fix in command.cards}) < len(command.cards) or len(command.cards) > _FIXES_MAX:
        return refuse("correction_repeated", f"name each place once, at most {_FIXES_MAX} in a correction")
    for fix in command.cards:
        if fix.place not in state.cards:
            return refuse("place_unknown", f"no card lay in {fix.place}", place=fix.place)
        if fix.card not in CARD_OF:
            return refuse("card_unreadable", f"{fix.card!r} is not a card", place=fix.place)
    return None


def _check_choices(command: c.Resettle, state: RoundState) -> Refusal | None:
    named = {(choice.box, choice.player) for choice in command.choices}
    if len(named) < len(command.choices) or len(command.choices) > _FIXES_MAX:
        return refuse("correction_repeated", f"name each box of a player once, at most {_FIXES_MAX} of them")
    for choice in command.choices:
        seat = state.seats.get(choice.player)
        play = seat.plays.get(choice.box) if seat is not None else None
        if play is None:
            text = "this player did not play this box"
            return refuse("no_such_box", text, box=choice.box, player=choice.player)
        wrong = _meaningless(choice, play)
        if wrong is not None:
            return refuse("correction_without_meaning", wrong, box=choice.box, player=choice.player)
    return None


def _meaningless(choice: e.ChoiceCorrection, play: BoxPlay) -> str | None:
    """Why a corrected choice can mean nothing in this box, or None."""
    if choice.option is not None and choice.option not in _OPTIONS:
        return f"option is one of {', '.join(sorted(_OPTIONS))}"
    if choice.final is not None and choice.final not in _FINALS:
        return f"final is one of {', '.join(sorted(_FINALS))}"
    if choice.positions and choice.option != "exchange":
        return "positions go with option exchange"
    said = (choice.option, choice.final, choice.insurance)
    if play.blind and said != (None, None, None):
        return "a blind box has no option, final option or insurance"
    option = choice.option or play.option
    if choice.final is not None and option == "fold":
        return "a box that folded in the first window has no final option"
    if (*said, choice.purchase) == (None, None, None, None):
        return "say what the box really did"
    return None


def check_corrected(state: RoundState, sealed: Sealed) -> Refusal | None:
    """A corrected round must be one that the rules allow, as a case must (CONTRACTS.md section 1)."""
    plays = [(seat, play) for seat in state.seats.values() for play in seat.ordered()]
    for _, play in plays:
        if play.bought > _cards_bought(state, play):
            text = "no card was laid for this exchange; refund instead"
            return refuse("cards_missing", text, box=play.box, player=play.player)
    cards = [
        *(state.cards | state.corrected_cards).values(),
        *(card for card in state.burned if card is not None),
    ]
    if len(set(cards)) < len(cards):
        return refuse("correction_card_repeated", "with this correction one card lies in two places")
    draws = drawn_cards(state, sealed)
    boxes = tuple(box_case(state, sealed, play, seat.currency) for seat, play in plays)
    result = settle(Case(state.ruleset, dealer_five(state, sealed), draws, boxes))
    if isinstance(result, CaseError):
        text = f"{result.message}; or refund"
        return refuse(f"correction_{result.code}", text, box=result.box, player=result.player)
    return _check_insurance(state, sealed, plays)


def _check_insurance(
    state: RoundState, sealed: Sealed, plays: list[tuple[PlayerSeat, BoxPlay]]
) -> Refusal | None:
    """The table's own limit of insurance, which a case does not know."""
    for seat, play in plays:
        limits = state.limits[seat.currency]
        if not play.insurance or limits.insurance_max is None:
            continue
        code = insurance_refusal(
            state.ruleset,
            hand_of(state, sealed, play, {}),
            ante=play.ante,
            amount=play.insurance,
            max_payout=limits.max_payout_in(play.box),
            table_max=limits.insurance_max,
        )
        if code is not None:
            text = "this insurance was not within the table's limits; correct it too, or refund"
            return refuse(f"correction_{code}", text, box=play.box, player=play.player)
    return None


def _cards_bought(state: RoundState, play: BoxPlay) -> int:
    """How many bought cards were laid for a box."""
    prefix = "switch." if state.ruleset.shared else f"replacement.{play.box}."
    return sum(1 for place in state.cards if place.startswith(prefix))
