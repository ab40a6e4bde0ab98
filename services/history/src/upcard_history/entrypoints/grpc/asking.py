"""What all calls stand on: who asks, what they may see, asking a database that may be away for a moment."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeVar

import grpc
import grpc.aio

from eventstore.coordination.outages import PASSING
from rules_core.views.viewers import Dealer, Operations, Player, Public, Viewer
from servicekit.answering import COME_AGAIN_S, serving
from servicekit.grpc import LOG_ERRORS, ActorKind, CallError, ErrorMap
from upcard.call.v1.refusal_pb2 import Refusal
from upcard_history.app.reading import History, RoundRow, RulesetUnknown
from upcard_history.app.standing import Standing
from upcard_history.app.sums import Sums

Context = grpc.aio.ServicerContext[Any, Any]

MAY_LOOK: Final = frozenset({"support", "floor", "operations", "admin", "auditor"})
"""Staff with one of these roles see rounds, players' rounds and statements."""
MAY_COUNT: Final = frozenset({"operations", "admin", "auditor"})
"""Staff with one of these roles see figures, and take lists of everybody's rounds away as files."""

_TRIES: Final = 5
_FIRST_PAUSE_S: Final = 0.02
_LONGEST_PAUSE_S: Final = 0.5

T = TypeVar("T")

_SENTENCES: Final = {
    "round_unknown": "there is no such round",
    "round_open": "the round has not ended: its bundle could tell what is hidden still",
    "ruleset_unknown": "this program does not have the ruleset that the round was played by",
    "player_unknown": "there is no such player",
    "account_unknown": "there is no such account",
    "period_invalid": "the period has to have a beginning before its end",
}


class Readable(History, Protocol):
    """What calls read."""

    async def round_row(self, round_name: str) -> RoundRow | None:
        """A round in few words, without looking through its events; None where it is not known."""
        ...


class Turns(Protocol):
    """Who has a turn at something that not everybody may do at once."""

    def taken(self, asker: str) -> AbstractContextManager[None]:
        """Within the context, the asker has a turn. Raises CallError when there is none."""
        ...


@dataclass(frozen=True, slots=True)
class Desk:
    """What all calls stand on."""

    history: Readable
    sums: Sums
    exports: Turns
    standing: Callable[[], Awaitable[Standing]]
    """How far behind this instance may be."""


def viewer() -> Viewer:
    """As whom a round is shown. Raises CallError for staff without a role."""
    context = serving().context
    if context is None:
        return Public()
    match context.actor.kind:
        case ActorKind.PLAYER:
            return Player(context.actor.id)
        case ActorKind.STAFF:
            check_role(MAY_LOOK)
            return Operations()
        case ActorKind.DEALER:
            return Dealer()
        case _:
            return Public()


def check_role(roles: frozenset[str]) -> None:
    """Raises CallError unless a member of staff with one of these roles asks."""
    context = serving().context
    if context is None or not roles & context.actor.roles:
        raise CallError(
            grpc.StatusCode.PERMISSION_DENIED,
            "role_missing",
            f"one of these is needed: {', '.join(sorted(roles))}",
        )


def own_player() -> str | None:
    """The player who asks; None for staff. Raises CallError for staff without a role."""
    context = serving().context
    if context is not None and context.actor.kind is ActorKind.PLAYER:
        return context.actor.id
    check_role(MAY_LOOK)
    return None


def player_asked_about(named: str) -> str | None:
    """The player whom a call is about: who asks, or, for staff, the one that is named.

    None: a player has named somebody else. Raises CallError for staff without a role, or who name nobody.
    """
    own = own_player()
    if own is not None:
        return own if named in {"", own} else None
    if not named:
        raise invalid("player is not said")
    return named


def refusal(reason: str, message: str | None = None) -> Refusal:
    """A refusal as a part of an answer."""
    return Refusal(reason=reason, message=message or _SENTENCES[reason])


def invalid(what: str) -> CallError:
    """A request that no right program sends."""
    return CallError(grpc.StatusCode.INVALID_ARGUMENT, "invalid_argument", what)


def unavailable() -> CallError:
    """The database did not answer in time, or answered that it cannot now."""
    return CallError(
        grpc.StatusCode.UNAVAILABLE,
        "database_unavailable",
        "the history's database is away; ask again",
        retry_after_s=COME_AGAIN_S,
    )


async def patiently(ask: Callable[[], Awaitable[T]]) -> T:
    """What `ask` gives, asked again while the database is away and there is time. Raises CallError."""
    call = serving()
    pause_s = _FIRST_PAUSE_S
    for attempt in range(1, _TRIES + 1):
        try:
            return await ask()
        except PASSING as error:
            if attempt == _TRIES or call.remaining_s() <= pause_s:
                raise unavailable() from error
        await asyncio.sleep(pause_s)
        pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
    raise AssertionError("the last attempt returns or raises")


def _ruleset_unknown(error: Exception) -> CallError:
    return CallError(grpc.StatusCode.FAILED_PRECONDITION, "ruleset_unknown", str(error))


HISTORY_ERRORS: Final[ErrorMap] = {
    **LOG_ERRORS,
    **{kind: (lambda _: unavailable()) for kind in PASSING},
    RulesetUnknown: _ruleset_unknown,
}
"""What exceptions of the layers below mean to who called: a stream meets a database that goes away too. All
others are unexpected: a mistake of the service itself."""
