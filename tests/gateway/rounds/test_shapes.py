"""What is made of a round before it is answered: other players are out of it, and every text is harmless."""

from __future__ import annotations

import datetime as dt
import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from upcard_gateway.app.round_page import message_page, round_page
from upcard_gateway.app.rounds import Detail, Hand, Played, Words, detail_of, without_others

OTHERS = st.sampled_from(["p2", "p3"])
plain = st.sampled_from(["box", "amount", "confirmed_by", "proposer", "note"])


def test_an_event_about_somebody_else_is_left_out() -> None:
    assert without_others({"player": "p2", "amount": 3}, "p1", "anna") is None
    assert without_others({"player": "p1", "amount": 3}, "p1", "anna") == {"player": "anna", "amount": 3}
    assert without_others({"card": "Ah"}, "p1", "anna") == {"card": "Ah"}


def test_others_are_out_of_what_concerns_all() -> None:
    decided: dict[str, Any] = {
        "number": 1,
        "proposer": "staff:s1",
        "approver": "staff:s2",
        "choices": [{"box": 1, "player": "p2"}, {"box": 2, "player": "p1", "final": "bet"}],
    }
    assert without_others(decided, "p1", "anna") == {
        "number": 1,
        "choices": [{"box": 2, "player": "anna", "final": "bet"}],
    }
    closed = {"box": None, "passed": [{"box": 1, "players": ["p2", "p1"]}, {"box": 2, "players": ["p3"]}]}
    assert without_others(closed, "p1", "anna") == {
        "box": None,
        "passed": [{"box": 1, "players": ["anna"]}, {"box": 2, "players": []}],
    }


@given(
    st.recursive(
        st.dictionaries(plain, st.integers()),
        lambda inner: st.one_of(
            st.fixed_dictionaries({"player": OTHERS, "choices": st.lists(inner, max_size=3)}),
            st.fixed_dictionaries(
                {"players": st.lists(OTHERS, max_size=2), "choices": st.lists(inner, max_size=3)}
            ),
        ),
        max_leaves=12,
    )
)
def test_others_are_out_at_any_depth(data: dict[str, Any]) -> None:
    shown = without_others(data, "p1", "anna")
    assert shown is None or not re.search("p2|p3|confirmed_by|proposer", repr(shown))


NASTY = "<script>alert('x')</script>&\""


def detail(**changes: Any) -> Detail:
    """A round whose every text is an attempt."""
    played = Played(
        round=f"t{NASTY}.1",
        table=NASTY,
        number=1,
        ruleset=NASTY,
        player="p1",
        currency="EUR",
        state="settled",
        reason=None,
        opened_at=dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC),
        ended_at=None,
        staked=300,
        returned=0,
        net=-300,
        revision=2,
        by_platform=0,
        dealer=None,
    )
    box = {
        "box": 1,
        "blind": False,
        "wagers": {NASTY: 300},
        "staked": 300,
        "option": NASTY,
        "positions": [],
        "bought": 0,
        "final": None,
        "final_by": None,
        "purchase": None,
        "folded": False,
        "hand": {"name": "nothing", "combinations": [], "odds": 0},
        "result": None,
    }
    cards = {"dealer.0": "Ah", "dealer.4": NASTY, "box.1.1": "Tc", "box.1.0": "hidden", "draw.0": "2d"}
    cards |= {"replacement.1.1": "Ks", "replacement.1.0": "Qs", "replacement.2.0": "Js"}
    view: dict[str, Any] = {"cards": cards, "step": "settled", "own": {"boxes": [box]}} | changes
    return detail_of(played, view, 0, Words((NASTY,), {1: (NASTY,)}))


def test_a_page_shows_texts_and_runs_none() -> None:
    page = round_page(detail())
    assert "<script" not in page
    assert page.count("&lt;script&gt;") >= 6
    assert 'aria-label="ace of hearts">A♥' in page
    assert 'aria-label="ten of clubs">10♣' in page
    assert page.count('aria-label="a hidden card"') == 2
    assert page.index("Q♠") < page.index("K♠")
    assert "J♠" not in page, "another box's"
    assert "2 January 2026, 03:04:05 UTC" in page
    assert "-" not in re.findall(r"Lost</th><td>([^<]*)", page)[0], "so much was lost"
    assert "<script" not in message_page(NASTY, NASTY)


def test_a_box_is_shown_as_it_was_dealt() -> None:
    (box,) = detail().boxes
    assert box.cards == ("hidden", "Tc")
    assert box.hand == Hand("nothing", (), 0)
    assert (box.staked, box.returned, box.wagers[0].returned) == (300, None, None)
    assert detail(own=None).boxes == ()
