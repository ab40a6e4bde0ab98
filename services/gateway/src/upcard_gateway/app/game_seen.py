"""What a table tells of itself, as plain values: what players' messages are made from.

The table service's updates are turned into these by `adapters.table_play`; nothing here knows a transport.
Values of events may hold a card that one player alone sees: they are shown to nobody else, and never logged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

__all__ = ["Beginning", "Happened", "Json", "LastRound", "Made", "Mine", "Purse"]

Json = Mapping[str, object]
"""A JSON object."""


@dataclass(frozen=True, slots=True)
class Happened:
    """An event as its viewer may see it."""

    round: int
    """Number of the round; 0: an event of the table itself."""
    position: int
    """In the stream of the round or table."""
    type: str
    payload: Json = field(repr=False)
    cards: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Place to card, which the player who watches alone sees."""
    bonuses: Sequence[Json] = field(default=(), repr=False)
    """What bonus B of their private boxes came to."""
    crowd: Json | None = None
    """What all players of a shared table did in the window that this event closes."""


@dataclass(frozen=True, slots=True)
class Beginning:
    """Everything as it is now: the first of a watch."""

    table: Json
    """id, name, ruleset, open, dealer, round, step, currencies, manual_mode, details, position."""
    round: int
    position: int
    view: Json | None = field(repr=False)
    """docs/views.md, "The table now"; None: no round yet."""


@dataclass(frozen=True, slots=True)
class Mine:
    """What concerns one player alone."""

    events: Sequence[Happened]
    view: Json | None = field(default=None, repr=False)
    """`own` and `actions` of the player's view as it is now; None: not told with this."""


@dataclass(frozen=True, slots=True)
class Purse:
    """What the player has to play with, in minor units, as far as it is known."""

    currency: str
    cash: int | None
    """To be spent; None: nobody can say now, see `unknown`."""
    held: int = 0
    owed: int = 0
    free: Sequence[Json] = ()
    """Free bets that can be staked now: id, left, expires_at, wagers."""
    unknown: str | None = None
    """Why `cash` is not known: `balance_unknown`, `balance_refused`, `partner_unavailable`."""


@dataclass(frozen=True, slots=True)
class LastRound:
    """How the player's last round ended."""

    number: int
    returned: int
    """Minor units, stakes that came back included."""


@dataclass(frozen=True, slots=True)
class Made:
    """A message of the server before it is numbered and framed: channel, `seq` and `at` are added to it."""

    type: str
    round: int
    """Of which round; 0: of none."""
    body: Json = field(repr=False)
    """All other fields of the message, as `upcard_platform.play` has them."""
