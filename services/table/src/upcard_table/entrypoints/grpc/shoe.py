"""Calls of a table's shoe reader: the only ones that bring a face-down card.

Its card and salt go into the work, whose repr shows neither, and into a keyed digest of the request; no log,
error or answer has them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from rules_core.round import commands as c
from rules_core.round import events as e
from servicekit.answering import invalid, who_acts
from upcard.table.v1 import shoe_pb2 as pb
from upcard.table.v1 import shoe_pb2_grpc as pb_grpc
from upcard_table.app.calls import Done, Result, RoundWork
from upcard_table.entrypoints.grpc.answering import Context, Desk, ask_table, number_of
from upcard_table.entrypoints.grpc.dealing import card, optional_card
from upcard_table.entrypoints.grpc.outcomes import refusal_in
from upcard_table.entrypoints.grpc.people import by

_SALT_BYTES: Final = 16


class ShoeServicer(pb_grpc.ShoeServiceServicer):
    """All calls of a shoe reader."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def ScanCard(  # noqa: N802 - the name of the call
        self, request: pb.ScanCardRequest, context: Context
    ) -> pb.ScanCardResponse:
        """Lay the next card."""
        command = c.ScanCard(
            request.scan_id, card(request.card), _salt(request.card_salt), "shoe", who_acts()
        )
        work = RoundWork(command, by(), number_of(request.round))

        def encode(results: Sequence[Result]) -> pb.ScanCardResponse:
            return pb.ScanCardResponse(**_either(results, "laid"))

        return await ask_table(self._desk, request, context, [work], pb.ScanCardResponse, encode, secret=True)

    async def RescanCard(  # noqa: N802 - the name of the call
        self, request: pb.RescanCardRequest, context: Context
    ) -> pb.RescanCardResponse:
        """Read a misread card again."""
        command = c.RescanCard(
            request.scan_id, request.place, card(request.card), _salt(request.card_salt), "shoe", who_acts()
        )
        work = RoundWork(command, by(), number_of(request.round))

        def encode(results: Sequence[Result]) -> pb.RescanCardResponse:
            return pb.RescanCardResponse(**_either(results, "laid"))

        return await ask_table(
            self._desk, request, context, [work], pb.RescanCardResponse, encode, secret=True
        )

    async def BurnCard(  # noqa: N802 - the name of the call
        self, request: pb.BurnCardRequest, context: Context
    ) -> pb.BurnCardResponse:
        """Put a card aside."""
        command = c.BurnCard(request.scan_id, optional_card(request.card), who_acts())
        work = RoundWork(command, by(), number_of(request.round))

        def encode(results: Sequence[Result]) -> pb.BurnCardResponse:
            return pb.BurnCardResponse(**_either(results, "burned"))

        return await ask_table(self._desk, request, context, [work], pb.BurnCardResponse, encode, secret=True)


def _salt(salt: bytes) -> str | None:
    """A card salt as commands have it. Raises CallError, which does not repeat it."""
    if not salt:
        return None
    if len(salt) != _SALT_BYTES:
        raise invalid(f"card_salt: {_SALT_BYTES} random bytes")
    return salt.hex()


def _either(results: Sequence[Result], field: str) -> dict[str, Any]:
    """Where the card lies (never which it is), or why it was refused."""
    (result,) = results
    refused = refusal_in(result)
    if refused is not None or not isinstance(result, Done):
        return {"refusal": refused}
    return {field: _laid(result)}


def _laid(result: Done) -> pb.LaidCard:
    for one in result.events:
        match one.event:
            case e.CardScanned(place=place) | e.CardRescanned(place=place):
                return pb.LaidCard(round=result.round or 0, place=place, position=one.position)
            case e.CardBurned():
                return pb.LaidCard(round=result.round or 0, position=one.position)
            case _:
                continue
    raise ValueError("a scan without an event")
