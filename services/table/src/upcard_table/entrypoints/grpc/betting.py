"""Calls of players about their bets, in batches: each item has an outcome of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Protocol, cast

from rules_core.round import commands as c
from servicekit.answering import invalid
from upcard.table.v1 import table_pb2 as pb
from upcard_table.app.calls import Result, RoundWork
from upcard_table.entrypoints.grpc.answering import (
    Asked,
    Context,
    Desk,
    R,
    ask_table,
    items_of,
    number_of,
    one_of,
)
from upcard_table.entrypoints.grpc.outcomes import item_outcomes
from upcard_table.entrypoints.grpc.people import by, player_of

MAX_PLACEMENTS: Final = 32
_PLACED: Final = frozenset({"ante", "bonus_player", "bonus_dealer"})


class Batch(Asked, Protocol):
    """A request with items."""

    round: int


class BettingCalls:
    """A part of the table's servicer."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def PlaceBets(  # noqa: N802 - the name of the call
        self, request: pb.PlaceBetsRequest, context: Context
    ) -> pb.PlaceBetsResponse:
        """Add to wagers."""
        commands = [
            c.PlaceBet(
                player_of(one.player),
                one.currency,
                said(one.bet_id),
                placements(one.placements),
                "",
                "not_asked",
            )
            for one in items_of(request.items)
        ]
        return await ask_items(self._desk, request, context, commands, pb.PlaceBetsResponse)

    async def WithdrawBets(  # noqa: N802 - the name of the call
        self, request: pb.WithdrawBetsRequest, context: Context
    ) -> pb.WithdrawBetsResponse:
        """Take wagers back."""
        commands = [
            c.WithdrawBet(player_of(one.player), one.box, placed_wager(one.wager), "")
            for one in items_of(request.items)
        ]
        return await ask_items(self._desk, request, context, commands, pb.WithdrawBetsResponse)

    async def UndoBets(  # noqa: N802 - the name of the call
        self, request: pb.UndoBetsRequest, context: Context
    ) -> pb.UndoBetsResponse:
        """Take latest placements back."""
        commands = [c.UndoBet(player_of(one.player), "") for one in items_of(request.items)]
        return await ask_items(self._desk, request, context, commands, pb.UndoBetsResponse)

    async def DoubleBets(  # noqa: N802 - the name of the call
        self, request: pb.DoubleBetsRequest, context: Context
    ) -> pb.DoubleBetsResponse:
        """Double all wagers."""
        commands = [
            c.DoubleBets(player_of(one.player), said(one.bet_id), "", "not_asked")
            for one in items_of(request.items)
        ]
        return await ask_items(self._desk, request, context, commands, pb.DoubleBetsResponse)

    async def RebetBets(  # noqa: N802 - the name of the call
        self, request: pb.RebetBetsRequest, context: Context
    ) -> pb.RebetBetsResponse:
        """Place the previous round's bets again."""
        commands = [
            c.RepeatBets(player_of(one.player), one.currency, said(one.bet_id), (), "", "not_asked")
            for one in items_of(request.items)
        ]
        return await ask_items(self._desk, request, context, commands, pb.RebetBetsResponse)

    async def ClearBets(  # noqa: N802 - the name of the call
        self, request: pb.ClearBetsRequest, context: Context
    ) -> pb.ClearBetsResponse:
        """Take all bets back."""
        commands = [c.ClearBets(player_of(one.player), "") for one in items_of(request.items)]
        return await ask_items(self._desk, request, context, commands, pb.ClearBetsResponse)


async def ask_items(
    desk: Desk, request: Batch, context: Context, commands: Iterable[c.Command], kind: type[R]
) -> R:
    """Have a round's owner do a batch; an outcome for each item."""
    number, who = number_of(request.round), by()
    works = [RoundWork(command, who, number) for command in commands]
    if number is None and len(works) > 1:
        # A crash may leave some items done and no answer kept: asked for again while another round runs,
        # these would be staked in both.
        raise invalid("round: a batch of several items says which round it is for")

    def encode(results: Sequence[Result]) -> R:
        return kind(items=item_outcomes(results))

    return await ask_table(desk, request, context, works, kind, encode)


def said(bet_id: str) -> str:
    """A bet's id. Raises CallError where there is none: without it a repeated bet would count twice."""
    if not bet_id:
        raise invalid("bet_id is not said")
    return bet_id


def placed_wager(name: str) -> c.PlacedWager:
    """A wager that is placed by itself. Raises CallError."""
    return cast("c.PlacedWager", one_of(name, _PLACED, "wager"))


def placements(wagers: Sequence[pb.Wager]) -> tuple[c.Placement, ...]:
    """The placements of one command. Raises CallError for too many, and for wagers that are not placed."""
    if len(wagers) > MAX_PLACEMENTS:
        raise invalid(f"an item has at most {MAX_PLACEMENTS} placements")
    return tuple(
        c.Placement(one.box, placed_wager(one.wager), one.amount, one.blind, one.funding or None)
        for one in wagers
    )
