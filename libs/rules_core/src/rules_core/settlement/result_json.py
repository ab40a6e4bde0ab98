"""A settlement, or the error of a case, as JSON (CONTRACTS.md section 1)."""

from __future__ import annotations

from rules_core.cards import CARD_TEXTS
from rules_core.settlement.model import BoxResult, CaseError, Line, Settlement


def settlement_object(settlement: Settlement) -> dict[str, object]:
    """The result of a case, keys in the order of CONTRACTS.md."""
    dealer = settlement.dealer
    return {
        "ruleset": settlement.ruleset,
        "ruleset_sha256": settlement.ruleset_sha256,
        "engine": settlement.engine,
        "dealer": {
            "first": dealer.first,
            "final_cards": [CARD_TEXTS[card] for card in dealer.final_cards],
            "final": dealer.final,
            "qualified": dealer.qualified,
            "purchased": dealer.purchased,
        },
        "boxes": [box_object(box) for box in settlement.boxes],
    }


def box_object(box: BoxResult) -> dict[str, object]:
    """What became of one player's box."""
    return {
        "box": box.box,
        "player": box.player,
        "outcome": box.outcome,
        "best": box.best,
        "combinations": list(box.combinations),
        "odds": box.odds,
        "lines": [line_object(line) for line in box.lines],
        "staked": box.staked,
        "returned": box.returned,
        "net": box.net,
    }


def line_object(line: Line) -> dict[str, object]:
    """One wager and its fate; `jackpot_share_percent` and `funding` stand only where there is one."""
    found: dict[str, object] = {
        "wager": line.wager,
        "stake": line.stake,
        "returned": line.returned,
        "reason": line.reason,
    }
    if line.jackpot_share_percent is not None:
        found["jackpot_share_percent"] = line.jackpot_share_percent
    if line.funding is not None:
        found["funding"] = line.funding
    return found


def error_object(error: CaseError) -> dict[str, object]:
    """The error of a case; `box` and `player` stand only where the error is about one."""
    found: dict[str, object] = {"code": error.code, "message": error.message}
    if error.box is not None:
        found["box"] = error.box
    if error.player is not None:
        found["player"] = error.player
    return {"error": found}
