"""Histories of whole rounds: each must replay for ever, and none that was changed may."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rules_core.canonical import canonical_bytes, parse_canonical
from rules_core.log.bundle import bundle_bytes, withhold_for
from rules_core.log.bundle_reading import parse_bundle
from rules_core.log.verify import verify_bundle
from rules_core.round.decide.ending import CANCEL_REASONS
from rules_core.round.events import EVENT_TYPES
from rules_core.rulesets.shipped import shipped_ids
from tests.rules_core.bundles import Json
from tests.rules_core.histories import FOLDER, histories
from tests.rules_core.tampering import changed, changes, forged

FILES = sorted(FOLDER.glob("*.json"))
NAMES = [path.stem for path in FILES]
TAMPERED = ["cancelled-wrong_card_read", "scripted-only_blind_boxes_by_hand"]
FORGED = ["scripted-quiet_shared_round", "scripted-corrected_without_purchase"]
SHORTENED = ["scripted-shared_round", "scripted-private_round", "scripted-corrected_round"]

THOROUGH = [
    *(f"random-{ruleset}-1" for ruleset in shipped_ids()),
    "scripted-misread_cards",
    "scripted-round_by_hand",
    "scripted-private_round",
]
"""Histories whose every value is changed in the exhaustive lane: each ruleset, all hidden cards."""

DECIDED: dict[str, tuple[str, ...]] = {
    "RoundOpened": ("ruleset", "ruleset_sha256", "engine", "closes_at", "table", "number"),
    "WindowExtended": ("closes_at", "window"),
    "BettingClosed": ("boxes",),
    "CardScanned": ("place", "commitment"),
    "CardRescanned": ("place", "commitment"),
    "CardsRevealed": ("openings", "final"),
    "DealerRevealed": ("openings", "hand", "qualified"),
    "OptionsOpened": ("box", "closes_at"),
    "OptionChosen": ("player", "amount"),
    "OptionsClosed": ("box", "passed"),
    "FinalOptionsOpened": ("box", "asked", "closes_at"),
    "FinalOptionsClosed": ("box",),
    "PurchaseOffered": ("asked", "closes_at"),
    "PurchaseMade": ("fee", "player"),
    "DealerRequalified": ("cards", "hand", "qualified"),
    "PlayerSettled": ("player", "currency", "revision", "boxes", "staked", "returned", "net"),
    "RoundSettled": ("dealer", "totals"),
    "CorrectionDecided": ("number",),
    "RoundResettled": ("number", "dealer", "totals"),
}
"""What the rules give: whoever changes one of these and makes every hash anew is still found out."""


def load(name: str) -> Json:
    value = parse_canonical((FOLDER / f"{name}.json").read_bytes())
    assert isinstance(value, dict)
    return value


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_a_history_replays(path: Path) -> None:
    report = verify_bundle(path.read_bytes())
    assert (report.exit_code, report.problems, report.difference) == (0, [], None)
    assert report.decisions > 0
    assert report.withheld == 0


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_a_history_replays_for_each_of_its_players(path: Path) -> None:
    bundle, _ = parse_bundle(path.read_bytes())
    assert bundle is not None
    events = [event for _, event in bundle.round.numbered()]
    players = {event.content.payload.get("player") for event in events if not hasattr(event, "content_hash")}
    for player in sorted(str(player) for player in players if player is not None):
        report = verify_bundle(bundle_bytes(withhold_for(bundle, player)))
        assert (report.exit_code, report.problems, report.difference) == (0, [], None)
        assert report.decisions > 0


def test_every_history_that_is_listed_is_kept_and_no_other() -> None:
    assert sorted(name for name, _ in histories()) == NAMES


def test_the_histories_hold_every_event_type_ruleset_and_reason() -> None:
    types: set[str] = set()
    rulesets: set[str] = set()
    reasons: set[str] = set()
    for path in FILES:
        bundle: Any = parse_canonical(path.read_bytes())
        rulesets.add(bundle["ruleset"]["id"])
        contents = [event["content"] for event in bundle["round"]["events"]]
        types.update(content["type"] for content in contents)
        reasons.update(c["payload"]["reason"] for c in contents if c["type"] == "RoundCancelled")
    assert types == {kind.__name__ for kind in EVENT_TYPES}
    assert rulesets == set(shipped_ids())
    assert reasons == set(CANCEL_REASONS)


def refused_changes(name: str) -> int:
    """Change every value of a history in turn; each must be refused. Gives how many there were."""
    value = load(name)
    count = 0
    for path, new in changes(value):
        with changed(value, path, new) as tampered:
            report = verify_bundle(canonical_bytes(tampered))
        assert report.exit_code in {1, 2}, (path, new)
        assert report.sentences()
        count += 1
    assert verify_bundle(canonical_bytes(value)).exit_code == 0
    return count


@pytest.mark.parametrize("name", TAMPERED)
def test_every_value_of_a_history_changed_in_turn_is_found(name: str) -> None:
    assert refused_changes(name) > 400


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", THOROUGH)
def test_every_value_of_more_histories_changed_in_turn_is_found(name: str) -> None:
    assert refused_changes(name) > 40


def found_forgeries(name: str) -> int:
    """Change every value that the rules give, make all hashes anew; each must be found. Gives how many."""
    value = load(name)
    count = 0
    for index, event in enumerate(list(value["round"]["events"])):
        content = event["content"]
        for key in DECIDED.get(content["type"], ()):
            if key not in content["payload"]:
                continue
            at = ("round", "events", index, "content", "payload", key)
            for path, new in changes({key: content["payload"][key]}):
                with changed(value, (*at[:-1], *path), new) as tampered:
                    report = verify_bundle(forged(tampered))
                assert report.exit_code == 1, (content["type"], path, new)
                count += 1
    assert verify_bundle(forged(value)).exit_code == 0
    return count


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_result_is_found_although_every_hash_fits(name: str) -> None:
    assert found_forgeries(name) > 200


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", THOROUGH)
def test_a_forged_result_of_any_history_is_found(name: str) -> None:
    assert found_forgeries(name) > 1


@pytest.mark.parametrize("name", SHORTENED)
def test_an_event_left_out_is_found_although_every_hash_fits(name: str) -> None:
    value = load(name)
    events = value["round"]["events"]
    for index in range(len(events)):
        left_out = events.pop(index)
        kind = left_out["content"]["type"]
        report = verify_bundle(forged(value))
        events.insert(index, left_out)
        # No later decision rests on these: of them only the chain, a receipt or a checkpoint tells.
        assert report.exit_code == 1 or kind in {"BetDeclined", "CardBurned", "WindowExtended"}, (index, kind)


def test_the_first_event_and_field_that_differ_are_named() -> None:
    value = load("scripted-shared_round")
    events = value["round"]["events"]
    index = next(i for i, event in enumerate(events) if event["content"]["type"] == "PlayerSettled")
    line = events[index]["content"]["payload"]["boxes"][0]["lines"][0]
    line["returned"] += 5
    difference = verify_bundle(forged(value)).difference
    assert difference is not None
    assert (difference.position, difference.type) == (index + 1, "PlayerSettled")
    assert difference.field == "payload.boxes[0].lines[0].returned"
    assert (difference.expected, difference.found) == (str(line["returned"] - 5), str(line["returned"]))
