"""What docs/bundle.md tells a laboratory is true: its digests, and its program."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from rules_core.canonical import canonical_bytes
from rules_core.commitment import commitment
from rules_core.log.bundle import (
    WITHHOLDABLE_TYPES,
    Bundle,
    Recorded,
    bundle_bytes,
    recorded,
    stream_part,
    withhold_for,
)
from rules_core.log.bundle_reading import parse_bundle
from rules_core.log.chain import content_hash, first_prev_hash, next_hash
from rules_core.log.content import content_bytes, parse_content
from rules_core.rulesets.shipped import shipped_ids
from tests.rules_core.bundles import (
    EVENTS,
    ROUND,
    TABLE_PART,
    WHOLE,
    as_json,
    event,
    put,
    schema_refusals,
    sealed,
)

DOCUMENT = (Path(__file__).parents[2] / "docs" / "bundle.md").read_text(encoding="utf-8")
SALT = bytes(range(16))
MADE = commitment("Ah", SALT)


def block(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", DOCUMENT, re.DOTALL)
    assert found is not None
    return found.group(1)


def with_payload(number: int, kind: str, **payload: object) -> Recorded:
    return recorded(content_bytes(replace(event(number, kind).content, payload=dict(payload))))


def opening(**changes: object) -> Recorded:
    told = {
        "place": "box-1-1",
        "card": "Ah",
        "salt": SALT.hex(),
        "commitment": MADE,
        **changes,
    }
    return with_payload(9, "CardsRevealed", openings=[told])


def round_of(*events: Recorded) -> Bundle:
    pinned = content_hash(canonical_bytes(WHOLE.ruleset)).hex()
    opened = with_payload(1, "RoundOpened", ruleset_sha256=pinned)
    return replace(WHOLE, round=stream_part(ROUND, [opened, *EVENTS[1:], *events]))


LAID = with_payload(8, "CardScanned", place="box-1-1", commitment=MADE)
GOOD = round_of(LAID, opening())


def shown(bundle: Bundle) -> list[Recorded]:
    return [each for each in bundle.round.events if isinstance(each, Recorded)]


def printed(data: bytes, tmp_path: Path) -> list[str]:
    file = tmp_path / "bundle.json"
    file.write_bytes(data)
    run = subprocess.run(
        [sys.executable, "-c", block("python"), str(file)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return run.stdout.splitlines()


def test_example_of_the_chain_is_true() -> None:
    content = block("json").replace("\n", "").encode()
    prev_hash, digest = first_prev_hash("round-t-42.7"), content_hash(content)
    assert parse_content(content).stream == "round-t-42.7"
    assert f"the {len('round-t-42.7')} bytes `round-t-42.7` | `{prev_hash.hex()}`" in DOCUMENT
    assert f"the {len(content)} bytes of the event | `{digest.hex()}`" in DOCUMENT
    assert f"between them | `{next_hash(prev_hash, 1, digest).hex()}`" in DOCUMENT


def test_example_of_the_commitment_is_true() -> None:
    assert f"With the salt `{SALT.hex()}`, the ace of hearts `Ah` has\n  `{MADE}`" in DOCUMENT


@pytest.mark.parametrize("bundle", [GOOD, withhold_for(GOOD, "ann")], ids=["whole", "for one player"])
def test_program_finds_nothing_wrong_in_a_good_bundle(bundle: Bundle, tmp_path: Path) -> None:
    assert printed(bundle_bytes(bundle), tmp_path) == []


@pytest.mark.parametrize("ruleset", shipped_ids())
def test_program_schema_and_reader_find_nothing_wrong_in_a_round_that_was_played(
    ruleset: str, tmp_path: Path
) -> None:
    data = subprocess.run(
        [sys.executable, "-m", "rules_core", "play", "--ruleset", ruleset, "--seed", "11"],
        capture_output=True,
        check=True,
        timeout=60,
    ).stdout
    bundle, problems = parse_bundle(data)
    assert problems == []
    assert bundle is not None
    player = next(
        each.content.payload["player"] for each in shown(bundle) if each.content.type == "BetPlaced"
    )
    for_one = withhold_for(bundle, str(player))
    own = [each.content for each in shown(for_one) if each.content.type in WITHHOLDABLE_TYPES]
    assert {content.payload["player"] for content in own} == {player}
    assert for_one.round.withheld_positions() != ()
    for made in (bundle, for_one):
        assert parse_bundle(bundle_bytes(made)) == (made, [])
        assert schema_refusals(as_json(made)) == []
        assert printed(bundle_bytes(made), tmp_path) == []


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (bundle_bytes(GOOD) + b"\n", ["the file is not canonical"]),
        (canonical_bytes(put(as_json(GOOD), "engine", 2)), ["the file's sha256 is wrong"]),
        (sealed(put(as_json(GOOD), "round.hash", "0" * 64)), [f"the chain does not close in {ROUND}"]),
        (
            sealed(put(as_json(GOOD), "streams.0.first_position", 13)),
            ["the chain does not close in table-t-42"],
        ),
        (
            bundle_bytes(
                replace(GOOD, streams=(stream_part("table-t-42", TABLE_PART.events, prev_hash=bytes(32)),))
            ),
            ["prev_hash is not the hash of the name table-t-42"],
        ),
        (sealed(put(as_json(GOOD), "ruleset.boxes", 5)), ["the ruleset is not the one that was pinned"]),
        (bundle_bytes(round_of(LAID)), ["never opened: box-1-1"]),
        (
            bundle_bytes(round_of(opening())),
            ["this commitment was not made at the deal: box-1-1"],
        ),
        (
            bundle_bytes(round_of(LAID, opening(card="Ad"))),
            ["this is not the card that was laid: box-1-1", "never opened: box-1-1"],
        ),
        (bundle_bytes(round_of(opening(committed=False))), ["nothing proves the card at box-1-1"]),
    ],
    ids=range(10),
)
def test_program_finds_what_is_wrong(data: bytes, lines: list[str], tmp_path: Path) -> None:
    assert printed(data, tmp_path) == lines
