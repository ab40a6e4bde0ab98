"""The service's settings: what is wrong is named and never shown; the document lists what there is."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
from typing import Final

import pytest

from servicekit.settings import Settings, WrongSettings, load_settings
from upcard_table.entrypoints.faults import POINTS
from upcard_table.entrypoints.grpc.access import ACCESS, SHOE_ACCESS
from upcard_table.settings import TableSettings

PAGE: Final = Path(__file__).parents[3] / "docs" / "table-service.md"
CARD_KEY: Final = base64.b64encode(b"\x07" * 32).decode()
RIGHT: Final = {
    "UPCARD_DSN": "postgresql://nobody@127.0.0.1:1/none",
    "UPCARD_KAFKA_BOOTSTRAP": "127.0.0.1:1",
    "UPCARD_WALLET_ADDRESS": "wallet:7000",
    "UPCARD_CARD_KEYS": json.dumps({"k1": CARD_KEY}),
    "UPCARD_CARD_KEY": "k1",
    "UPCARD_SCAN_KEY": "s" * 32,
    "UPCARD_RESUME_KEY": "r" * 32,
}


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An environment with right settings and no others."""
    for name in os.environ:
        if name.startswith(("UPCARD_", "OTEL_")):
            monkeypatch.delenv(name)
    for name, value in RIGHT.items():
        monkeypatch.setenv(name, value)
    return monkeypatch


def test_right_settings_give_a_keyring(given: pytest.MonkeyPatch) -> None:
    other = base64.b64encode(b"\x08" * 32).decode()
    given.setenv("UPCARD_CARD_KEYS", json.dumps({"k1": CARD_KEY, "k2": other}))
    given.setenv("UPCARD_CARD_KEY", "k2")
    settings = load_settings(TableSettings)
    keys = settings.keyring()
    key_id, sealed = keys.encrypt(b"plain", "round-t1.1", 7)
    assert key_id == "k2"
    assert keys.decrypt(key_id, sealed, "round-t1.1", 7) == b"plain"
    assert CARD_KEY not in repr(settings)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"UPCARD_WALLET_ADDRESS": ""}, "UPCARD_WALLET_ADDRESS"),
        ({"UPCARD_WALLET_ADDRESS": "http://wallet"}, "UPCARD_WALLET_ADDRESS"),
        ({"UPCARD_BONUS_ADDRESS": "bonus"}, "UPCARD_BONUS_ADDRESS"),
        ({"UPCARD_CARD_KEYS": "{}"}, "UPCARD_CARD_KEYS"),
        ({"UPCARD_CARD_KEYS": json.dumps({"k1": "secret-but-short"})}, "UPCARD_CARD_KEYS"),
        ({"UPCARD_CARD_KEY": "k9"}, "UPCARD_CARD_KEY"),
        ({"UPCARD_SCAN_KEY": "secret-but-short"}, "UPCARD_SCAN_KEY"),
        ({"UPCARD_RESUME_KEY": "secret-but-short"}, "UPCARD_RESUME_KEY"),
        ({"UPCARD_LEASE_S": "0.1"}, "UPCARD_LEASE_S"),
        ({"UPCARD_TABLES_MAX": "0"}, "UPCARD_TABLES_MAX"),
        ({"UPCARD_KAFKA_NAMESPACE": "a.b"}, "UPCARD_KAFKA_NAMESPACE"),
        (
            {"UPCARD_KAFKA_REPLICAS": "1", "UPCARD_KAFKA_REPLICAS_IN_SYNC": "2"},
            "UPCARD_KAFKA_REPLICAS_IN_SYNC",
        ),
    ],
)
def test_wrong_settings_are_named(given: pytest.MonkeyPatch, wrong: dict[str, str], named: str) -> None:
    for name, value in wrong.items():
        given.setenv(name, value)
    with pytest.raises(WrongSettings) as caught:
        load_settings(TableSettings)
    assert any(named in problem for problem in caught.value.problems)
    assert not any("secret-but-short" in problem for problem in caught.value.problems)


def test_the_document_has_every_call_setting_and_point() -> None:
    text = PAGE.read_text(encoding="utf-8")
    in_ranges = {"WithdrawBets", "UndoBets", "DoubleBets", "RebetBets"}
    decks = {"IntroduceDeck", "VerifyDeck", "ShuffleDeck", "RetireDeck"}
    manual = {"EnterManualMode", "LeaveManualMode"}
    for call in (set(ACCESS) | set(SHOE_ACCESS)) - in_ranges - decks - manual:
        assert f"`{call}`" in text, call
    for point in POINTS:
        assert f"`{point}`" in text, point
    others: set[str] = set()
    for base in TableSettings.__bases__:
        assert issubclass(base, Settings)
        others |= set(base.model_fields)
    for name in set(TableSettings.model_fields) - others:
        if not name.startswith("kafka_"):
            assert f"`UPCARD_{name.upper()}`" in text, name
