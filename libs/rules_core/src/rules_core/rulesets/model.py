"""A ruleset as immutable data (RULES.md section 6).

Nothing in this package ever asks for a house's name: whatever differs between houses is a field here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

TableKind = Literal["shared", "exclusive"]
BoxKind = Literal["open", "blind", "any"]
OpenCards = Literal["public", "private"]
EqualAntes = Literal["no", "open_boxes", "all_boxes"]
Fate = Literal["lost", "returned"]
AnteFate = Literal["returned", "one_to_one"]
Redraw = Literal["never", "once", "until_different"]
PairedStraight = Literal["two_straights", "straight_and_pair"]
WindowName = Literal["options", "final_options", "purchase"]


@dataclass(frozen=True, slots=True)
class Fraction:
    """A part of a sum as two positive integers, so that no float ever touches money."""

    numerator: int
    denominator: int

    def floor_of(self, amount: int) -> int:
        """The part of `amount` (minor units), rounded down (RULES.md section 5, insurance maximum)."""
        return amount * self.numerator // self.denominator


@dataclass(frozen=True, slots=True)
class Seating:
    """Which boxes one player may hold (RULES.md section 4.1, Seating, and section 6)."""

    open_boxes_max: int
    """Most open boxes of one player in a round."""
    blind_boxes_max: int | None
    """Most blind boxes of one player; 0 for none, None for any number."""
    blind_needs_open_boxes: int
    """A blind box only while the player holds this many open ones (0: no such rule)."""
    neighbours_only: bool
    """All boxes of a player form one run of neighbours."""
    equal_antes: EqualAntes


@dataclass(frozen=True, slots=True)
class InsuranceRules:
    """Insurance against no game (RULES.md section 5). A ruleset without insurance has None instead."""

    fraction: Fraction
    on_tie: Fate
    when_beaten: Fate
    ante_on_no_game: AnteFate
    may_purchase: bool


@dataclass(frozen=True, slots=True)
class PurchaseRules:
    """Dealer purchase (RULES.md section 4.8). A ruleset without it has None instead."""

    blind_boxes: bool
    needs_combination: bool
    same_rank_redraw: Redraw
    ante_after_failed: AnteFate

    @property
    def reserve_cards(self) -> int:
        """Cards kept back for a purchase when the deck runs short (RULES.md section 6, last paragraph)."""
        return {"never": 1, "once": 2, "until_different": 4}[self.same_rank_redraw]


@dataclass(frozen=True, slots=True)
class BonusRow:
    """One row of a bonus table: a hand, of a certain rank if `rank` is set, and what it pays."""

    hand: str
    rank: int | None
    """0..12 for 2..A: three of a kind of this rank, or two pair that holds this rank; None for any."""
    pays: int | None
    """Odds to one; None for a jackpot row."""
    jackpot_share_percent: int | None
    """Share of the progressive jackpot; the stake comes back. None for a row with fixed odds."""


@dataclass(frozen=True, slots=True)
class Ruleset:
    """Everything that a house decides about the game; see RULES.md section 6 for each parameter."""

    id: str
    """`name@version`, for example `live-shared@1`."""
    title: str
    table: TableKind
    boxes: int
    box_kinds: tuple[BoxKind, ...]
    """One entry a box, box 1 first: `any` lets the player choose open or blind."""
    open_cards: OpenCards
    seating: Seating
    windows: tuple[WindowName, ...]
    """The decision windows that are asked, in the order of the round."""
    exchange_max: int
    insurance: InsuranceRules | None
    purchase: PurchaseRules | None
    cap_includes_insurance: bool
    paired_straight: PairedStraight
    bonus_player: tuple[BonusRow, ...] | None
    bonus_dealer: tuple[BonusRow, ...] | None
    sha256: str
    """Of the canonical JSON of the ruleset's object (not part of that object)."""

    @property
    def shared(self) -> bool:
        """Whether unlimited players play the same boxes (RULES.md section 6)."""
        return self.table == "shared"

    @property
    def private(self) -> bool:
        """Whether open boxes are seen by their own player only (RULES.md section 4.2)."""
        return self.open_cards == "private"

    def box_may_be(self, box: int, *, blind: bool) -> bool:
        """Whether box number `box` (1-based, in range) can be played blind, or open."""
        kind = self.box_kinds[box - 1]
        return kind in ("any", "blind" if blind else "open")
