"""Calls of dealer and floor about a round: opening, cards by hand, confirming, more time, cancelling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rules_core.cards import CARD_OF, Card
from rules_core.round import commands as c
from servicekit.answering import invalid, who_acts
from upcard.table.v1 import table_pb2 as pb
from upcard_table.app.calls import OpenRoundWork, Result, RoundWork
from upcard_table.entrypoints.grpc.answering import Context, Desk, R, ask_table, number_of
from upcard_table.entrypoints.grpc.betting import Batch
from upcard_table.entrypoints.grpc.outcomes import round_changed, table_changed
from upcard_table.entrypoints.grpc.people import FLOOR, by, require_role

_MAX_CARDS: Final = 52


class DealingCalls:
    """A part of the table's servicer."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def OpenRound(  # noqa: N802 - the name of the call
        self, request: pb.OpenRoundRequest, context: Context
    ) -> pb.OpenRoundResponse:
        """Open the table's next round."""
        require_role(FLOOR)

        def encode(results: Sequence[Result]) -> pb.OpenRoundResponse:
            return pb.OpenRoundResponse(**table_changed(results))

        works = [OpenRoundWork(by())]
        return await ask_table(self._desk, request, context, works, pb.OpenRoundResponse, encode)

    async def CloseBetting(  # noqa: N802 - the name of the call
        self, request: pb.CloseBettingRequest, context: Context
    ) -> pb.CloseBettingResponse:
        """Close betting, when its time is over."""
        require_role(FLOOR)
        command = c.CloseBetting("")
        return await self._change(request, context, command, pb.CloseBettingResponse)

    async def ConfirmCards(  # noqa: N802 - the name of the call
        self, request: pb.ConfirmCardsRequest, context: Context
    ) -> pb.ConfirmCardsResponse:
        """Confirm the cards that lie."""
        command = c.ConfirmCards("", who_acts(), named_cards(request.manual_cards))
        return await self._change(request, context, command, pb.ConfirmCardsResponse)

    async def LayCardByHand(  # noqa: N802 - the name of the call
        self, request: pb.LayCardByHandRequest, context: Context
    ) -> pb.LayCardByHandResponse:
        """Lay the next card in manual mode."""
        command = c.ScanCard(request.scan_id, optional_card(request.card), None, "manual", who_acts())
        return await self._change(request, context, command, pb.LayCardByHandResponse, by_hand=True)

    async def CorrectCardByHand(  # noqa: N802 - the name of the call
        self, request: pb.CorrectCardByHandRequest, context: Context
    ) -> pb.CorrectCardByHandResponse:
        """Name a misread card that was laid by hand."""
        command = c.RescanCard(request.scan_id, request.place, card(request.card), None, "manual", who_acts())
        return await self._change(request, context, command, pb.CorrectCardByHandResponse, by_hand=True)

    async def BurnCardByHand(  # noqa: N802 - the name of the call
        self, request: pb.BurnCardByHandRequest, context: Context
    ) -> pb.BurnCardByHandResponse:
        """Put a card aside in manual mode."""
        command = c.BurnCard(request.scan_id, optional_card(request.card), who_acts())
        return await self._change(request, context, command, pb.BurnCardByHandResponse, by_hand=True)

    async def ExtendWindow(  # noqa: N802 - the name of the call
        self, request: pb.ExtendWindowRequest, context: Context
    ) -> pb.ExtendWindowResponse:
        """Keep the open window open for longer."""
        require_role(FLOOR)
        command = c.ExtendWindow("", request.extend_ms, "floor", who_acts())
        return await self._change(request, context, command, pb.ExtendWindowResponse)

    async def CancelRound(  # noqa: N802 - the name of the call
        self, request: pb.CancelRoundRequest, context: Context
    ) -> pb.CancelRoundResponse:
        """Cancel a round."""
        require_role(FLOOR)
        command = c.CancelRound(request.reason, who_acts(), named_cards(request.manual_cards))
        return await self._change(request, context, command, pb.CancelRoundResponse)

    async def _change(
        self, request: Batch, context: Context, command: c.Command, kind: type[R], *, by_hand: bool = False
    ) -> R:
        def encode(results: Sequence[Result]) -> R:
            return kind(**round_changed(results))

        work = RoundWork(command, by(), number_of(request.round), by_hand)
        # Some name cards, and one that is refused may lie face down.
        return await ask_table(self._desk, request, context, [work], kind, encode, secret=True)


def card(text: str) -> Card:
    """A card of a request. Raises CallError, which does not repeat what was said."""
    found = CARD_OF.get(text)
    if found is None:
        raise invalid("card: rank 23456789TJQKA and suit cdhs")
    return found


def optional_card(text: str) -> Card | None:
    """A card of a request, or none. Raises CallError."""
    return card(text) if text else None


def named_cards(cards: Sequence[pb.PlacedCard]) -> tuple[tuple[str, Card], ...]:
    """Cards by place. Raises CallError for a place twice, and for too many."""
    if len(cards) > _MAX_CARDS or len({one.place for one in cards}) < len(cards):
        raise invalid(f"each place is named once, at most {_MAX_CARDS} of them")
    return tuple((one.place, card(one.card)) for one in cards)
