"""The page and the schemas of the events say what the code says; payloads as recorded are read for ever."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import jsonschema
import pytest

from eventstore.ids import new_event_id
from rules_core.canonical import canonical_bytes, parse_canonical
from rules_core.log.content import Content
from rules_core.round.codec import PayloadError, codec_of
from tools.event_schemas import DOCS, outdated
from tools.generate_bonus_event_docs import PAGE, page
from upcard_bonus.app.recording import decode
from upcard_bonus.domain.events import EVENT_TYPES
from upcard_wallet.entrypoints.consumer import BONUS_EVENTS
from upcard_wallet.entrypoints.consumer.bonus import fact_of

RECORDED = Path(__file__).parents[2] / "golden" / "bonus_payloads"
WHEN = "2026-11-30T12:00:00.000000Z"
FILES = sorted(RECORDED.glob("*.jsonl"))


def test_the_page_and_the_schemas_are_up_to_date() -> None:
    hint = "run `python -m tools.generate_bonus_event_docs`"
    assert PAGE.read_text(encoding="utf-8") == page(), hint
    assert outdated("bonus", EVENT_TYPES) == [], hint


def test_every_version_that_is_written_was_recorded() -> None:
    assert {path.stem for path in FILES} >= {
        f"{name}.v{version}" for name, (version, _) in EVENT_TYPES.items()
    }


def test_nobody_has_edited_what_was_recorded() -> None:
    sums = {path.name: sha256(path.read_bytes()).hexdigest() for path in FILES}
    lines = (RECORDED / "SHA256SUMS").read_text().splitlines()
    assert {name: digest for digest, name in (line.split() for line in lines)} == sums


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.stem))
def test_recorded_payloads_are_read_and_written_again(path: Path) -> None:
    name, _, version = path.stem.partition(".v")
    schema = json.loads((DOCS / "events" / "bonus" / f"{path.stem}.schema.json").read_bytes())
    lines = path.read_bytes().splitlines()
    assert lines
    for line in lines:
        event = decode(name, int(version), parse_canonical(line))
        assert type(event).__name__ == name
        jsonschema.validate(json.loads(line), schema)
        if EVENT_TYPES[name][0] == int(version):
            assert canonical_bytes(codec_of(type(event)).encode(event)) == line


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.stem))
def test_the_wallet_reads_what_it_needs_of_them(path: Path) -> None:
    name = path.stem.partition(".v")[0]
    assert BONUS_EVENTS.types is not None
    if name not in BONUS_EVENTS.types:
        return
    for line in path.read_bytes().splitlines():
        payload = json.loads(line)
        event_id = str(new_event_id())
        fact = fact_of(
            Content(event_id, name, 1, "jackpot-j1", WHEN, "c-1", None, "system", "00" * 16, payload)
        )
        assert str(fact.cause_event) == event_id


def test_what_is_not_of_the_form_is_refused() -> None:
    with pytest.raises(KeyError):
        decode("JackpotHit", 2, {})
    with pytest.raises(KeyError):
        decode("Unheard", 1, {})
    with pytest.raises(PayloadError):
        decode("JackpotHit", 1, {"jackpot": "j1"})
