"""Calls of players in the decision windows, in batches."""

from __future__ import annotations

from typing import Final, cast

from rules_core.round import commands as c
from rules_core.round.events.fields import DecidedOption, FinalChoice
from servicekit.answering import invalid
from upcard.table.v1 import table_pb2 as pb
from upcard_table.entrypoints.grpc.answering import Context, Desk, items_of, one_of
from upcard_table.entrypoints.grpc.betting import ask_items, said
from upcard_table.entrypoints.grpc.people import player_of

_OPTIONS: Final = frozenset({"bet", "sixth", "exchange", "fold"})
_FINALS: Final = frozenset({"bet", "stand", "fold"})
_MAX_POSITIONS: Final = 5


class ChoosingCalls:
    """A part of the table's servicer."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def ChooseOptions(  # noqa: N802 - the name of the call
        self, request: pb.ChooseOptionsRequest, context: Context
    ) -> pb.ChooseOptionsResponse:
        """Choose options."""
        commands = [_option(one) for one in items_of(request.items)]
        return await ask_items(self._desk, request, context, commands, pb.ChooseOptionsResponse)

    async def ChooseFinalOptions(  # noqa: N802 - the name of the call
        self, request: pb.ChooseFinalOptionsRequest, context: Context
    ) -> pb.ChooseFinalOptionsResponse:
        """Choose final options."""
        commands = [_final(one) for one in items_of(request.items)]
        return await ask_items(self._desk, request, context, commands, pb.ChooseFinalOptionsResponse)

    async def DecidePurchases(  # noqa: N802 - the name of the call
        self, request: pb.DecidePurchasesRequest, context: Context
    ) -> pb.DecidePurchasesResponse:
        """Buy the exchange of the dealer's highest card, or do not."""
        commands = [_purchase(one) for one in items_of(request.items)]
        return await ask_items(self._desk, request, context, commands, pb.DecidePurchasesResponse)


def _option(item: pb.ChooseOptionsItem) -> c.ChooseOption:
    kind = cast("DecidedOption", one_of(item.kind, _OPTIONS, "kind"))
    if len(item.positions) > _MAX_POSITIONS:
        raise invalid(f"an exchange has at most {_MAX_POSITIONS} positions")
    bet_id = None if kind == "fold" else said(item.bet_id)
    player = player_of(item.player)
    return c.ChooseOption(player, item.box, kind, "", tuple(item.positions), bet_id, "not_asked")


def _final(item: pb.ChooseFinalOptionsItem) -> c.ChooseFinalOption:
    choice = cast("FinalChoice", one_of(item.choice, _FINALS, "choice"))
    player = player_of(item.player)
    bet_id = item.bet_id or None
    return c.ChooseFinalOption(player, item.box, choice, "", item.insurance, bet_id, "not_asked")


def _purchase(item: pb.DecidePurchasesItem) -> c.MakePurchase | c.DeclinePurchase:
    player = player_of(item.player)
    if item.buy:
        return c.MakePurchase(player, item.box, said(item.bet_id), "", "not_asked")
    return c.DeclinePurchase(player, item.box, "")
