"""Cases that together need every sentence of an explanation, by what each is about."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from rules_core.explain import Explanation, explain, explain_refund
from rules_core.round.decide.settling import REFUNDED
from rules_core.settlement.case_json import parse_case
from rules_core.settlement.model import BoxResult, Case, CaseError, Line, Settlement
from rules_core.settlement.settle import settle
from tests.rules_core.settling import NO_GAME, QUEENS, Json, blind, box, case

STRAIGHT: Final = "9h 8d 7h 6d 5c"
NINES: Final = "9s 9h 9d 4c 2d"
THREES: Final = "3s 3h 3d 4c 2d"
FREE: Final = {"stake": 100, "funding": "free-1"}

CASES: Final[dict[str, Json]] = {
    "two combinations": case("live-shared@1", QUEENS, box("Ah Ad Kc 7s 3d")),
    "an exchange, insured, that buys a game": case(
        "live-shared@1",
        NO_GAME,
        box(NINES, "exchange", "Kd 7s", (3, 4), insurance=300, purchase=True, bonus_player=10),
        draws="8s",
        cap=1_000_000,
    ),
    "others bought": case(
        "live-shared@1",
        NO_GAME,
        box("Ah Ad Kc 7s 3c", purchase=True),
        box("Ah Ad Kc 7s 3c", player="p2"),
        blind("4h 4d 9c Th 2s", player="p3"),
        draws="8s",
    ),
    "a purchase that fails": case("live-shared@1", NO_GAME, box("Ah Ad Kc 7s 3c", purchase=True), draws="9c"),
    "a failed purchase that pays the ante": case(
        "classic@1", NO_GAME, box("Ah Ad Kc 7s 3c", purchase=True), draws="Qc Qd"
    ),
    "two cards drawn": case("four-box@1", NO_GAME, box(NINES, purchase=True), draws="Qc Qd 2c"),
    "folds": case(
        "live-shared@1",
        QUEENS,
        box("4s 7h 9d Tc 3d", "fold"),
        box("4s 7h 9d Tc 3d", "exchange", "8c", (0,), player="p2", final="fold"),
    ),
    "a passed window": case("dark-boxes@1", QUEENS, box("Ah Kd 7s 4c 3d", "none")),
    "a sixth card, one straight twice": case("three-box@1", QUEENS, box("9s 8h 7d 6c 5s", "sixth", "9d")),
    "six cards, two straights of different ranks": case(
        "three-box@1", QUEENS, box("9s 8h 7d 6c 5s", "sixth", "Td")
    ),
    "won by a kicker": case("live-shared@1", QUEENS, box("Qh Qc Ts 5d 2d")),
    "lost by a kicker": case("live-shared@1", "Qs Qd Tc 4h 2c", box("Qh Qc 9s 5d 2d", bonus_player=10)),
    "a tie with kickers": case("classic@1", QUEENS, box("Qh Qc 9s 5d 2d")),
    "a flush against a flush": case(
        "classic@1", "Ah Jh 9h 5h 2h", box("As Js 9s 6s 2s"), box("Ad Jd 8d 7d 6d", box=3)
    ),
    "insurance, beaten and returned": case("live-shared@1", STRAIGHT, box(THREES, insurance=300)),
    "insurance, beaten and kept": case("three-box@1", STRAIGHT, box(THREES, insurance=300)),
    "insurance, a tie and returned": case("dark-boxes@1", STRAIGHT, box("9s 8h 7d 6c 5s", insurance=300)),
    "insurance, a tie and kept": case("three-box@1", STRAIGHT, box("9s 8h 7d 6c 5s", insurance=300)),
    "insurance, won against": case("three-box@1", QUEENS, box(NINES, insurance=300)),
    "insurance on no game, ante paid": case("three-box@1", NO_GAME, box(NINES, insurance=300)),
    "insurance on no game, ante returned": case("live-shared@1", NO_GAME, box(NINES, insurance=300)),
    "insurance within the cap": case(
        "dark-boxes@1", NO_GAME, box(NINES, insurance=500, purchase=True), draws="8s", cap=500
    ),
    "a cap without insurance": case("live-shared@1", QUEENS, box(NINES), cap=450),
    "no game": case("live-shared@1", NO_GAME, box("4s 7h 9d Tc 3c")),
    "both bonuses won": case(
        "live-shared@1", "7s 7d 7c Jh 2c", box("As Ah Kd 4c 3d", bonus_player=10, bonus_dealer=20)
    ),
    "bonus D lost": case("live-shared@1", QUEENS, box(NINES, bonus_dealer=20)),
    "a jackpot": case("dark-boxes@1", NO_GAME, box("Tc 8c 7c 6c 9c", bonus_player=100)),
    "free bets": case(
        "live-shared@1",
        NO_GAME,
        box(
            NINES,
            insurance=200,
            wagers={"ante": FREE, "bonus_player": FREE | {"funding": "free-2"}, "bonus_dealer": 0},
        ),
    ),
    "a free bet that wins": case(
        "live-shared@1", NO_GAME, box(NINES, wagers={"ante": FREE, "bonus_player": 0, "bonus_dealer": 0})
    ),
}


def settled_case(about: str) -> tuple[Case, Settlement]:
    """The case of that name and its settlement."""
    parsed = parse_case(CASES[about])
    assert isinstance(parsed, Case), parsed
    result = settle(parsed)
    assert not isinstance(result, CaseError), result
    return parsed, result


def explained(about: str) -> Explanation:
    """The explanation of the case of that name."""
    return explain(*settled_case(about))


def refunded(box: BoxResult) -> BoxResult:
    """The box as a correction leaves it that refunds every wager."""
    lines = tuple(
        Line(line.wager, line.stake, line.stake, REFUNDED, None, line.funding) for line in box.lines
    )
    return replace(box, outcome="refunded", lines=lines, returned=box.staked, net=0)


def explained_refund(about: str) -> Explanation:
    """The explanation where every wager of that case went back."""
    return explain_refund([refunded(box) for box in settled_case(about)[1].boxes])
