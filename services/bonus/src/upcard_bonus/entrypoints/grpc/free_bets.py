"""Calls about free bets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import grpc.aio

from eventstore import StreamAppend
from eventstore.postgres import Connection
from servicekit.answering import answer_once, invalid, read, serving
from servicekit.grpc import ActorKind, call_context
from upcard.bonus.v1 import bonus_pb2 as pb
from upcard_bonus.app.keeping_free_bets import grant_free_bet, revoke_free_bet
from upcard_bonus.domain.free_bet import FreeBet
from upcard_bonus.domain.free_bet_events import FreeBetGranted
from upcard_bonus.domain.refusal import Refused
from upcard_bonus.entrypoints.grpc import messages
from upcard_bonus.entrypoints.grpc.desk import Desk, check_role, origin

Context = grpc.aio.ServicerContext[Any, Any]

MAY_GRANT: Final = ("admin", "operations", "support")
"""One of these roles is needed by staff; a platform needs none."""


class FreeBetCalls:
    """A part of the servicer."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def GrantFreeBet(  # noqa: N802 - the name of the call
        self,
        request: pb.GrantFreeBetRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.GrantFreeBetResponse:
        """Grant a free bet."""
        _check_grantor()
        wagers = tuple(messages.WAGERS[one] for one in request.wagers if one in messages.WAGERS)
        if len(wagers) != len(request.wagers):
            raise invalid("a wager is not said")
        if not request.HasField("expires_at"):
            raise invalid("expires_at is not said")
        wanted = FreeBetGranted(
            request.free_bet,
            request.player,
            request.currency,
            request.amount,
            wagers,
            messages.instant(request.expires_at, "expires_at"),
        )

        async def work(connection: Connection) -> tuple[pb.GrantFreeBetResponse, Sequence[StreamAppend]]:
            done = await grant_free_bet(self._desk.office, connection, wanted, origin())
            return pb.GrantFreeBetResponse(**_either(done.answer)), done.appends

        return await answer_once(self._desk.answering, request, pb.GrantFreeBetResponse, work)

    async def RevokeFreeBet(  # noqa: N802 - the name of the call
        self,
        request: pb.RevokeFreeBetRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.RevokeFreeBetResponse:
        """Take back what is left of a free bet."""
        _check_grantor()

        async def work(connection: Connection) -> tuple[pb.RevokeFreeBetResponse, Sequence[StreamAppend]]:
            done = await revoke_free_bet(self._desk.office, connection, request.free_bet, origin())
            return pb.RevokeFreeBetResponse(**_either(done.answer)), done.appends

        return await answer_once(self._desk.answering, request, pb.RevokeFreeBetResponse, work)

    async def ListFreeBets(  # noqa: N802 - the name of the call
        self,
        request: pb.ListFreeBetsRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.ListFreeBetsResponse:
        """A page of a player's free bets; of another player's a player sees none."""
        limit = messages.page_size(request.limit)
        if not _may_see(request.player):
            return pb.ListFreeBetsResponse()

        async def work(connection: Connection) -> Sequence[FreeBet]:
            return await self._desk.office.free_bets.list(
                connection,
                request.player,
                after=request.after,
                limit=limit + 1,
                usable_only=request.usable_only,
            )

        found = await read(self._desk.answering, work)
        return pb.ListFreeBetsResponse(
            free_bets=map(messages.free_bet, found[:limit]), more=len(found) > limit
        )


def _either(answer: FreeBet | Refused) -> dict[str, Any]:
    """The field of an answer that a free bet, or a refusal, belongs into."""
    if isinstance(answer, Refused):
        return {"refusal": messages.refusal(answer)}
    return {"free_bet": messages.free_bet(answer)}


def _check_grantor() -> None:
    if call_context().actor.kind is ActorKind.STAFF:
        check_role(*MAY_GRANT)


def _may_see(player: str) -> bool:
    """A player sees their own alone; services and staff see all."""
    context = serving().context
    if context is None or context.actor.kind is not ActorKind.PLAYER:
        return True
    return player == context.actor.id
