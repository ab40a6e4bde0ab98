"""What an event of a round or table is about, in few words: the values of its sentence in english/floor.json.

A type without a sentence of its own is shown by its name, with its payload beside it: nothing is hidden
because this program is older than the event.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from upcard_gateway.app.boards_text import amount_text

__all__ = ["SENTENCES", "facts_of", "marks_of"]

Payload = Mapping[str, Any]
_CARDS_SHOWN: Final = 12


def facts_of(kind: str, payload: Payload) -> tuple[str, dict[str, object]]:
    """The key below `floor.event` and its values. A payload that lacks something is shown by its name."""
    made = SENTENCES.get(kind)
    if made is None:
        return "unknown", {"type": kind}
    try:
        return kind, made(payload)
    except (KeyError, TypeError, ValueError):
        return "unknown", {"type": kind}


def marks_of(kind: str) -> str:
    """How much an event stands out: `bad`, `good`, `money`, `card` or empty."""
    return _MARKS.get(kind, "")


def _stakes(payload: Payload) -> dict[str, object]:
    currency = str(payload["currency"] or "")
    total = sum(one["amount"] for one in payload["stakes"])
    parts = [f"{one['wager']} {_amount(one['amount'], currency)} ({one['box']})" for one in payload["stakes"]]
    return {
        "player": payload["player"],
        "total": _amount(total, currency),
        "stakes": ", ".join(parts),
        "kind": payload.get("kind", ""),
        "reason": payload.get("reason", ""),
    }


def _withdrawn(payload: Payload) -> dict[str, object]:
    total = sum(one["amount"] for one in payload["stakes"])
    return {"player": payload["player"], "kind": payload["kind"], "total": total}


def _card(payload: Payload) -> dict[str, object]:
    card = payload.get("card")
    return {"place": payload["place"], "card": card or "▮", "source": payload["source"]}


def _burned(payload: Payload) -> dict[str, object]:
    return {"card": payload.get("card") or "?"}


def _openings(payload: Payload) -> dict[str, object]:
    cards = [f"{one['place']} {one['card']}" for one in payload["openings"]]
    more = "" if len(cards) <= _CARDS_SHOWN else " …"
    return {
        "cards": ", ".join(cards[:_CARDS_SHOWN]) + more,
        "n": len(cards),
        "hand": payload.get("hand", ""),
    }


def _window(payload: Payload) -> dict[str, object]:
    return {"box": payload.get("box") or "", "until": _clock(payload["closes_at"])}


def _closed(payload: Payload) -> dict[str, object]:
    return {"box": payload.get("box") or "", "at": _clock(payload["closed_at"])}


def _choice(payload: Payload) -> dict[str, object]:
    return {"player": payload["player"], "box": payload["box"], "choice": payload["kind"]}


def _final(payload: Payload) -> dict[str, object]:
    return {
        "player": payload["player"],
        "box": payload["box"],
        "choice": payload["choice"],
        "by": payload["by"],
        "insurance": payload.get("insurance", 0),
    }


def _buying(payload: Payload) -> dict[str, object]:
    return {
        "player": payload["player"],
        "box": payload["box"],
        "fee": payload.get("fee", 0),
        "by": payload.get("by", "player"),
    }


def _settled(payload: Payload) -> dict[str, object]:
    currency = payload["currency"]
    outcomes = Counter(box["outcome"] for box in payload["boxes"])
    return {
        "player": payload["player"],
        "net": _amount(payload["net"], currency),
        "staked": _amount(payload["staked"], currency),
        "returned": _amount(payload["returned"], currency),
        "outcomes": tuple(outcomes.items()),
        "revision": payload["revision"],
    }


def _totals(payload: Payload) -> dict[str, object]:
    sums: Sequence[Mapping[str, Any]] = payload["totals"]
    shown = [
        f"{_amount(one['staked'], one['currency'])} → {_amount(one['returned'], one['currency'])}"
        for one in sums
    ]
    dealer = payload["dealer"]
    return {"totals": ", ".join(shown), "hand": dealer["final"], "number": payload.get("number", 0)}


def _opened(payload: Payload) -> dict[str, object]:
    return {"number": payload["number"], "ruleset": payload["ruleset"], "until": _clock(payload["closes_at"])}


def _picked(*names: str) -> Callable[[Payload], dict[str, object]]:
    def picked(payload: Payload) -> dict[str, object]:
        return {name: payload[name] for name in names}

    return picked


def _correction(payload: Payload) -> dict[str, object]:
    return {name: payload[name] for name in ("number", "reason", "proposer", "approver", "refund")} | {
        "cards": len(payload.get("cards", ())),
        "choices": len(payload.get("choices", ())),
    }


def _extended(payload: Payload) -> dict[str, object]:
    return {
        "window": payload["window"],
        "seconds": round(payload["extended_ms"] / 1_000, 1),
        "until": _clock(payload["closes_at"]),
        "reason": payload["reason"],
    }


def _offered(payload: Payload) -> dict[str, object]:
    return {"n": len(payload.get("asked", ())), "until": _clock(payload["closes_at"])}


SENTENCES: Final[Mapping[str, Callable[[Payload], dict[str, object]]]] = {
    "RoundOpened": _opened,
    "BetPlaced": _stakes,
    "BetDeclined": _stakes,
    "BetWithdrawn": _withdrawn,
    "BettingClosed": _closed,
    "CardScanned": _card,
    "CardRescanned": _card,
    "CardBurned": _burned,
    "CardsRevealed": _openings,
    "OptionsOpened": _window,
    "OptionChosen": _choice,
    "OptionsClosed": _closed,
    "FinalOptionsOpened": _window,
    "FinalOptionChosen": _final,
    "FinalOptionsClosed": _closed,
    "WindowExtended": _extended,
    "DealerRevealed": _openings,
    "PurchaseOffered": _offered,
    "PurchaseMade": _buying,
    "PurchaseDeclined": _buying,
    "PurchaseClosed": _closed,
    "DealerRequalified": _picked("hand", "qualified"),
    "PlayerSettled": _settled,
    "RoundSettled": _totals,
    "RoundCancelled": _picked("reason"),
    "CorrectionDecided": _correction,
    "RoundResettled": _totals,
}
"""What makes the values of each type's sentence."""

_MARKS: Final[Mapping[str, str]] = {
    "BetPlaced": "money",
    "BetDeclined": "bad",
    "BetWithdrawn": "money",
    "CardScanned": "card",
    "CardRescanned": "bad",
    "CardBurned": "bad",
    "CardsRevealed": "card",
    "DealerRevealed": "card",
    "PlayerSettled": "money",
    "PurchaseMade": "money",
    "RoundSettled": "good",
    "RoundCancelled": "bad",
    "CorrectionDecided": "bad",
    "RoundResettled": "good",
    "WindowExtended": "bad",
}


def _amount(amount: int, currency: str) -> str:
    return amount_text(amount, currency) if currency else str(amount)


def _clock(instant: str) -> str:
    """The time of day of an instant, in UTC."""
    return instant[11:19]
