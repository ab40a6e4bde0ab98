"""What watchers are shown: an event as far as they may see it, and what belongs to it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final, Literal

from rules_core.round import events as e
from rules_core.views.events import PrivateCard
from rules_core.views.viewers import Dealer, Operations, Player, Viewer
from upcard_table.app.watching.crowd import Crowd
from upcard_table.domain.events import TableEvent

Audience = Literal["public", "dealer", "operations"]
"""Who is shown the same. Players are of the public, and are told what is their own besides."""

AUDIENCES: Final[tuple[Audience, ...]] = ("public", "dealer", "operations")


@dataclass(frozen=True, slots=True)
class KnownBonus:
    """What bonus B of a private box came to, once its player sees the cards. It is paid with the round."""

    box: int
    stake: int
    hand: str | None = field(repr=False)
    """The hand in the bonus table that it wins with; None: it lost."""
    returned: int = field(repr=False)
    """Stake and win together, minor units; 0: it lost. Of a jackpot the stake alone."""
    jackpot_share_percent: int | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Item:
    """An event that is shown. Its repr shows no card that not everybody sees."""

    position: int
    """In the stream of the round or table."""
    event: e.RoundEvent | TableEvent
    cards: tuple[PrivateCard, ...] = ()
    """Face-down cards that the one player who is shown this sees from here on."""
    bonuses: tuple[KnownBonus, ...] = ()
    """Known with these cards."""
    crowd: Crowd | None = None
    """Shared tables, with the event that closes a window: what all players together did in it."""


def audience_of(viewer: Viewer) -> Audience:
    """Whom a viewer is shown the same as."""
    match viewer:
        case Dealer():
            return "dealer"
        case Operations():
            return "operations"
        case _:
            return "public"


def player_of(viewer: Viewer) -> str | None:
    """The player who looks, if it is one."""
    return viewer.player if isinstance(viewer, Player) else None


def thinned(event: e.RoundEvent) -> e.RoundEvent:
    """An event of a shared table without its lists of players: there can be any number of them.

    A player's own view says whether they are asked; how many are is in the crowd's figures.
    """
    match event:
        case e.OptionsClosed():
            return replace(event, passed=())
        case e.FinalOptionsOpened() | e.PurchaseOffered():
            return replace(event, asked=())
        case _:
            return event
