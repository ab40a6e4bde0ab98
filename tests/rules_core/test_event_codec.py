"""CONTRACTS.md section 2: payloads are read strictly, and older versions are brought up to date."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from rules_core.canonical import canonical_bytes
from rules_core.round import codec
from rules_core.round import events as e
from rules_core.round.codec import PayloadError, event_of, payload_of
from rules_core.round.describe import payload_schema
from rules_core.round.events import EVENT_TYPES
from tests.rules_core.recorded_rounds import ROUNDS

Payload = dict[str, Any]
AT = "2026-01-01T12:00:00.000000Z"
BET = e.BetPlaced(
    "p1", "EUR", "b1", "place", (e.Stake(2, "ante", 100), e.Stake(1, "ante", 50, blind=True)), AT
)
BET_PAYLOAD: Payload = {
    "player": "p1",
    "currency": "EUR",
    "bet_id": "b1",
    "kind": "place",
    "stakes": [
        {"box": 2, "wager": "ante", "amount": 100},
        {"box": 1, "wager": "ante", "amount": 50, "blind": True},
    ],
    "arrived_at": AT,
}


def error_of(name: str, payload: Any, version: int = 1) -> tuple[str, str]:
    """Where and why a payload is not read."""
    with pytest.raises(PayloadError) as caught:
        event_of(name, version, payload)
    return caught.value.path, caught.value.message


def changed(payload: Payload, **fields: object) -> Payload:
    """A copy with other values of some fields."""
    return {**copy.deepcopy(payload), **fields}


def test_an_event_has_one_payload_without_what_is_default() -> None:
    assert payload_of(BET) == BET_PAYLOAD
    assert event_of("BetPlaced", 1, BET_PAYLOAD) == BET


@pytest.mark.parametrize("written", [{"blind": False}, {"funding": None}])
def test_a_default_that_is_written_out_is_refused_for_a_payload_has_one_form(written: dict[str, Any]) -> None:
    stakes = [{"box": 2, "wager": "ante", "amount": 100, **written}]
    with pytest.raises(PayloadError) as refused:
        event_of("BetPlaced", 1, changed(BET_PAYLOAD, stakes=stakes))
    assert refused.value.path == f"stakes[0].{next(iter(written))}"


def test_a_null_that_has_no_default_is_written() -> None:
    closed = e.OptionsClosed(None, AT, (e.BoxPlayers(2, ("p1", "p2")),))
    payload = {"box": None, "closed_at": AT, "passed": [{"box": 2, "players": ["p1", "p2"]}]}
    assert payload_of(closed) == payload
    assert event_of("OptionsClosed", 1, payload) == closed


@pytest.mark.parametrize(
    ("payload", "path", "message"),
    [
        ([], "", "an object is needed here"),
        (None, "", "an object is needed here"),
        ({k: v for k, v in BET_PAYLOAD.items() if k != "bet_id"}, "bet_id", "this field is missing"),
        (changed(BET_PAYLOAD, note="x"), "note", "this field is not known"),
        (changed(BET_PAYLOAD, zeal=1, note="x"), "note", "this field is not known"),
        (changed(BET_PAYLOAD, player=1), "player", "a text is needed here"),
        (changed(BET_PAYLOAD, player=None), "player", "a text is needed here"),
        (changed(BET_PAYLOAD, kind="bet"), "kind", "one of double, place, repeat is needed here"),
        (changed(BET_PAYLOAD, kind=[]), "kind", "one of double, place, repeat is needed here"),
        (changed(BET_PAYLOAD, stakes={}), "stakes", "a list is needed here"),
        (changed(BET_PAYLOAD, stakes=[None]), "stakes[0]", "an object is needed here"),
        (
            changed(BET_PAYLOAD, stakes=[{"box": 2, "wager": "ante", "amount": 1}, {"box": True}]),
            "stakes[1].box",
            "a whole number is needed here",
        ),
        (
            changed(BET_PAYLOAD, stakes=[{"box": 2, "wager": "ante", "amount": 1, "blind": 1}]),
            "stakes[0].blind",
            "true or false is needed here",
        ),
        (
            changed(BET_PAYLOAD, stakes=[{"box": 2, "wager": "ante", "amount": 1, "tip": 1}]),
            "stakes[0].tip",
            "this field is not known",
        ),
    ],
)
def test_what_is_wrong_is_named_by_its_path(payload: object, path: str, message: str) -> None:
    assert error_of("BetPlaced", payload) == (path, message)


@pytest.mark.parametrize("card", ["1h", "ah", "Ahh", "", 51, None, ["Ah"]])
def test_a_card_that_is_none_is_named_by_its_path(card: object) -> None:
    dealer = {"first": "nothing", "final_cards": ["Qs", card], "final": "nothing"}
    payload = {"dealer": {**dealer, "qualified": False, "purchased": False}, "totals": []}
    found = error_of("RoundSettled", payload)
    assert found == ("dealer.final_cards[1]", "a card like Ah is needed here")


def test_an_error_reads_as_a_sentence() -> None:
    assert (
        str(PayloadError("stakes[0].box", "this field is missing")) == "stakes[0].box: this field is missing"
    )
    assert str(PayloadError("", "an object is needed here")) == "an object is needed here"


@pytest.mark.parametrize("name", ["BetLost", "betplaced", "", "Stake", "TableOpened"])
def test_a_type_that_is_no_event_of_the_round(name: str) -> None:
    assert error_of(name, BET_PAYLOAD) == ("type", f"{name!r} is not a round event")


@pytest.mark.parametrize("version", [-1, 0, 2, 99])
def test_a_version_that_never_was(version: int) -> None:
    found = error_of("BetPlaced", BET_PAYLOAD, version)
    assert found == ("version", f"version {version} of BetPlaced is not known here")


# ------------------------------------------------------------------ every field of every event, at any depth


@functools.cache
def richest() -> dict[str, Payload]:
    """The longest payload of each event in the scripted rounds: most fields, and no empty list."""
    found: dict[str, Payload] = {}
    for play in ROUNDS.values():
        for fact in play().facts:
            name, payload = type(fact.event).__name__, payload_of(fact.event)
            if len(canonical_bytes(payload)) > len(canonical_bytes(found.get(name, {}))):
                found[name] = payload
    return found


@dataclass(frozen=True, slots=True)
class Spot:
    """A value inside a payload, and its path as an error names it."""

    path: str
    steps: tuple[str | int, ...]
    value: Any


def spots(value: Any, path: str = "", steps: tuple[str | int, ...] = ()) -> Iterator[Spot]:
    """Every value of a payload, itself included."""
    yield Spot(path, steps, value)
    if isinstance(value, dict):
        for key, item in value.items():
            yield from spots(item, f"{path}.{key}".removeprefix("."), (*steps, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from spots(item, f"{path}[{index}]", (*steps, index))


def holder_of(payload: Payload, spot: Spot) -> tuple[Any, Any]:
    """What holds the value of a spot in (a copy of) the payload, and under which key."""
    holder: Any = payload
    for step in spot.steps[:-1]:
        holder = holder[step]
    return holder, spot.steps[-1]


def refused_at(name: str, payload: Payload) -> str:
    """Where a payload is refused; the schema refuses it too."""
    assert not validator(name).is_valid(payload), (name, payload)
    return error_of(name, payload)[0]


@functools.cache
def validator(name: str) -> Draft202012Validator:
    """The schema of an event's payload."""
    return Draft202012Validator(payload_schema(getattr(e, name)))


