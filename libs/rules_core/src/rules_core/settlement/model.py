"""The words of a settlement: its case and its result (CONTRACTS.md section 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rules_core.cards import Card
from rules_core.rulesets.model import Ruleset

OptionKind = Literal["bet", "sixth", "exchange", "fold", "none"]
Final = Literal["bet", "fold"]
Outcome = Literal["win", "tie", "lose", "no_game", "folded", "refunded"]
"""`refunded` appears in corrections only (RULES.md section 4.9), never in the result of a case."""
WagerName = Literal["ante", "bet", "option_fee", "insurance", "purchase_fee", "bonus_player", "bonus_dealer"]

WAGER_ORDER: tuple[WagerName, ...] = (
    "ante",
    "bet",
    "option_fee",
    "insurance",
    "purchase_fee",
    "bonus_player",
    "bonus_dealer",
)
"""The order of a box's lines (CONTRACTS.md section 1)."""


@dataclass(frozen=True, slots=True)
class Option:
    """The choice of the first window; `positions` are 0-based, `cards` the bought ones in that order."""

    kind: OptionKind
    positions: tuple[int, ...] = ()
    cards: tuple[Card, ...] = ()


@dataclass(frozen=True, slots=True)
class Wagers:
    """What was staked before the deal, in minor units; `*_funding` is a free bet's id, None for cash."""

    ante: int
    bonus_player: int = 0
    bonus_dealer: int = 0
    ante_funding: str | None = None
    bonus_player_funding: str | None = None
    bonus_dealer_funding: str | None = None


@dataclass(frozen=True, slots=True)
class BoxCase:
    """What one player did in one box. `cards` are the first five."""

    box: int
    player: str
    blind: bool
    cards: tuple[Card, ...]
    option: Option
    final: Final | None
    insurance: int
    purchase: bool
    wagers: Wagers
    max_payout: int | None
    """The cap that holds for this box, in minor units (its own, else the case's); None for no cap."""


@dataclass(frozen=True, slots=True)
class Case:
    """A whole settlement case; `dealer` in the order dealt, the up-card last."""

    ruleset: Ruleset
    dealer: tuple[Card, ...]
    draws: tuple[Card, ...]
    boxes: tuple[BoxCase, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """One wager and its fate: `returned` includes the stake where that comes back."""

    wager: WagerName
    stake: int
    returned: int
    reason: str
    jackpot_share_percent: int | None = None
    funding: str | None = None


@dataclass(frozen=True, slots=True)
class BoxResult:
    """What became of one player's box."""

    box: int
    player: str
    outcome: Outcome
    best: str
    combinations: tuple[str, ...]
    odds: int
    lines: tuple[Line, ...]
    staked: int
    returned: int
    net: int


@dataclass(frozen=True, slots=True)
class DealerResult:
    """The dealer's hand as dealt and at the end; `qualified` speaks of the final hand."""

    first: str
    final_cards: tuple[Card, ...]
    final: str
    qualified: bool
    purchased: bool


@dataclass(frozen=True, slots=True)
class Settlement:
    """The result of a case, one entry per input box and in its order."""

    ruleset: str
    ruleset_sha256: str
    engine: int
    dealer: DealerResult
    boxes: tuple[BoxResult, ...]


@dataclass(frozen=True, slots=True)
class CaseError:
    """Why a case cannot be settled: a value, never an exception (CONTRACTS.md section 1)."""

    code: str
    message: str
    box: int | None = None
    player: str | None = None
