"""Where people go in a demonstration that is kept running, and what they sign in with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from upcard_operate.demo.arriving import Invitation
from upcard_operate.demo.pages import SignIn
from upcard_operate.output import Output

__all__ = ["PLACES", "Place", "tell_of"]


@dataclass(frozen=True, slots=True)
class Place:
    """A page of staff's, and whose sign-in opens it."""

    path: str
    sign_in: str
    what: str


PLACES: Final = (
    Place("/staff/floor", "floor", "all tables as they stand; a table's own page behind its name"),
    Place("/staff/dealer", "dealer", "the dealer's console"),
    Place("/staff/chat", "floor", "what players say, and who may"),
    Place("/staff/find", "support", "a round, player or transaction by its id"),
    Place("/staff/significant", "auditor", "events that somebody has to look at"),
    Place("/staff/money", "auditor", "turnover, revenue and hold; what is open; jackpots"),
    Place("/staff/health", "operations", "lags, parked events, partners"),
    Place("/staff/people", "admin", "members of staff and their roles"),
)


def tell_of(sign_ins: Sequence[SignIn], links: Sequence[Invitation], url: str, output: Output) -> None:
    """Say it; `url` is the gateway's, without a path."""
    output.say(f"\nStaff sign in at {url}/staff with a one-time password, and choose their own there:")
    for one in sign_ins:
        output.say(f"  {one.name:<14} {one.password:<26} {one.what}")
    output.say("Each page, with the sign-in that opens it:")
    longest = max(len(place.path) for place in PLACES)
    for place in PLACES:
        output.say(f"  {url}{place.path:<{longest}}  {place.sign_in:<12} {place.what}")
    output.say("Players sit down with a link that is good once (it is their casino that gives it to them):")
    for link in links:
        output.say(f"  {link.operator.name:<18} {link.url}   until {link.until:%H:%M:%SZ}")
    output.say(f"Anybody may look on at {url}/play without signing in\n")
