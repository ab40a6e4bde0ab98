"""Bundles: what is written, what may be withheld, and the schema of the file (CONTRACTS.md section 2)."""

from __future__ import annotations

import json
from dataclasses import replace
from hashlib import sha256

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_core.log.bundle import WITHHOLDABLE_TYPES, bundle_bytes, stream_part, withhold_for
from rules_core.log.bundle_reading import Problem, UnreadableBundle, parse_bundle
from rules_core.log.chain import Withheld, chain, content_hash, first_prev_hash
from rules_core.log.content import round_stream
from tests.rules_core.bundles import (
    EVENTS,
    FOR_ANN,
    ROUND,
    SCHEMA,
    TABLE,
    TABLE_EVENTS,
    TABLE_PART,
    WHOLE,
    as_json,
    event,
    places,
    put,
    schema_refusals,
    sealed,
)
from tests.rules_core.test_log_bundle_reading import WRONG_CONTENTS, WRONG_SHAPES


def test_bundle_has_the_keys_of_the_contract_and_nothing_else() -> None:
    shown = [json.loads(each.data) for each in EVENTS]
    written = as_json(FOR_ANN)
    assert written == {
        "bundle_version": 1,
        "for": "ann",
        "engine": 1,
        "ruleset": {"id": "my-house@1", "boxes": 6},
        "round": {
            "stream": ROUND,
            "first_position": 1,
            "prev_hash": sha256(ROUND.encode()).hexdigest(),
            "events": [
                {"content": shown[0]},
                {"content": shown[1]},
                {"content_hash": sha256(EVENTS[2].data).hexdigest()},
                {"content": shown[3]},
                {"content": shown[4]},
                {"content_hash": sha256(EVENTS[5].data).hexdigest()},
                {"content": shown[6]},
            ],
            "hash": chain(first_prev_hash(ROUND), 1, [each.data for each in EVENTS])[-1].hash.hex(),
        },
        "streams": [
            {
                "stream": TABLE,
                "first_position": 12,
                "prev_hash": "05" * 32,
                "events": [{"content": json.loads(each.data)} for each in TABLE_EVENTS],
                "hash": TABLE_PART.hash.hex(),
            }
        ],
        "proofs": [],
        "checkpoint": None,
        "keys": [],
        "sha256": written["sha256"],
    }


def test_sha256_is_that_of_the_bundle_without_this_key() -> None:
    for bundle in (WHOLE, FOR_ANN, replace(WHOLE, streams=())):
        assert sealed(as_json(bundle)) == bundle_bytes(bundle)


def test_file_holds_the_very_bytes_that_were_recorded() -> None:
    for each in (*EVENTS, *TABLE_EVENTS):
        assert each.data in bundle_bytes(WHOLE)


# ------------------------------------------------------------------------------------ withholding


def test_only_other_players_own_events_are_withheld() -> None:
    bets = {"BetPlaced", "BetDeclined", "BetWithdrawn"}
    choices = {"OptionChosen", "FinalOptionChosen", "PurchaseMade", "PurchaseDeclined"}
    assert {*bets, *choices, "PlayerSettled"} == WITHHOLDABLE_TYPES
    kinds = ["RoundOpened", *sorted(WITHHOLDABLE_TYPES), "OptionsClosed", "RoundResettled"]
    players = ["ann", "bob", None]
    cases = [(kind, player) for kind in kinds for player in players]
    events = [event(number, kind, player=player) for number, (kind, player) in enumerate(cases)]
    bundle = replace(WHOLE, round=stream_part(ROUND, events))
    shown = withhold_for(bundle, "ann")
    expected = tuple(
        Withheld(content_hash(each.data)) if kind in WITHHOLDABLE_TYPES and player != "ann" else each
        for each, (kind, player) in zip(events, cases, strict=True)
    )
    assert shown == replace(bundle, player="ann", round=replace(bundle.round, events=expected))


def test_withheld_positions_can_be_listed() -> None:
    assert FOR_ANN.round.withheld_positions() == (3, 6)
    assert WHOLE.round.withheld_positions() == ()
    assert [position for position, _ in TABLE_PART.numbered()] == [12, 13]


