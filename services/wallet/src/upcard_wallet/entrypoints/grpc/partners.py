"""Calls of people about operators' wallets."""

from __future__ import annotations

from typing import Any, Final

import grpc.aio

from servicekit.answering import read
from upcard.wallet.v1 import partners_pb2 as pb
from upcard_wallet.app.partners import PartnerStanding
from upcard_wallet.entrypoints.grpc.answering import Desk
from upcard_wallet.entrypoints.grpc.roles import MAY_LIST, check_role

Context = grpc.aio.ServicerContext[Any, Any]

_CIRCUITS: Final = {
    "closed": pb.CIRCUIT_CLOSED,
    "open": pb.CIRCUIT_OPEN,
    "probing": pb.CIRCUIT_PROBING,
}


class PartnerCalls:
    """A part of the wallet's servicer."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def ListPartners(  # noqa: N802 - the name of the call
        self,
        request: pb.ListPartnersRequest,  # noqa: ARG002 - it says nothing
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.ListPartnersResponse:
        """How things stand with each operator's wallet."""
        check_role(MAY_LIST)
        partners = self._desk.partners
        if partners is None:
            return pb.ListPartnersResponse()
        found = await read(self._desk.answering, partners.standings)
        return pb.ListPartnersResponse(partners=map(_shown, found))


def _shown(one: PartnerStanding) -> pb.Partner:
    shown = pb.Partner(
        operator=one.operator,
        dialect=one.dialect,
        circuit=_CIRCUITS[one.circuit],
        failures=one.failures,
        bets_under_way=one.bets_under_way,
        waiting=one.waiting,
        parked=one.parked,
        failing_for_s=one.failing_for_s,
    )
    shown.since.FromDatetime(one.since)
    if one.answered_at is not None:
        shown.answered_at.FromDatetime(one.answered_at)
    return shown
