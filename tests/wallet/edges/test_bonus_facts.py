"""Reading the bonus service's payloads: what is needed is checked and named, the rest is not looked at."""

from __future__ import annotations

from typing import Any

import pytest

from eventstore.ids import new_event_id
from rules_core.log.content import Content
from rules_core.round.codec import PayloadError
from tests.wallet.edges.neighbours import WHEN
from upcard_wallet.app.free_bets import Expired, Granted
from upcard_wallet.app.jackpots import Contribution, Hit, Seed, Share
from upcard_wallet.entrypoints.consumer.bonus import fact_of
from upcard_wallet.entrypoints.consumer.reading import EventIsNewer

POOL = {"jackpot": "j1", "operator": "op1", "currency": "EUR"}
HIT = {**POOL, "round": "t1.7", "shares": [{"player": "p1", "amount": 5}, {"player": "p2", "amount": 0}]}


def content(kind: str, payload: dict[str, Any], version: int = 1) -> Content:
    event_id = str(new_event_id())
    return Content(event_id, kind, version, "jackpot-j1", WHEN, "c-1", None, "system", "00" * 16, payload)


def test_every_kind_is_read() -> None:
    ones = [
        content("JackpotSeeded", {**POOL, "amount": 5, "why": "a new field"}),
        content("JackpotContributed", {**POOL, "amount": 5, "round": "t1.7"}),
        content("JackpotHit", HIT),
        content("FreeBetGranted", {"free_bet": "f1", "player": "p1", "currency": "EUR", "amount": 5}),
        content("FreeBetExpired", {"free_bet": "f1"}),
    ]
    causes = [fact_of(one).cause_event for one in ones]
    assert [str(cause) for cause in causes] == [one.event_id for one in ones]
    assert [fact_of(one) for one in ones] == [
        Seed("j1", "op1", "EUR", 5, causes[0]),
        Contribution("j1", "op1", "EUR", 5, "t1.7", causes[1]),
        Hit("j1", "op1", "EUR", (Share("p1", 5), Share("p2", 0)), "t1.7", causes[2]),
        Granted("f1", "p1", "EUR", 5, causes[3]),
        Expired("f1", causes[4]),
    ]


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"jackpot": None}, "JackpotHit.jackpot"),
        ({"jackpot": "a/b"}, "JackpotHit.jackpot"),
        ({"currency": "euro"}, "JackpotHit.currency"),
        ({"round": "t1"}, "JackpotHit.round"),
        ({"shares": {}}, "JackpotHit.shares"),
        ({"shares": ["p1"]}, "JackpotHit.shares"),
        ({"shares": [{"player": "p1", "amount": -1}]}, "JackpotHit.shares[0].amount"),
        ({"shares": [{"player": "p1", "amount": 1.0}]}, "JackpotHit.shares[0].amount"),
        ({"shares": [{"player": "p1", "amount": True}]}, "JackpotHit.shares[0].amount"),
        ({"shares": [{"player": "p1", "amount": 2**53}]}, "JackpotHit.shares[0].amount"),
        ({"shares": [{"amount": 1}]}, "JackpotHit.shares[0].player"),
    ],
)
def test_what_is_wrong_is_named(change: dict[str, Any], path: str) -> None:
    with pytest.raises(PayloadError) as caught:
        fact_of(content("JackpotHit", {**HIT, **change}))
    assert caught.value.path == path


def test_a_newer_version_is_not_guessed() -> None:
    with pytest.raises(EventIsNewer, match="JackpotHit has version 2"):
        fact_of(content("JackpotHit", HIT, version=2))
