"""Who looks at a round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never


@dataclass(frozen=True, slots=True)
class Player:
    """A signed-in player, with bets in the round or without."""

    player: str
    """The player's opaque id."""


@dataclass(frozen=True, slots=True)
class Dealer:
    """Whoever deals: sees what the public sees, and what the table waits for."""


@dataclass(frozen=True, slots=True)
class Operations:
    """The operator's staff: everybody's money too, but no card and no choice earlier than the public."""


@dataclass(frozen=True, slots=True)
class Public:
    """Everyone else: other tables' players, and who watches without signing in (RULES.md section 8)."""


Viewer = Player | Dealer | Operations | Public


def viewer_text(viewer: Viewer) -> str:
    """`player:<id>`, `dealer`, `operations` or `public`."""
    match viewer:
        case Player(player=player):
            return f"player:{player}"
        case Dealer():
            return "dealer"
        case Operations():
            return "operations"
        case Public():
            return "public"
        case _:
            assert_never(viewer)