@pytest.mark.parametrize("name", [kind.__name__ for kind in EVENT_TYPES])
def test_every_field_is_required_or_has_a_default(name: str) -> None:
    payload = richest()[name]
    for spot in spots(payload):
        if not spot.steps or isinstance(spot.steps[-1], int):
            continue
        without = copy.deepcopy(payload)
        holder, key = holder_of(without, spot)
        del holder[key]
        if validator(name).is_valid(without):
            assert payload_of(event_of(name, 1, without)) == without
        else:
            assert (refused_at(name, without), error_of(name, without)[1]) == (
                spot.path,
                "this field is missing",
            )


@pytest.mark.parametrize("name", [kind.__name__ for kind in EVENT_TYPES])
def test_no_object_of_an_event_takes_an_unknown_field(name: str) -> None:
    payload = richest()[name]
    for spot in spots(payload):
        if isinstance(spot.value, dict):
            surplus = Spot(f"{spot.path}.surplus".removeprefix("."), (*spot.steps, "surplus"), None)
            more = copy.deepcopy(payload)
            holder, key = holder_of(more, surplus)
            holder[key] = None
            assert (refused_at(name, more), error_of(name, more)[1]) == (
                surplus.path,
                "this field is not known",
            )


@pytest.mark.parametrize("wrong", [1.5, "", 7, True, [], {}], ids=repr)
@pytest.mark.parametrize("name", [kind.__name__ for kind in EVENT_TYPES])
def test_no_field_of_an_event_takes_another_type(name: str, wrong: object) -> None:
    payload = richest()[name]
    for spot in spots(payload):
        if spot.steps and spot.value is not None and type(spot.value) is not type(wrong):
            other = copy.deepcopy(payload)
            holder, key = holder_of(other, spot)
            holder[key] = wrong
            assert refused_at(name, other) == spot.path


