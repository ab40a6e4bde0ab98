"""Whatever comes over the wire is understood or not, and never breaks anything."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conformance.world import DIALECTS, MONEY, THEIRS
from upcard_conformance.reference.book import Book
from upcard_conformance.reference.hearing import BodyUnlike, heard
from upcard_conformance.reference.speaking import NotUnderstood
from upcard_conformance.reference.wallet import speakers_of
from upcard_seamless.dialects import load_dialect

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(["p1", "EUR", 100]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
SPEAKERS = speakers_of(THEIRS)


@st.composite
def bodies(draw: st.DrawFn, dialect: str, path: str) -> object:
    """A body that looks like the dialect's, with anything in the places of its values."""

    def filled(template: Any) -> Any:
        if isinstance(template, dict):
            return {name: filled(value) for name, value in template.items() if draw(st.integers(0, 9))}
        if isinstance(template, list):
            return [filled(template[0]) for _ in range(draw(st.integers(0, 3)))]
        return draw(VALUES)

    shapes = load_dialect(dialect).calls.values()
    return filled(next(shape.body for shape in shapes if shape.path == path))


@pytest.mark.parametrize("dialect", DIALECTS)
@given(data=st.data())
def test_anything_is_answered(dialect: str, data: st.DataObject) -> None:
    speaker = SPEAKERS[dialect]
    path = data.draw(st.sampled_from(sorted(speaker.kinds)))
    body = json.dumps(data.draw(bodies(dialect, path))).encode(errors="surrogatepass")
    book = Book(":memory:")
    book.open("p1", "EUR", MONEY)
    try:
        request = speaker.hear(path, body)
    except NotUnderstood:
        return
    else:
        order = request.order
        look = request.kind == "balance"
        answer = book.look(order.player, order.currency) if look else book.carry_out(order)
        said = speaker.say(request, answer)
        assert json.loads(said.data) == said.body
        assert (book.balance_of("p1", "EUR") or 0) >= 0
    finally:
        book.close()


def test_a_template_is_heard() -> None:
    template: Any = {
        "v": 1,
        "who": {"id": "$player"},
        "again": "$player",
        "items": [{"i": "$transaction"}],
        "l": ["a", "$call"],
    }
    body: Any = {
        "v": 1,
        "who": {"id": "p1", "more": True},
        "again": "p1",
        "items": [{"i": "t1"}, {"i": "t2"}],
        "l": ["a", "c1"],
    }
    assert heard(template, body) == (
        {"$player": "p1", "$call": "c1"},
        [{"$transaction": "t1"}, {"$transaction": "t2"}],
    )
    unlike: list[tuple[str, Any, str]] = [
        ("v", 2, "the body, v is not 1"),
        ("who", [], "the body, who is no object"),
        ("who", {}, "the body, who lacks id"),
        ("again", "p2", "the body, again contradicts another field"),
        ("items", {}, "the body, items is no list"),
        ("items", [{"i": "t"}] * 1_001, "the body, items has more than 1000 items"),
        ("l", ["a"], "the body, l does not have 2 items"),
    ]
    for name, value, said in unlike:
        with pytest.raises(BodyUnlike, match=f"^{said}$"):
            heard(template, {**body, name: value})
