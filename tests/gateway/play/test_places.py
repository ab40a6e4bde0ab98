"""Places: what is news to whom follows from log positions alone."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from upcard_gateway.app.play_places import ROUNDS_KEPT, Place, PlaceSeal

POSITIONS = st.integers(0, 2**40)
EVENTS = st.tuples(st.integers(0, 6), st.integers(1, 6))
OLD, NEW = b"1" * 32, b"2" * 32
SEAL = PlaceSeal({"k1": OLD, "k2": NEW}, "k2")


def _at(events: list[tuple[int, int]]) -> Place:
    place = Place()
    for round_number, position in events:
        place = place.after(round_number, position)
    return place


@given(st.lists(EVENTS))
def test_a_place_is_read_as_it_was_written(events: list[tuple[int, int]]) -> None:
    place = _at(events)
    assert SEAL.read("table t1", SEAL.text("table t1", place, "abc-_=")) == (place, "abc-_=")
    assert len(place.rounds) <= ROUNDS_KEPT


@given(st.lists(EVENTS), EVENTS)
def test_what_was_told_is_no_news(events: list[tuple[int, int]], event: tuple[int, int]) -> None:
    assert _at([*events, event]).had(*event)


@given(st.lists(EVENTS), st.lists(EVENTS))
def test_who_was_told_both_has_both(one: list[tuple[int, int]], other: list[tuple[int, int]]) -> None:
    first, second = _at(one), _at(other)
    both = first.joined(second)
    assert both.reaches(first)
    assert both.reaches(second)
    latest = sorted({*first.rounds, *second.rounds})[-ROUNDS_KEPT:]
    for number in latest:
        position = max(first.rounds.get(number, 0), second.rounds.get(number, 0))
        assert not both.had(number, position + 1)


@given(st.lists(EVENTS), st.lists(EVENTS))
def test_going_on_reaches_what_was(events: list[tuple[int, int]], more: list[tuple[int, int]]) -> None:
    assert _at([*events, *more]).reaches(_at(events))


def test_a_later_round_is_news_and_one_of_before_ours_is_not() -> None:
    place = Place(3, {5: 10})
    assert not place.had(6, 1)
    assert place.had(4, 99)
    assert place.had(0, 3)
    assert not place.had(0, 4)
    assert not Place().had(1, 1)


def test_what_is_no_place_is_none() -> None:
    for text in (
        "",
        "1",
        "1/",
        "a/1.1/",
        "1/1/",
        "1/1.1,2.2,3.3,4.4/",
        "1/1.1/é",
        "1//" + "x" * 1_025,
        "-1//",
    ):
        assert SEAL.read("table t1", text) is None, text
        assert SEAL.read("table t1", text + "/" + "A" * 22) is None, text


@given(st.integers(0, 80), st.characters(min_codepoint=33, max_codepoint=126))
def test_no_letter_of_a_place_can_be_another(index: int, letter: str) -> None:
    text = SEAL.text("table t1", _at([(0, 3), (5, 10), (6, 2)]), "to-ken")
    forged = text[:index] + letter + text[index + 1 :]
    assert forged == text or SEAL.read("table t1", forged) is None


def test_a_place_is_one_of_whom_it_was_told_and_at_any_gateway() -> None:
    place = Place(3, {5: 10})
    text = SEAL.text("table t1", place, "token")
    for whose in ("table t2", "own p1 EUR t1", "", "table t1\n"):
        assert SEAL.read(whose, text) is None
    assert PlaceSeal({"k2": NEW}, "k2").read("table t1", text) == (place, "token")
    assert PlaceSeal({"k1": OLD}, "k1").read("table t1", text) is None
    former = PlaceSeal({"k1": OLD}, "k1").text("table t1", place, "token")
    assert SEAL.read("table t1", former) == (place, "token")
