"""What the routes about players stand on: use cases over the edge, players looked up, forms of paths."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import Path

from upcard_gateway.adapters.cashier import GrpcCashier
from upcard_gateway.adapters.postgres.people import PeopleTables, PostgresPeople
from upcard_gateway.adapters.postgres.sessions import PostgresSessions
from upcard_gateway.app.accounts import Accounts
from upcard_gateway.app.launch_tokens import LaunchTokens
from upcard_gateway.app.people import Player
from upcard_gateway.app.player_sessions import PlayerSessions
from upcard_gateway.app.sessions import Sessions, SessionTimes
from upcard_gateway.entrypoints.http.edge import Caller, Edge, Problem
from upcard_gateway.settings import GatewaySettings
from upcard_gateway.settings.keys import raw_key
from upcard_platform.models.fields import OpaqueId, PlayerId

__all__ = [
    "OfPlayer",
    "OfSession",
    "accounts_on",
    "cashier_on",
    "checked_currency",
    "launch_tokens_on",
    "no_such_player",
    "people_on",
    "player_of",
    "player_sessions_on",
    "sessions_on",
]

OfPlayer = Annotated[PlayerId, Path(description="the platform's own id of the player")]
"""A parameter of a route: the player of its path."""
OfSession = Annotated[OpaqueId, Path(description="the session's id")]
"""A parameter of a route: the session of its path."""

_TABLES: Final = PostgresSessions()


def people_on(edge: Edge) -> PostgresPeople:
    """Who belongs to whom."""
    return PostgresPeople(edge.pool)


def cashier_on(edge: Edge) -> GrpcCashier:
    """The wallet."""
    return GrpcCashier(edge.services.wallet)


def accounts_on(edge: Edge) -> Accounts:
    """Players and their accounts, made where there are none."""
    return Accounts(edge.pool, PeopleTables(), cashier_on(edge))


def sessions_on(settings: GatewaySettings) -> Sessions:
    """The use cases of sessions."""
    times = SessionTimes(settings.launch_token_s, settings.session_idle_s, settings.session_longest_s)
    return Sessions(_TABLES, times)


def player_sessions_on(edge: Edge) -> PlayerSessions:
    """What a player's own connection does with their session."""
    return PlayerSessions(
        edge.pool, edge.store.announce, sessions_on(edge.settings), _TABLES, people_on(edge)
    )


def launch_tokens_on(settings: GatewaySettings) -> LaunchTokens:
    """The maker of launch tokens."""
    keys = {key_id: raw_key(secret) for key_id, secret in settings.secret_keys.items()}
    return LaunchTokens(keys, settings.secret_key)


async def player_of(edge: Edge, caller: Caller, player: str) -> Player:
    """The caller's player of this id. Raises Problem, the same for an unknown one and for somebody else's."""
    found = await people_on(edge).player_of(caller.operator, player)
    if found is None:
        raise no_such_player()
    return found


def no_such_player() -> Problem:
    """The id is not that of a player of the caller's."""
    return Problem("player_unknown", "you have no player of this id: unknown, erased, or never launched")


def checked_currency(caller: Caller, currency: str) -> None:
    """Raise Problem unless the operator plays in this currency."""
    if caller.terms.limits_of(currency) is None:
        known = ", ".join(one.currency for one in caller.terms.currencies)
        raise Problem("currency_refused", f"the operator's currencies are {known}")
