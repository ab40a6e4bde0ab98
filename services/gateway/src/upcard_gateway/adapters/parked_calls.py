"""Calls to partners' wallets that wait for people, as the wallet has them, in a member's name."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Final

from upcard.call.v1 import refusal_pb2
from upcard.wallet.v1 import wallet_pb2 as pb
from upcard_gateway.adapters.services import Services

__all__ = ["ENDINGS", "CallRefused", "ParkedCall", "ParkedCalls", "Proposal"]

CALL_S: Final = 5.0
PAGE: Final = 200

_KINDS: Final = {
    pb.PARKED_KIND_WIN: "win",
    pb.PARKED_KIND_ROLLBACK_OF_BET: "rollback_of_bet",
    pb.PARKED_KIND_ROLLBACK_OF_WIN: "rollback_of_win",
}
ENDINGS: Final = {
    "done_by_hand": pb.PARKED_ENDING_DONE_BY_HAND,
    "owed_by_player": pb.PARKED_ENDING_OWED_BY_PLAYER,
}
"""How a call may end without the partner, by the slug of forms."""
_ENDING_NAMES: Final = {number: name for name, number in ENDINGS.items()}


class CallRefused(Exception):
    """The wallet does not do it; `reason` is its slug, such as `two_people_needed`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Proposal:
    """What one person wants to be done with a call, and another has to agree to."""

    proposal: str
    ending: str
    reason: str
    proposer: str
    at: dt.datetime


@dataclass(frozen=True, slots=True)
class ParkedCall:
    """A call that waits for people. `behind`: calls of the same player and round that wait for it."""

    call: str
    account: str
    round: str
    kind: str
    amount: int
    currency: str
    reason: str
    recorded_at: dt.datetime
    parked_at: dt.datetime
    behind: int
    proposals: tuple[Proposal, ...]


class ParkedCalls:
    """Lists them, and does what people decide. Failed calls raise AioRpcError."""

    def __init__(self, services: Services) -> None:
        self._wallet = services.wallet

    async def of(self, operator: str) -> tuple[tuple[ParkedCall, ...], bool]:
        """An operator's, and whether there are more."""
        request = pb.ListParkedCallsRequest(operator=operator, limit=PAGE)
        answer = await self._wallet.ListParkedCalls(request, timeout=CALL_S)
        return tuple(map(_call, answer.calls)), answer.more

    async def retry(self, call: str, reason: str, request_id: str) -> None:
        """Have a call tried again. Raises CallRefused."""
        request = pb.RetryParkedCallRequest(request_id=request_id, call=call, reason=reason)
        _check((await self._wallet.RetryParkedCall(request, timeout=CALL_S)).refusal)

    async def propose(self, call: str, ending: str, reason: str, request_id: str) -> None:
        """Propose how a call ends without the partner. Raises CallRefused."""
        request = pb.ProposeParkedEndingRequest(
            request_id=request_id, call=call, ending=ENDINGS[ending], reason=reason
        )
        _check((await self._wallet.ProposeParkedEnding(request, timeout=CALL_S)).refusal)

    async def decide(self, proposal: str, request_id: str, *, approve: bool) -> None:
        """A second person's word. Raises CallRefused."""
        request = pb.DecideParkedEndingRequest(request_id=request_id, proposal=proposal, approve=approve)
        _check((await self._wallet.DecideParkedEnding(request, timeout=CALL_S)).refusal)


def _check(refusal: refusal_pb2.Refusal) -> None:
    if refusal.reason:
        raise CallRefused(refusal.reason)


def _call(one: pb.ParkedCall) -> ParkedCall:
    return ParkedCall(
        one.call,
        one.account,
        one.round,
        _KINDS.get(one.kind, "win"),
        one.amount,
        one.currency,
        one.reason,
        one.recorded_at.ToDatetime(dt.UTC),
        one.parked_at.ToDatetime(dt.UTC),
        one.behind,
        tuple(
            Proposal(
                found.proposal,
                _ENDING_NAMES.get(found.ending, "done_by_hand"),
                found.reason,
                found.proposer,
                found.proposed_at.ToDatetime(dt.UTC),
            )
            for found in one.proposals
            if found.state == pb.PARKED_PROPOSAL_STATE_PROPOSED
        ),
    )
