"""Where a demonstration says that its pages are, and whose sign-in opens each."""

from __future__ import annotations

import datetime as dt

import pytest

from upcard_gateway.entrypoints.pages import frame
from upcard_operate.demo.arriving import Invitation
from upcard_operate.demo.operators import HOUSE
from upcard_operate.demo.pages import SignIn
from upcard_operate.demo.staffing import OTHERS, table_dealers
from upcard_operate.demo.tables import TABLES
from upcard_operate.demo.telling import PLACES, tell_of
from upcard_operate.output import Output

URL = "http://127.0.0.1:8080"


def test_every_page_of_the_navigation_is_told_with_a_sign_in_that_opens_it() -> None:
    roles = {one.name: frozenset(one.roles) for one in OTHERS}
    open_to = {place.path: place.roles for place in frame.PLACES}
    assert [place.path for place in PLACES] == list(open_to)
    for place in PLACES:
        assert roles[place.sign_in] & open_to[place.path], place


def test_each_page_stands_beside_its_sign_in(capsys: pytest.CaptureFixture[str]) -> None:
    sign_ins = [SignIn(one.name, f"once-{one.name}", what=one.what) for one in OTHERS]
    link = Invitation(HOUSE, f"{URL}/play#launch_token=x", dt.datetime(2026, 1, 31, 12, tzinfo=dt.UTC))
    tell_of(sign_ins, [link], URL, Output(as_json=False))
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    for place in PLACES:
        assert any(line[:2] == [f"{URL}{place.path}", place.sign_in] for line in lines), place
        assert any(line[:2] == [place.sign_in, f"once-{place.sign_in}"] for line in lines), place
    assert any(f"{URL}/play" in line for line in lines), "to look on"


def test_each_tables_dealer_has_a_first_name_that_players_may_see() -> None:
    dealers = [one.called for one in (*table_dealers(), *OTHERS) if "dealer" in one.roles]
    firsts = [called.split()[0] for called in dealers]
    assert len(set(firsts)) == len(TABLES) + 1
    assert "Dealer" not in firsts
