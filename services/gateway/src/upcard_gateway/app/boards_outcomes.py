"""What becomes of each wager in each case, found by settling a hand of that case by the ruleset."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

from rules_core.cards import parse_card, parse_cards
from rules_core.rulesets.model import Ruleset
from rules_core.settlement.model import BoxCase, Case, Line, Option, Settlement, Wagers
from rules_core.settlement.settle import settle

Fate = Literal["lost", "returned", "one_to_one", "odds"]
CaseName = Literal[
    "folded",
    "no_game",
    "game_better",
    "game_tie",
    "game_worse",
    "bought_no_game",
    "bought_game_better",
    "bought_game_tie",
    "bought_game_worse",
]

_ANTE: Final = 100
_BOX: Final = parse_cards("9s 8s 7c 6c 5d")
_SIXTH: Final = parse_card("3s")
"""A straight to the nine, which a sixth card does not change: high enough to be insured."""
_NO_GAME: Final = "Kd 9h 8c 7d 6h"
"""One card from a straight; its highest card, the king, is the one that a purchase replaces."""

_DEALT: Final[dict[CaseName, str]] = {
    "folded": _NO_GAME,
    "no_game": _NO_GAME,
    "game_better": "Ad Kc 4h 3c 2d",
    "game_tie": "9h 8c 7d 6h 5h",
    "game_worse": "Th 9h 8c 7d 6h",
}
_BOUGHT: Final[dict[CaseName, str]] = {
    "bought_no_game": "2d",
    "bought_game_better": "9c",
    "bought_game_tie": "5h",
    "bought_game_worse": "Th",
}


@dataclass(frozen=True, slots=True)
class WagerOutcome:
    """What becomes of one wager; `reason` is the slug that explains it (docs/settlement-reasons.md)."""

    wager: str
    fate: Fate
    reason: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """One case: what becomes of the wagers of a box that bought a sixth card."""

    case: CaseName
    insured: bool
    wagers: tuple[WagerOutcome, ...]


@cache
def outcomes(ruleset: Ruleset) -> tuple[Outcome, ...]:
    """Every case that can occur by this ruleset, not insured and insured."""
    found: list[Outcome] = []
    for insured in (False, True):
        for case, dealer in _DEALT.items():
            found += _outcome(ruleset, case, dealer, None, insured=insured)
        for case, draw in _BOUGHT.items():
            found += _outcome(ruleset, case, _NO_GAME, draw, insured=insured)
    return tuple(found)


def _outcome(
    ruleset: Ruleset, case: CaseName, dealer: str, draw: str | None, *, insured: bool
) -> list[Outcome]:
    box = next(box for box in range(1, ruleset.boxes + 1) if ruleset.box_may_be(box, blind=False))
    played = BoxCase(
        box=box,
        player="p",
        blind=False,
        cards=_BOX,
        option=Option("sixth", (), (_SIXTH,)),
        final="fold" if case == "folded" else "bet",
        insurance=_ANTE if insured else 0,
        purchase=draw is not None,
        wagers=Wagers(_ANTE),
        max_payout=None,
    )
    draws = () if draw is None else (parse_card(draw),)
    settled = settle(Case(ruleset, parse_cards(dealer), draws, (played,)))
    if not isinstance(settled, Settlement):
        return []  # it cannot occur by this ruleset: no insurance, no purchase, or not both
    return [Outcome(case, insured, tuple(map(_fate, settled.boxes[0].lines)))]


def _fate(line: Line) -> WagerOutcome:
    won = line.returned - line.stake
    fate: Fate = "lost"
    if won > 0:
        fate = "odds" if line.wager == "bet" else "one_to_one"
    elif line.returned:
        fate = "returned"
    return WagerOutcome(line.wager, fate, line.reason)
