"""What the fold of a round's events knows. The fold owns it and changes it in place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from rules_core.cards import Card
from rules_core.round.events import ChoiceCorrection, RoundOpened
from rules_core.round.events.fields import BetKind, StakeName, WindowKind
from rules_core.round.exposure import worst_returns
from rules_core.round.limits import CurrencyLimits
from rules_core.rulesets.model import Ruleset
from rules_core.settlement.model import BoxResult, OptionKind

Step = Literal[
    "new",  # before RoundOpened
    "betting",  # the betting window is open
    "deal",  # cards of the deal are awaited, then their confirmation
    "options",  # an options window is open
    "replace",  # switch or replacement cards are awaited, then their confirmation
    "next",  # no card is awaited: the round's own next step (Proceed)
    "final_options",  # a final options window is open
    "revealed",  # the dealer's hand is open: purchase or settlement
    "purchase",  # the purchase window is open
    "draw",  # the dealer's draws are awaited, then their confirmation
    "decided",  # nothing is left to decide: settlement
    "settling",  # some players are settled
    "settled",
    "resettling",  # a correction is decided, some players have no new revision yet
    "cancelled",
]


@dataclass(slots=True)
class BoxPlay:
    """One player's hand in one box: wagers and choices, no cards."""

    player: str
    box: int
    blind: bool
    ante: int = 0
    bet: int = 0
    bonus_player: int = 0
    bonus_dealer: int = 0
    ante_funding: str | None = None
    bonus_player_funding: str | None = None
    bonus_dealer_funding: str | None = None
    option: OptionKind | None = None
    positions: tuple[int, ...] = ()
    fee: int = 0
    asked_final: bool = False
    final: Literal["bet", "fold", "stand"] | None = None
    defaulted: bool = False
    """Whether the final choice was the platform's."""
    insurance: int = 0
    purchase: bool | None = None

    @property
    def folded(self) -> bool:
        """Whether the box is out of the round."""
        return self.option == "fold" or self.final == "fold"

    @property
    def bought(self) -> int:
        """How many cards the option bought: the first so many replacement cards are this box's."""
        if self.option == "sixth":
            return 1
        return len(self.positions)

    @property
    def staked(self) -> int:
        """All stakes and fees of the box so far, minor units."""
        purchase = self.ante if self.purchase else 0
        return (
            self.ante
            + self.bet
            + self.fee
            + self.insurance
            + purchase
            + self.bonus_player
            + self.bonus_dealer
        )


@dataclass(slots=True)
class PlacementRecord:
    """A placement that stands, or what is left of it; undo takes the latest one whole."""

    bet_id: str
    kind: BetKind
    stakes: dict[tuple[int, StakeName], int]


@dataclass(slots=True)
class PlayerSeat:
    """One player of the round."""

    player: str
    currency: str
    plays: dict[int, BoxPlay] = field(default_factory=dict)
    placements: list[PlacementRecord] = field(default_factory=list)
    revision: int = 0
    results: tuple[BoxResult, ...] = ()

    def ordered(self) -> list[BoxPlay]:
        """The player's boxes in number order."""
        return [self.plays[box] for box in sorted(self.plays)]


@dataclass(slots=True)
class Window:
    """The open window."""

    kind: WindowKind
    box: int | None
    opened_at: str
    closes_at: str
    extended_ms: int = 0


@dataclass(slots=True)
class RoundState:
    """A round so far, of public facts alone: face-down cards appear as commitments."""

    ruleset: Ruleset
    step: Step = "new"
    opened: RoundOpened | None = None
    limits: dict[str, CurrencyLimits] = field(default_factory=dict)
    window: Window | None = None
    last_at: str = ""
    """The latest instant of the owner's own steps."""
    worst: Mapping[str, int] = field(default_factory=dict)
    """By wager, the most that each minor unit of it can bring back."""
    exposure: int = 0
    """The most that all bets together can bring back, minor units of all currencies added up."""
    betting_closes_at: str = ""
    closed: dict[tuple[WindowKind, int | None], str] = field(default_factory=dict)
    """When each window that was closed had its cut-off."""
    seats: dict[str, PlayerSeat] = field(default_factory=dict)
    standing: int = 0
    """Boxes with an ante, all players together."""
    owners: dict[int, str] = field(default_factory=dict)
    """Exclusive tables: whose box it is."""
    bet_ids: set[str] = field(default_factory=set)
    declined: dict[str, int] = field(default_factory=dict)
    """How many BetDeclined each player has that count towards the bound of 20."""
    boxes: tuple[int, ...] = ()
    """Boxes that are dealt cards."""
    cards: dict[str, Card] = field(default_factory=dict)
    """Public cards by place."""
    commitments: dict[str, str] = field(default_factory=dict)
    """Face-down cards not yet opened, by place."""
    superseded: dict[str, list[str]] = field(default_factory=dict)
    """Commitments of misreads not yet opened, by place."""
    unread: dict[str, None] = field(default_factory=dict)
    """Places laid in manual mode without a scan."""
    scan_ids: set[str] = field(default_factory=set)
    burned: list[Card | None] = field(default_factory=list)
    awaited: tuple[str, ...] = ()
    """Places that await a card, the next one first; with `laid`, those laid since the last confirmation."""
    laid: tuple[str, ...] = ()
    undecided: dict[tuple[int, str], BoxPlay] = field(default_factory=dict)
    """Asked boxes without a decision in the open window."""
    current_box: int = 0
    """Exclusive tables: the box whose turn it is or was last; 0 before the first."""
    purchases: int = 0
    """Boxes that bought the dealer's exchange."""
    draws: int = 0
    """Cards drawn after a dealer purchase."""
    final_cards_revealed: bool = False
    order: tuple[str, ...] = ()
    """Players with a bet at the close, in the order of their first bet."""
    settle_index: int = 0
    """How many of `order` the running settlement or correction has passed."""
    correction: int = 0
    refunded: bool = False
    corrected_cards: dict[str, Card] = field(default_factory=dict)
    corrected_choices: list[ChoiceCorrection] = field(default_factory=list)
    totals: dict[str, list[int]] = field(default_factory=dict)
    """By currency: players, staked, returned."""

    @property
    def ended(self) -> bool:
        """Whether the round is settled or cancelled."""
        return self.step in {"settled", "cancelled", "resettling"}


def new_round(ruleset: Ruleset) -> RoundState:
    """The state before `RoundOpened`, for a round under this ruleset."""
    return RoundState(ruleset, worst=worst_returns(ruleset))
