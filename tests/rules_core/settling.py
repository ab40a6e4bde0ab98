"""Settlement cases in a few words, and their results, for the tests of the rules and of the seed texts."""

from __future__ import annotations

from typing import Any

from rules_core.settlement.case_json import parse_case
from rules_core.settlement.model import CaseError
from rules_core.settlement.result_json import error_object, settlement_object
from rules_core.settlement.settle import settle

Json = dict[str, Any]

NO_GAME = "Qs Jd 8h 5c 3d"
"""The dealer without game; a purchase replaces the queen."""
QUEENS = "Qs Qd 9c 5h 2c"
"""The dealer with a low game."""


def box(
    cards: str, option: str = "bet", bought: str = "", positions: tuple[int, ...] = (), **changes: Any
) -> Json:
    """One entry of a case: ante 100, a bet unless it is folded or blind; `changes` replace whole keys.

    `ante`, `bonus_player` and `bonus_dealer` among the changes go to the wagers.
    """
    kind: Json = {"kind": option}
    if option in ("sixth", "exchange"):
        kind["cards"] = bought.split()
    if option == "exchange":
        kind["positions"] = list(positions)
    wagers = {"ante": 100, "bonus_player": 0, "bonus_dealer": 0}
    wagers |= {wager: changes.pop(wager) for wager in tuple(wagers) if wager in changes}
    blind = changes.get("blind", False)
    entry = {
        "box": 2,
        "player": "p1",
        "blind": blind,
        "cards": cards.split(),
        "option": kind,
        "final": None if blind or option == "fold" else "bet",
        "insurance": 0,
        "purchase": False,
        "wagers": wagers,
    }
    return entry | changes


def blind(cards: str, **changes: Any) -> Json:
    """A blind entry, in box 1."""
    return box(cards, "none", **{"box": 1, "blind": True, **changes})


def case(ruleset: str, dealer: str, *boxes: Json, draws: str = "", cap: int | None = None) -> Json:
    """A whole case."""
    return {
        "ruleset": ruleset,
        "max_payout": cap,
        "dealer": {"cards": dealer.split(), "draws": draws.split()},
        "boxes": list(boxes),
    }


def outcome_of(wanted: object) -> Json:
    """The result of a case, or its error, as the command line prints it."""
    parsed = parse_case(wanted)
    result = parsed if isinstance(parsed, CaseError) else settle(parsed)
    return error_object(result) if isinstance(result, CaseError) else settlement_object(result)


def settled(ruleset: str, dealer: str, *boxes: Json, draws: str = "", cap: int | None = None) -> list[Json]:
    """The entries of the result of a case that breaks no rule."""
    result = outcome_of(case(ruleset, dealer, *boxes, draws=draws, cap=cap))
    assert "error" not in result, result
    entries: list[Json] = result["boxes"]
    return entries


def one(ruleset: str, dealer: str, entry: Json, draws: str = "", cap: int | None = None) -> Json:
    """The only entry of the result of a case with one box."""
    return settled(ruleset, dealer, entry, draws=draws, cap=cap)[0]


def returned(entry: Json) -> Json:
    """What each wager of a settled box gave back, by its name."""
    return {line["wager"]: line["returned"] for line in entry["lines"]}


def reasons(entry: Json) -> Json:
    """Why, by the wager's name."""
    return {line["wager"]: line["reason"] for line in entry["lines"]}


def code_of(ruleset: str, dealer: str, *boxes: Json, draws: str = "", cap: int | None = None) -> str:
    """The code of the error of a case that breaks a rule."""
    result = outcome_of(case(ruleset, dealer, *boxes, draws=draws, cap=cap))
    assert "error" in result, result
    code: str = result["error"]["code"]
    return code


def fates(ruleset: str, dealer: str, entry: Json, draws: str = "", cap: int | None = None) -> Json:
    """Outcome, and (returned, reason) by wager."""
    (result,) = settled(ruleset, dealer, entry, draws=draws, cap=cap)
    why = reasons(result)
    return {"outcome": result["outcome"]} | {
        wager: (amount, why[wager]) for wager, amount in returned(result).items()
    }
