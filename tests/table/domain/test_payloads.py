"""Payloads as they were recorded are read for ever, and to the same events."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from rules_core.canonical import canonical_bytes, parse_canonical
from rules_core.round.codec import PayloadError
from upcard_table.domain.codec import event_of, payload_of, state_of
from upcard_table.domain.events import EVENT_TYPES

RECORDED = Path(__file__).parents[2] / "golden" / "table_payloads"
FILES = sorted(RECORDED.glob("*.jsonl"))


def test_every_version_that_is_written_was_recorded() -> None:
    assert {path.stem for path in FILES} >= {
        f"{name}.v{version}" for name, (version, _) in EVENT_TYPES.items()
    }


def test_nobody_has_edited_them() -> None:
    sums = {path.name: sha256(path.read_bytes()).hexdigest() for path in FILES}
    lines = (RECORDED / "SHA256SUMS").read_text().splitlines()
    assert {name: digest for digest, name in (line.split() for line in lines)} == sums


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.stem))
def test_recorded_payloads_are_read_and_written_again(path: Path) -> None:
    name, _, version = path.stem.partition(".v")
    lines = path.read_bytes().splitlines()
    assert lines
    for line in lines:
        event = event_of(name, int(version), parse_canonical(line))
        assert type(event).__name__ == name
        if EVENT_TYPES[name][0] == int(version):
            assert canonical_bytes(payload_of(event)) == line


@pytest.mark.parametrize(
    ("name", "version", "payload", "path"),
    [
        ("Unheard", 1, {}, "type"),
        ("DeckShuffled", 2, {"deck": "deck-1", "after_round": 0}, "version"),
        ("DeckShuffled", 1, {"deck": "deck-1"}, "after_round"),
        ("DeckShuffled", 1, {"deck": "deck-1", "after_round": "0"}, "after_round"),
        ("DeckShuffled", 1, {"deck": "deck-1", "after_round": 0, "cards": 52}, "cards"),
        ("TipGiven", 1, [], ""),
    ],
)
def test_what_is_not_of_the_form_is_named(name: str, version: int, payload: object, path: str) -> None:
    with pytest.raises(PayloadError) as caught:
        event_of(name, version, payload)
    assert caught.value.path == path


def test_a_state_of_another_form_is_refused() -> None:
    with pytest.raises(PayloadError):
        state_of({"tables": 1})
