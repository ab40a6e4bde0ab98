"""Calls about a table itself: opening, limits, dealer, shift, decks, manual mode."""

from __future__ import annotations

from collections.abc import Sequence

from servicekit.answering import invalid
from servicekit.grpc import call_context
from upcard.table.v1 import table_pb2 as pb
from upcard_table.app.calls import Result, TableWork
from upcard_table.domain import commands as c
from upcard_table.entrypoints.grpc.answering import Asked, Context, Desk, R, ask_table
from upcard_table.entrypoints.grpc.configs import config
from upcard_table.entrypoints.grpc.outcomes import table_changed
from upcard_table.entrypoints.grpc.people import FLOOR, by, require_role


class TableCalls:
    """A part of the table's servicer."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def OpenTable(  # noqa: N802 - the name of the call
        self, request: pb.OpenTableRequest, context: Context
    ) -> pb.OpenTableResponse:
        """Open a table."""
        require_role(FLOOR)
        _check_config(request)
        command = c.OpenTable(request.table, config(request.config))
        return await self._do(request, context, command, pb.OpenTableResponse)

    async def CloseTable(  # noqa: N802 - the name of the call
        self, request: pb.CloseTableRequest, context: Context
    ) -> pb.CloseTableResponse:
        """Close a table."""
        require_role(FLOOR)
        return await self._do(request, context, c.CloseTable(), pb.CloseTableResponse)

    async def ChangeLimits(  # noqa: N802 - the name of the call
        self, request: pb.ChangeLimitsRequest, context: Context
    ) -> pb.ChangeLimitsResponse:
        """Change how a table is played."""
        require_role(FLOOR)
        _check_config(request)
        command = c.ChangeLimits(config(request.config))
        return await self._do(request, context, command, pb.ChangeLimitsResponse)

    async def SignInDealer(  # noqa: N802 - the name of the call
        self, request: pb.SignInDealerRequest, context: Context
    ) -> pb.SignInDealerResponse:
        """Sign the dealer in who acts."""
        return await self._do(
            request, context, c.SignInDealer(call_context().actor.id), pb.SignInDealerResponse
        )

    async def SignOutDealer(  # noqa: N802 - the name of the call
        self, request: pb.SignOutDealerRequest, context: Context
    ) -> pb.SignOutDealerResponse:
        """Sign the dealer out."""
        require_role(FLOOR)
        return await self._do(request, context, c.SignOutDealer(), pb.SignOutDealerResponse)

    async def StartShift(  # noqa: N802 - the name of the call
        self, request: pb.StartShiftRequest, context: Context
    ) -> pb.StartShiftResponse:
        """Start a shift."""
        require_role(FLOOR)
        return await self._do(request, context, c.StartShift(request.shift), pb.StartShiftResponse)

    async def EndShift(  # noqa: N802 - the name of the call
        self, request: pb.EndShiftRequest, context: Context
    ) -> pb.EndShiftResponse:
        """End the shift."""
        require_role(FLOOR)
        return await self._do(request, context, c.EndShift(), pb.EndShiftResponse)

    async def IntroduceDeck(  # noqa: N802 - the name of the call
        self, request: pb.IntroduceDeckRequest, context: Context
    ) -> pb.IntroduceDeckResponse:
        """Bring a deck."""
        require_role(FLOOR)
        return await self._do(request, context, c.IntroduceDeck(request.deck), pb.IntroduceDeckResponse)

    async def VerifyDeck(  # noqa: N802 - the name of the call
        self, request: pb.VerifyDeckRequest, context: Context
    ) -> pb.VerifyDeckResponse:
        """A deck was verified in view."""
        require_role(FLOOR)
        return await self._do(request, context, c.VerifyDeck(request.deck), pb.VerifyDeckResponse)

    async def ShuffleDeck(  # noqa: N802 - the name of the call
        self, request: pb.ShuffleDeckRequest, context: Context
    ) -> pb.ShuffleDeckResponse:
        """A deck was shuffled."""
        require_role(FLOOR)
        return await self._do(request, context, c.ShuffleDeck(request.deck), pb.ShuffleDeckResponse)

    async def RetireDeck(  # noqa: N802 - the name of the call
        self, request: pb.RetireDeckRequest, context: Context
    ) -> pb.RetireDeckResponse:
        """Take a deck away."""
        require_role(FLOOR)
        return await self._do(
            request, context, c.RetireDeck(request.deck, request.reason), pb.RetireDeckResponse
        )

    async def EnterManualMode(  # noqa: N802 - the name of the call
        self, request: pb.EnterManualModeRequest, context: Context
    ) -> pb.EnterManualModeResponse:
        """Let cards be laid by hand."""
        require_role(FLOOR)
        return await self._do(request, context, c.EnterManualMode(request.reason), pb.EnterManualModeResponse)

    async def LeaveManualMode(  # noqa: N802 - the name of the call
        self, request: pb.LeaveManualModeRequest, context: Context
    ) -> pb.LeaveManualModeResponse:
        """End manual mode."""
        require_role(FLOOR)
        return await self._do(request, context, c.LeaveManualMode(), pb.LeaveManualModeResponse)

    async def _do(self, request: Asked, context: Context, command: c.TableCommand, kind: type[R]) -> R:
        def encode(results: Sequence[Result]) -> R:
            return kind(**table_changed(results))

        return await ask_table(self._desk, request, context, [TableWork(command, by())], kind, encode)


def _check_config(request: pb.OpenTableRequest | pb.ChangeLimitsRequest) -> None:
    if not request.HasField("config"):
        raise invalid("config is not said")
