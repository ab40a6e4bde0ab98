"""Every reason for which a player's wish can fail has a sentence."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Final, get_args

import pytest

from upcard_gateway.app.game_limits import Excess
from upcard_gateway.domain.chat import NotSaid
from upcard_gateway.entrypoints.pages.english import English
from upcard_gateway.entrypoints.play.commands_texts import Texts, amount_text

ROOT: Final = Path(__file__).parents[3]
RULES: Final = ROOT / "libs/rules_core/src/rules_core/round/decide"
TABLE: Final = ROOT / "services/table/src/upcard_table"
PLAYERS_WORK: Final = (
    *(
        RULES / f"{name}.py"
        for name in ("betting", "finals", "layout", "money", "options", "purchase", "wording")
    ),
    *sorted((TABLE / "app/owner").glob("*.py")),
    *sorted((TABLE / "app/funding").glob("*.py")),
    TABLE / "entrypoints/grpc/tipping.py",
    TABLE / "entrypoints/grpc/errors.py",
    TABLE / "entrypoints/forwarding.py",
)
"""Where players' wishes are decided."""
NAMED: Final = frozenset({"refuse", "Refusal", "CallError"})
OURS: Final = frozenset(
    {
        "sign_in_needed",
        "table_not_joined",
        "outcome_unknown",
        "id_reused",
        "after_unknown",
        "period_invalid",
        "unavailable",
        "table_unavailable",
        "round_missing",
    }
)
TEXTS: Final = Texts(English.load())


def slugs_in(path: Path) -> set[str]:
    """Texts that a file gives refusals as their first or second argument."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) in NAMED:
            texts = [one.value for one in node.args[:2] if isinstance(one, ast.Constant)]
            found |= {
                text for text in texts if isinstance(text, str) and re.fullmatch("[a-z]+(_[a-z]+)+", text)
            }
    return found


def commented(path: str, message: str) -> set[str]:
    """Slugs that a `.proto` names in the comments of a message."""
    text = (ROOT / path).read_text("utf-8")
    body = text[text.index(f"message {message} {{") :]
    body = body[: body.index("\n}\n")]
    return set(re.findall(r"`([a-z]+(?:_[a-z]+)+)`", body))


def declined() -> set[str]:
    """Reasons of `BetDeclined` that the description of events names."""
    text = (ROOT / "docs/events.md").read_text("utf-8")
    row = next(
        line for line in text.splitlines() if line.startswith("| `reason` |") and "betting_closed" in line
    )
    return set(re.findall(r"`([a-z]+(?:_[a-z]+)+)`", row)) - {"reason"}


def all_reasons() -> set[str]:
    """Whatever the table, the wallet or we ourselves say."""
    of_table = set().union(*map(slugs_in, PLAYERS_WORK))
    of_wallet = commented("proto/upcard/wallet/v1/wallet.proto", "PlacedHolds")
    of_wallet |= commented("proto/upcard/wallet/v1/wallet.proto", "PostTipResponse")
    of_tips = commented("proto/upcard/table/v1/table.proto", "TipResponse")
    ours = {*OURS, *get_args(Excess), *get_args(NotSaid)}
    return of_table | of_wallet | of_tips | declined() | ours


def test_the_enumeration_finds_what_is_known() -> None:
    assert {
        "funds_refused",
        "box_taken",
        "below_minimum",
        "betting_closed",
        "partner_unavailable",
    } <= all_reasons()
    assert len(all_reasons()) > 80


@pytest.mark.parametrize("reason", sorted(all_reasons()))
def test_every_reason_has_a_sentence_of_its_own(reason: str) -> None:
    assert TEXTS.has_reason(reason)


def test_sentences_name_amounts_as_people_read_them() -> None:
    said = TEXTS.reason(
        "below_minimum", {"box": "1", "wager": "ante", "total": "50", "minimum": "100"}, "EUR"
    )
    assert said == "The least there is 1.00 EUR."
    assert "1.00 EUR" in TEXTS.reason("session_round_limit", {"maximum": "100"}, "EUR")


def test_what_is_not_known_is_told_in_general() -> None:
    assert TEXTS.reason("never_heard_of", {}, "EUR") == TEXTS.say("reason.other")
    assert TEXTS.reason("below_minimum", {}, "EUR") == TEXTS.say("reason.other")


@pytest.mark.parametrize(
    ("minor", "currency", "text"),
    [
        (0, "EUR", "0.00 EUR"),
        (1_234_567, "EUR", "12,345.67 EUR"),
        (-5, "EUR", "-0.05 EUR"),
        (500, "JPY", "500 JPY"),
    ],
)
def test_amounts(minor: int, currency: str, text: str) -> None:
    assert amount_text(minor, currency) == text
