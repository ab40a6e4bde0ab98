"""Who may act for whom: the signed actor, and for a platform the players that its items name."""

from __future__ import annotations

from typing import Final

from servicekit.answering import fit_correlation_id, invalid, who_acts
from servicekit.grpc import ActorKind, call_context
from upcard_table.app.calls import By
from upcard_table.domain.words import is_opaque_id
from upcard_table.entrypoints.grpc.errors import forbidden

MANAGERS: Final = frozenset({"operations", "admin"})
FLOOR: Final = MANAGERS | {"floor"}
MAY_PROPOSE: Final = FLOOR | {"support"}
"""Roles of staff; one of them is needed."""


def by() -> By:
    """Who acts in the call that is served, for its events."""
    return By(who_acts(), fit_correlation_id())


def player_of(named: str) -> str:
    """Whose item it is. Raises CallError for somebody else's.

    A player's items are their own, whether they say so or not. A platform's name their players: the signature
    covers the bytes of the whole batch (docs/adr/0008).
    """
    actor = call_context().actor
    if actor.kind is ActorKind.PLAYER:
        if named and named != actor.id:
            raise forbidden("player_not_actor", "a player acts for nobody else")
        return actor.id
    if not is_opaque_id(named):
        raise invalid("player: each item of a platform names its player")
    return named


def require_role(roles: frozenset[str]) -> None:
    """A member of staff needs one of these roles; a dealer none. Raises CallError."""
    actor = call_context().actor
    if actor.kind is ActorKind.STAFF and not roles & actor.roles:
        raise forbidden("role_missing", f"one of these is needed: {', '.join(sorted(roles))}")
