"""Calls of the table: holds and tips."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Final

import grpc.aio

from eventstore import StreamAppend
from eventstore.postgres import Connection
from servicekit.context import correlation_id
from upcard.wallet.v1 import wallet_pb2 as pb
from upcard_wallet.adapters.postgres.round_holds import FoundHold, holds_of_round
from upcard_wallet.app.place_holds import MAX_COMMANDS, WantedHold, WantedHolds, place_holds
from upcard_wallet.app.release_holds import release_holds
from upcard_wallet.app.tip import Tip, tip
from upcard_wallet.app.wallet import Origin
from upcard_wallet.entrypoints.faults import reach
from upcard_wallet.entrypoints.grpc import messages
from upcard_wallet.entrypoints.grpc.accounts import moved_or_refused
from upcard_wallet.entrypoints.grpc.answering import (
    Desk,
    answer_once,
    bind_request,
    business_key_of,
    find_answer,
    fit_correlation_id,
    keep_answer,
    origin,
    read,
    serving,
)
from upcard_wallet.entrypoints.grpc.errors import invalid

Context = grpc.aio.ServicerContext[Any, Any]

MAX_HOLDS: Final = 4_000
"""Most holds of one call: their ids and outcomes fit into a stored answer."""
_MARGIN_S: Final = 0.2
"""What of the time that is left is kept for the way back; half of it when there is less."""


class HoldCalls:
    """A part of the wallet's servicer."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def PlaceHolds(  # noqa: N802 - the name of the call
        self,
        request: pb.PlaceHoldsRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.PlaceHoldsResponse:
        """Hold the money of many commands.

        Not one transaction with its answer, since partners are asked in between; but each command's holds are
        found again by their ids, so nothing is done twice.
        """
        _check_size(request)
        answer = await find_answer(self._desk, request, pb.PlaceHoldsResponse)
        if answer is not None:
            return answer
        await bind_request(self._desk, request)
        remaining_s = serving().remaining_s()
        deadline = asyncio.get_running_loop().time() + remaining_s - min(_MARGIN_S, remaining_s / 2)
        inherited = fit_correlation_id(correlation_id())
        commands = [_wanted(command, inherited) for command in request.commands]
        placed = await place_holds(self._desk.wallet, self._desk.pool, commands, deadline)
        reach("wallet.holds.placed")
        answer = pb.PlaceHoldsResponse(commands=map(messages.placed_holds, placed))
        if any(one.outcome.state == "unknown" for one in placed):
            return answer
        return await keep_answer(self._desk, request, answer)

    async def ReleaseHolds(  # noqa: N802 - the name of the call
        self,
        request: pb.ReleaseHoldsRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.ReleaseHoldsResponse:
        """Give held money back."""
        reason = messages.REASONS.get(request.reason)
        if reason is None:
            raise invalid("reason is not said")
        if not 0 < len(request.holds) <= MAX_HOLDS:
            raise invalid(f"a call names 1 to {MAX_HOLDS} holds")
        holds = [messages.uuid_of(text, "a hold") for text in request.holds]

        async def work(connection: Connection) -> tuple[pb.ReleaseHoldsResponse, Sequence[StreamAppend]]:
            done = await release_holds(self._desk.wallet, connection, holds, reason, origin())
            outcomes = [messages.RELEASED[done.answer[hold]] for hold in holds]
            return pb.ReleaseHoldsResponse(outcomes=outcomes), done.appends

        return await answer_once(self._desk, request, pb.ReleaseHoldsResponse, work)

    async def ListHolds(  # noqa: N802 - the name of the call
        self,
        request: pb.ListHoldsRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.ListHoldsResponse:
        """A page of a round's holds."""
        after = messages.optional_uuid(request.after, "after")
        limit = messages.page_size(request.limit)

        async def work(connection: Connection) -> Sequence[FoundHold]:
            return await holds_of_round(
                connection, request.round, open_only=request.open_only, after=after, limit=limit + 1
            )

        found = await read(self._desk, work)
        return pb.ListHoldsResponse(holds=map(messages.hold, found[:limit]), more=len(found) > limit)

    async def PostTip(  # noqa: N802 - the name of the call
        self,
        request: pb.PostTipRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.PostTipResponse:
        """Give a tip. The table has checked that the player wants it; so it is the player who acts."""
        wallet = self._desk.wallet
        command = Tip(
            request.account,
            request.amount,
            business_key_of(request),
            request.table or None,
            request.dealer or None,
        )

        async def work(connection: Connection) -> tuple[pb.PostTipResponse, Sequence[StreamAppend]]:
            found = await wallet.ledger.accounts(connection, [command.account])
            account = found.get(command.account)
            actor = "system" if account is None else f"player:{account.player}"
            done = await tip(wallet, connection, command, Origin(actor, origin().correlation_id))
            return pb.PostTipResponse(**moved_or_refused(done)), done.appends

        return await answer_once(self._desk, request, pb.PostTipResponse, work)


def _check_size(request: pb.PlaceHoldsRequest) -> None:
    if not 0 < len(request.commands) <= MAX_COMMANDS:
        raise invalid(f"a batch has 1 to {MAX_COMMANDS} commands")
    if sum(len(command.wagers) for command in request.commands) > MAX_HOLDS:
        raise invalid(f"a batch has at most {MAX_HOLDS} wagers in all")


def _wanted(command: pb.HoldCommand, inherited: str) -> WantedHolds:
    return WantedHolds(
        command.round,
        command.player,
        command.currency,
        command.bet_id,
        tuple(WantedHold(one.box, one.wager, one.amount, one.funding or None) for one in command.wagers),
        "platform" if command.by_platform else f"player:{command.player}",
        fit_correlation_id(command.correlation_id) if command.correlation_id else inherited,
    )
