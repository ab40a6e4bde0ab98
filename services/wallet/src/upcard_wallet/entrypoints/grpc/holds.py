"""Calls of the table: holds and tips."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import Any, Final

import grpc
import grpc.aio

from eventstore import StreamAppend
from eventstore.postgres import Connection
from servicekit.answering import (
    COME_AGAIN_S,
    answer_once,
    bind_request,
    business_key_of,
    fit_correlation_id,
    invalid,
    keep_answer,
    read,
    serving,
)
from servicekit.grpc import CallError
from upcard.wallet.v1 import wallet_pb2 as pb
from upcard_wallet.adapters.postgres.round_holds import FoundHold, holds_of_round
from upcard_wallet.app.moving import Moved
from upcard_wallet.app.place_holds import MAX_COMMANDS, WantedHold, WantedHolds, place_holds
from upcard_wallet.app.purse import UNKNOWN, AccountRef, Outcome, Refusal
from upcard_wallet.app.release_holds import release_holds
from upcard_wallet.app.tip import Tip, hold_tip, post_held_tip, tip
from upcard_wallet.app.wallet import Done, Origin, Refused
from upcard_wallet.entrypoints.faults import reach
from upcard_wallet.entrypoints.grpc import messages
from upcard_wallet.entrypoints.grpc.accounts import moved_or_refused
from upcard_wallet.entrypoints.grpc.answering import Desk, origin
from upcard_wallet.entrypoints.grpc.telling import Answers

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
        _check_size(request.commands)
        desk = self._desk
        stored = await bind_request(desk.answering, request, pb.PlaceHoldsResponse)
        if stored is not None:
            return stored
        placed = await place_holds(desk.wallet, desk.answering.pool, _wanted(request.commands), _deadline())
        reach("wallet.holds.placed")
        answer = pb.PlaceHoldsResponse(commands=map(messages.placed_holds, placed))
        if any(one.outcome.state == "unknown" for one in placed):
            return answer
        return await keep_answer(desk.answering, request, answer)

    async def AskHolds(  # noqa: N802 - the name of the call
        self,
        request: pb.AskHoldsRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> AsyncIterator[pb.AskHoldsResponse]:
        """Hold the money of many commands, and tell of each as soon as it has its answer."""
        _check_size(request.commands)
        desk = self._desk
        stored = await bind_request(desk.answering, request, pb.AskHoldsResponse)
        if stored is not None:
            yield stored
            return
        told: list[pb.AnsweredHolds] = []
        answers = Answers()
        placing = asyncio.create_task(
            place_holds(
                desk.wallet, desk.answering.pool, _wanted(request.commands), _deadline(), answers.answered
            )
        )
        async with contextlib.aclosing(answers.until(placing)) as batches:
            async for batch in batches:
                told += batch
                yield pb.AskHoldsResponse(answers=batch)
        reach("wallet.holds.placed")
        if all(one.placed.outcome != pb.HOLD_OUTCOME_UNKNOWN for one in told):
            await keep_answer(desk.answering, request, pb.AskHoldsResponse(answers=told))

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

        return await answer_once(self._desk.answering, request, pb.ReleaseHoldsResponse, work)

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

        found = await read(self._desk.answering, work)
        return pb.ListHoldsResponse(holds=map(messages.hold, found[:limit]), more=len(found) > limit)

    async def PostTip(  # noqa: N802 - the name of the call
        self,
        request: pb.PostTipRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.PostTipResponse:
        """Give a tip. The table has checked that the player wants it; so it is the player who acts."""
        desk = self._desk
        command = Tip(
            request.account,
            request.amount,
            business_key_of(request),
            request.table or None,
            request.dealer or None,
        )
        account = await read(desk.answering, partial(_account_of, desk, command.account))
        actor = "system" if account is None else f"player:{account.player}"
        who = Origin(actor, origin().correlation_id)
        outcome: Outcome | Refused | None = None
        if account is not None and account.purse == "seamless":
            stored = await bind_request(desk.answering, request, pb.PostTipResponse)
            if stored is not None:
                return stored
            outcome = await hold_tip(desk.wallet, account, command, who.correlation_id, _deadline())
            reach("wallet.tip.held")

        async def work(connection: Connection) -> tuple[pb.PostTipResponse, Sequence[StreamAppend]]:
            done: Done[Moved | Refused]
            if account is None or outcome is None:
                done = await tip(desk.wallet, connection, command, who)
            elif isinstance(outcome, Refused):
                done = Done(outcome)
            elif outcome.state == "refused":
                done = Done(Refused(outcome.reason or Refusal.REFUSED))
            else:
                done = await post_held_tip(desk.wallet, connection, account, command, who)
            return pb.PostTipResponse(**moved_or_refused(done)), done.appends

        if outcome == UNKNOWN:
            raise _unknown_tip()
        return await answer_once(desk.answering, request, pb.PostTipResponse, work)


async def _account_of(desk: Desk, account: str, connection: Connection) -> AccountRef | None:
    return (await desk.wallet.ledger.accounts(connection, [account])).get(account)


def _unknown_tip() -> CallError:
    return CallError(
        grpc.StatusCode.UNAVAILABLE,
        "tip_outcome_unknown",
        "the operator's wallet has not answered; ask again with the same request_id",
        retry_after_s=COME_AGAIN_S,
        repeat=False,
    )


def _check_size(commands: Sequence[pb.HoldCommand]) -> None:
    if not 0 < len(commands) <= MAX_COMMANDS:
        raise invalid(f"a batch has 1 to {MAX_COMMANDS} commands")
    if sum(len(command.wagers) for command in commands) > MAX_HOLDS:
        raise invalid(f"a batch has at most {MAX_HOLDS} wagers in all")


def _deadline() -> float:
    """Until when holds may be asked for, as a time of the loop: a little of what is left is kept."""
    remaining_s = serving().remaining_s()
    return asyncio.get_running_loop().time() + remaining_s - min(_MARGIN_S, remaining_s / 2)


def _wanted(commands: Sequence[pb.HoldCommand]) -> list[WantedHolds]:
    inherited = fit_correlation_id()
    return [
        WantedHolds(
            command.round,
            command.player,
            command.currency,
            command.bet_id,
            tuple(WantedHold(one.box, one.wager, one.amount, one.funding or None) for one in command.wagers),
            "platform" if command.by_platform else f"player:{command.player}",
            fit_correlation_id(command.correlation_id) if command.correlation_id else inherited,
        )
        for command in commands
    ]
