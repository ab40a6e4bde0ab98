"""What a case must obey as a whole: its boxes side by side and its cards (CONTRACTS.md section 1)."""

from __future__ import annotations

from typing import Final

from rules_core.cards import Card, card_text
from rules_core.settlement.box_rules import error
from rules_core.settlement.model import BoxCase, Case, CaseError

DECK: Final = 52
HAND: Final = 5


def table_error(case: Case) -> CaseError | None:
    """The first reason why these entries cannot be of one round, or None; each must be right by itself."""
    if not case.boxes:
        return CaseError("boxes_empty", "the case has no box; give one entry for each box and player")
    if len(case.dealer) != HAND:
        return CaseError("cards_wrong_number", f"the dealer has 5 cards, not {len(case.dealer)}")
    return _shared_error(case) if case.ruleset.shared else _exclusive_error(case)


def _exclusive_error(case: Case) -> CaseError | None:
    seen: set[int] = set()
    for box in case.boxes:
        if box.box in seen:
            message = f"box {box.box} has two entries; on an exclusive table a box has one player"
            return error("box_taken", message, box)
        seen.add(box.box)
    return _repeated_card(case, [(box, box.cards + box.option.cards) for box in case.boxes]) or _deck_error(
        case
    )


def _deck_error(case: Case) -> CaseError | None:
    """Options are offered as far as the deck, less the purchase reserve, can serve (RULES.md section 6)."""
    bought = sum(map(_cards_bought, case.boxes))
    if not bought:
        return None
    reserve = case.ruleset.purchase.reserve_cards if case.ruleset.purchase else 0
    most = DECK - HAND * (len(case.boxes) + 1) - reserve
    if bought <= most:
        return None
    return CaseError("deck_too_short", f"{bought} cards were bought; the deck can serve only {most}")


def _shared_error(case: Case) -> CaseError | None:
    dealt: dict[int, BoxCase] = {}
    players: set[tuple[int, str]] = set()
    longest = max(case.boxes, key=_cards_bought)
    for box in case.boxes:
        if (box.box, box.player) in players:
            return error("player_repeated", f"this player has two entries for box {box.box}; give one", box)
        players.add((box.box, box.player))
        if dealt.setdefault(box.box, box).cards != box.cards:
            message = f"all entries of box {box.box} must have the same five cards in the same order"
            return error("shared_cards_differ", message, box)
        if box.option.cards != longest.option.cards[: len(box.option.cards)]:
            message = "bought cards must be the first switch cards in order; another entry has others"
            return error("switch_cards_differ", message, box)
    switch_cards = (longest, longest.option.cards)  # the others bought the first of these
    return _repeated_card(case, [*((box, box.cards) for box in dealt.values()), switch_cards])


def _cards_bought(box: BoxCase) -> int:
    return len(box.option.cards)


def _repeated_card(case: Case, owned: list[tuple[BoxCase, tuple[Card, ...]]]) -> CaseError | None:
    """The error of the first card that lies twice, about the box where it is seen again."""
    places: list[tuple[BoxCase | None, tuple[Card, ...]]] = [(None, case.dealer), (None, case.draws), *owned]
    seen: set[Card] = set()
    for owner, cards in places:
        for card in cards:
            if card in seen:
                message = f"{card_text(card)} lies in two places; a deck has it once"
                return error("card_repeated", message, owner)
            seen.add(card)
    return None
