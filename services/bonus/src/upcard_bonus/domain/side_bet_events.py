"""What became of a round's bonuses B and D: the events of `bonus-<table>.<number>`; they move no money."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from upcard_bonus.domain.fields import BoxNumber, CurrencyCode, Part, Parts, PlayerId, RoundName

Bonus = Literal["player", "dealer"]


@dataclass(frozen=True, slots=True)
class BonusStake:
    """One stake that was decided."""

    player: PlayerId
    box: BoxNumber
    currency: CurrencyCode
    stake: Annotated[int, "Minor units."]
    wins: Annotated[
        int, "What it wins beside the stake, minor units; 0 where it loses, or wins a share of a jackpot."
    ]


@dataclass(frozen=True, slots=True)
class BonusDetermined:
    """B of a box or D is decided: its cards are public. Paid with the round, void when that is cancelled."""

    round: RoundName
    bonus: Annotated[Bonus, "`player`: B, by the box's first five. `dealer`: D, by the dealer's first hand."]
    box: Annotated[int | None, "The box of B; null for D."]
    cards: Annotated[tuple[str, ...], "The five cards, in the order dealt."]
    hand: Annotated[str | None, "The hand that wins by the ruleset's table; null: it loses."]
    pays: Annotated[int | None, "Odds to one; null where it loses, or wins a share of a jackpot."]
    jackpot_share_percent: Annotated[int | None, "Where it wins a share of a progressive jackpot."]
    stakes: Annotated[tuple[BonusStake, ...], "In the order of players and boxes."]
    correction: Annotated[int, "0 as dealt; else the round's correction that changed it."] = 0
    part: Part = 1
    parts: Parts = 1


@dataclass(frozen=True, slots=True)
class VoidTotal:
    """What goes back in one currency."""

    currency: CurrencyCode
    wagers: Annotated[int, "How many stakes."]
    staked: Annotated[int, "Their sum, minor units."]


@dataclass(frozen=True, slots=True)
class BonusVoided:
    """Every stake on B and D of a round goes back and nothing is won: cancelled, or refunded later."""

    round: RoundName
    reason: Annotated[str, "The cancellation's or correction's reason, a slug."]
    totals: Annotated[tuple[VoidTotal, ...], "One entry a currency, in alphabetical order."]


SideBetEvent = BonusDetermined | BonusVoided
