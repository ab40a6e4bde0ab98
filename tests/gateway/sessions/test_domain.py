from __future__ import annotations

import datetime as dt
from dataclasses import replace

import pytest

from rules_core.round.codec import codec_of
from upcard_gateway.app.launch_tokens import LaunchTokens, hash_of, new_session_token
from upcard_gateway.domain.sessions import EVENT_TYPES, Limits, PlayerErased, Session, SessionEnded

BEGAN = dt.datetime(2026, 1, 31, 12, tzinfo=dt.UTC)


def after(seconds: float) -> dt.datetime:
    """A moment after the session was opened."""
    return BEGAN + dt.timedelta(seconds=seconds)


LAUNCHED = Session(
    id="s1",
    player="p1",
    operator="op1",
    account="a1",
    currency="EUR",
    environment="live",
    wallet="transfer",
    table=None,
    limits=Limits(),
    opened_at=BEGAN,
    launch_until=after(120),
    ends_by=after(1_000),
    idle_s=300,
    seen_at=BEGAN,
    events=1,
)
LIVE = replace(LAUNCHED, redeemed_at=after(100), seen_at=after(100))


@pytest.mark.parametrize(
    ("session", "seconds", "reason"),
    [
        (LAUNCHED, 120, "not_started"),
        (replace(LAUNCHED, ends_by=after(60)), 60, "expired"),
        (LIVE, 400, "idle"),
        (LIVE.seen(after(699)), 999, "idle"),
        (LIVE.seen(after(701)), 1_000, "expired"),
        (LIVE.seen(BEGAN), 400, "idle"),
    ],
)
def test_when_it_ends_by_itself_and_why(session: Session, seconds: int, reason: str) -> None:
    assert session.due == (after(seconds), reason)
    tick = dt.timedelta(microseconds=1)
    assert session.at(after(seconds) - tick) is session
    ended = session.at(after(seconds + 50))
    assert (ended.ended_at, ended.end_reason, ended.state) == (after(seconds), reason, "ended")
    # What has ended stays as it is.
    assert ended.at(after(10_000)) is ended


def test_states() -> None:
    assert (LAUNCHED.state, LIVE.state) == ("launched", "live")
    assert LIVE.ended(after(200), "player").state == "ended"


@pytest.mark.parametrize("event", [SessionEnded("s1", "replaced"), PlayerErased("p1", "op1")])
def test_events_are_read_as_they_are_written(event: SessionEnded | PlayerErased) -> None:
    _, kind = EVENT_TYPES[type(event).__name__]
    assert codec_of(kind).decode(codec_of(kind).encode(event)) == event


def test_a_launch_token_follows_from_session_and_key() -> None:
    tokens = LaunchTokens({"k1": b"1" * 32, "k2": b"2" * 32}, "k2")
    token, key_id = tokens.new("s1")
    assert (key_id, len(token)) == ("k2", 43)
    assert tokens.token("s1", "k2") == token
    others = {tokens.token("s1", "k1"), tokens.token("s2", "k2"), new_session_token(), new_session_token()}
    assert len(others | {token}) == 5
    assert tokens.token("s1", "k0") is None
    assert "1111" not in repr(tokens)
    assert len({hash_of(token), hash_of(""), hash_of("\ud800")}) == 3
    with pytest.raises(ValueError, match="not one of the keys"):
        LaunchTokens({}, "k2").new("s1")
