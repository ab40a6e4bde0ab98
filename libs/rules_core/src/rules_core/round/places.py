"""Where a card can lie, as short texts: `box.2.0`, `dealer.4`, `switch.1`, `replacement.3.0`, `draw.0`.

Boxes are 1-based as on the table (RULES.md section 1); the index of a card is 0-based, as `positions` are.
"""

from __future__ import annotations

HAND_SIZE = 5
SWITCH_CARDS = 5
DECK_SIZE = 52
UP_CARD = "dealer.4"


def box_place(box: int, index: int) -> str:
    """The place of the card number `index` (0..4) of a box's first five."""
    return f"box.{box}.{index}"


def dealer_place(index: int) -> str:
    """The place of the dealer's card number `index`; 4 is the up-card."""
    return f"dealer.{index}"


def switch_place(index: int) -> str:
    """The place of a shared switch card (RULES.md section 4.4)."""
    return f"switch.{index}"


def replacement_place(box: int, index: int) -> str:
    """The place of a card bought by an exclusive table's box (RULES.md section 4.4)."""
    return f"replacement.{box}.{index}"


def draw_place(index: int) -> str:
    """The place of a card drawn after a dealer purchase (RULES.md section 4.8)."""
    return f"draw.{index}"


def deal_order(boxes: tuple[int, ...]) -> tuple[str, ...]:
    """The places of the deal: card by card to each box in play and the dealer, the up-card last."""
    rows = range(HAND_SIZE)
    return tuple(place for i in rows for place in (*(box_place(b, i) for b in boxes), dealer_place(i)))