# ------------------------------------------------------------------------------------------------ versions


@pytest.fixture
def third_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """CardBurned as if it had changed twice: `scan` became `scan_id`, and `text` became `card`."""

    def upcast_v1_v2(payload: Payload) -> Payload:
        return {"scan_id": payload["scan"], "text": payload["text"]}

    def upcast_v2_v3(payload: Payload) -> Payload:
        return {"scan_id": payload["scan_id"], "card": payload["text"]}

    monkeypatch.setattr(codec, "VERSIONS", {**codec.VERSIONS, "CardBurned": 3})
    monkeypatch.setitem(codec.UPCASTERS, ("CardBurned", 1), upcast_v1_v2)
    monkeypatch.setitem(codec.UPCASTERS, ("CardBurned", 2), upcast_v2_v3)


@pytest.mark.usefixtures("third_version")
@pytest.mark.parametrize(
    ("version", "payload"),
    [
        (1, {"scan": "s1", "text": "Ah"}),
        (2, {"scan_id": "s1", "text": "Ah"}),
        (3, {"scan_id": "s1", "card": "Ah"}),
    ],
)
def test_older_versions_are_brought_up_to_date_step_by_step(version: int, payload: Payload) -> None:
    assert event_of("CardBurned", version, payload) == e.CardBurned("s1", "Ah")


@pytest.mark.usefixtures("third_version")
def test_an_older_version_is_read_as_strictly() -> None:
    found = error_of("CardBurned", {"scan": "s1", "text": 1})
    assert found == ("card", "a text is needed here")


@pytest.mark.usefixtures("third_version")
def test_a_version_newer_than_the_code_is_not_guessed_at() -> None:
    found = error_of("CardBurned", {"scan_id": "s1"}, 4)
    assert found == ("version", "version 4 of CardBurned is not known here")


@pytest.mark.usefixtures("third_version")
def test_other_types_stay_as_they_are() -> None:
    assert event_of("BetPlaced", 1, BET_PAYLOAD) == BET
    assert error_of("BetPlaced", BET_PAYLOAD, 2)[0] == "version"


def test_every_upcaster_leads_to_a_version_that_was() -> None:
    steps = {(name, version) for name, last in codec.VERSIONS.items() for version in range(1, last)}
    assert set(codec.UPCASTERS) == steps


def _with_one_change(payload: Payload) -> Iterator[Payload]:
    """The payload with each field in turn left out or of another kind, and with an unknown one."""
    yield payload
    yield {**payload, "unknown": 1}
    for name in payload:
        yield {key: value for key, value in payload.items() if key != name}
        others: tuple[object, ...] = (None, "", "sixth", 7, True, [], ["Ah"], {}, [1], "Ah")
        yield from ({**payload, name: other} for other in others)


@pytest.mark.parametrize("kind", EVENT_TYPES)
def test_the_quick_reader_takes_and_refuses_just_what_the_careful_one_does(kind: type[Any]) -> None:
    reader = codec.codec_of(kind)
    for payload in _with_one_change(richest()[kind.__name__]):
        assert _read(reader.decode, payload) == _read(reader._decode_by_field, payload)


def _read(read: Callable[[Any], Any], payload: Payload) -> object:
    try:
        return read(payload)
    except PayloadError as error:
        return error.path, error.message
