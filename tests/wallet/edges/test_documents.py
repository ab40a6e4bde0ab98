"""The documents about the wallet's events say what the code says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tests.wallet.ledger.test_payloads import RECORDED
from tools.event_schemas import DOCS, outdated
from tools.generate_wallet_event_docs import PAGE, page
from upcard_wallet.domain.events import EVENT_TYPES
from upcard_wallet.entrypoints.consumer import BONUS_EVENTS


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `python -m tools.generate_wallet_event_docs`"


def test_the_schemas_are_up_to_date() -> None:
    differing = outdated("wallet", EVENT_TYPES)
    assert differing == [], "run `python -m tools.generate_wallet_event_docs`"


@pytest.mark.parametrize("path", sorted(RECORDED.glob("*.jsonl")), ids=lambda path: str(path.stem))
def test_recorded_payloads_are_of_their_schemas(path: Path) -> None:
    schema = json.loads((DOCS / "events" / "wallet" / f"{path.stem}.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    for line in path.read_bytes().splitlines():
        payload = json.loads(line)
        validator.validate(payload)
        assert not validator.is_valid({**payload, "unheard": 1})
        for name in schema["required"]:
            assert not validator.is_valid({key: one for key, one in payload.items() if key != name})


def test_the_page_has_every_event_that_is_written_or_read() -> None:
    text = page()
    assert all(f"## {name}, version {version}" in text for name, (version, _) in EVENT_TYPES.items())
    assert BONUS_EVENTS.types is not None
    assert all(f"| `{name}` |" in text for name in BONUS_EVENTS.types)