def test_whoever_makes_the_bundle_may_say_which_events_are_others() -> None:
    mine = {EVENTS[2].content.event_id}
    bundle = withhold_for(WHOLE, "ann", lambda content: content.event_id not in mine)
    assert bundle.round.withheld_positions() == (2, 5, 6)


def test_a_bundle_made_for_one_player_is_not_made_for_another() -> None:
    assert withhold_for(FOR_ANN, "ann") == FOR_ANN
    with pytest.raises(ValueError, match=r"^this bundle was made for another player$"):
        withhold_for(FOR_ANN, "bob")


def test_nothing_of_a_withheld_event_is_in_the_file() -> None:
    assert b"bob" in bundle_bytes(WHOLE)
    assert b"bob" not in bundle_bytes(FOR_ANN)
    assert EVENTS[2].content.salt.encode() not in bundle_bytes(FOR_ANN)


def test_nothing_is_withheld_from_everyone_or_in_another_kind_of_stream() -> None:
    wrong = replace(FOR_ANN, player=None)
    assert parse_bundle(bundle_bytes(wrong)) == (
        wrong,
        [Problem("withheld", f"nothing may be withheld at $.round.events[{index}]") for index in (2, 5)],
    )
    wrong = replace(FOR_ANN, streams=(stream_part(TABLE, [TABLE_EVENTS[0], Withheld(bytes(32))]),))
    assert parse_bundle(bundle_bytes(wrong)) == (
        wrong,
        [Problem("withheld", "nothing may be withheld at $.streams[0].events[1]")],
    )


def test_a_part_of_another_round_is_withheld_and_read_in_the_same_way() -> None:
    earlier = round_stream("t-42", 6)
    events = [event(90, "RoundOpened", stream=earlier), event(91, "BetPlaced", stream=earlier, player="bob")]
    part = stream_part(earlier, events)
    bundle = withhold_for(replace(WHOLE, streams=(part,)), "ann")
    withheld = replace(part, events=(events[0], Withheld(content_hash(events[1].data))))
    assert bundle == replace(FOR_ANN, streams=(withheld,))
    assert parse_bundle(bundle_bytes(bundle)) == (bundle, [])
    assert schema_refusals(as_json(bundle)) == []


# ------------------------------------------------------------------------------------ schema


def test_schema_is_valid_and_takes_what_is_written() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    for bundle in (WHOLE, FOR_ANN, replace(WHOLE, streams=())):
        assert schema_refusals(as_json(bundle)) == []


wrong_values: st.SearchStrategy[object] = st.sampled_from(
    [None, True, 0, -1, 2, "", "x", "a" * 64, [], {}, [1], {"content": {}}]
)


@given(st.sampled_from(places(as_json(FOR_ANN))), wrong_values)
def test_what_the_schema_refuses_is_refused_by_the_reader_too(path: str, new: object) -> None:
    value = put(as_json(FOR_ANN), path, new)
    if schema_refusals(value) and path != "sha256":
        try:
            assert parse_bundle(sealed(value))[1] != []
        except UnreadableBundle:
            assert path == "bundle_version"


@pytest.mark.parametrize(("path", "new", "message"), [*WRONG_SHAPES, *WRONG_CONTENTS])
def test_schema_refuses_wrong_shapes(path: str, new: object, message: str) -> None:
    assert schema_refusals(put(as_json(WHOLE), path, new)) != [], message


@pytest.mark.parametrize(
    ("path", "new"),
    [
        ("for", None),
        ("streams.0.events.0", {"content_hash": "a" * 64}),
        ("round.stream", "table-t-42"),
        ("round.first_position", 2),
        ("proofs", ["x"]),
        ("checkpoint", ""),
        ("keys", ["x"]),
        ("bundle_version", 2),
        ("more", 1),
    ],
)
def test_schema_refuses_what_the_reader_finds_wrong(path: str, new: object) -> None:
    assert schema_refusals(put(as_json(FOR_ANN), path, new)) != []
