"""The page about the wallet's events says what the code says."""

from __future__ import annotations

from tools.generate_wallet_event_docs import PAGE, page
from upcard_wallet.domain.events import EVENT_TYPES
from upcard_wallet.entrypoints.consumer import BONUS_EVENTS


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `python -m tools.generate_wallet_event_docs`"


def test_the_page_has_every_event_that_is_written_or_read() -> None:
    text = page()
    assert all(f"## {name}, version {version}" in text for name, (version, _) in EVENT_TYPES.items())
    assert BONUS_EVENTS.types is not None
    assert all(f"| `{name}` |" in text for name in BONUS_EVENTS.types)
