"""Who may make which call. Callers are checked by their certificates, who acts by the signed call context."""

from __future__ import annotations

from functools import partial
from typing import Final

from servicekit.grpc import Access, ActorKind, Exposed, by, for_services
from upcard.wallet.v1 import wallet_pb2 as pb
from upcard.wallet.v1 import wallet_pb2_grpc as pb_grpc
from upcard_wallet.entrypoints.grpc.accounts import AccountCalls
from upcard_wallet.entrypoints.grpc.adjusting import AdjustmentCalls
from upcard_wallet.entrypoints.grpc.answering import Desk
from upcard_wallet.entrypoints.grpc.holds import HoldCalls
from upcard_wallet.entrypoints.grpc.operator_reports import OperatorReportCalls
from upcard_wallet.entrypoints.grpc.parked import ParkedCalls
from upcard_wallet.entrypoints.grpc.partners import PartnerCalls

__all__ = ["WALLET", "WalletServicer", "exposed_wallet"]

WALLET: Final = pb.DESCRIPTOR.services_by_name["WalletService"]
"""The service, for whoever opens a channel."""

_GATEWAY: Final = frozenset({"gateway"})
_CASHIER: Final = by(ActorKind.PLATFORM, ActorKind.STAFF, callers=_GATEWAY)
_PEOPLE: Final = by(ActorKind.STAFF, callers=_GATEWAY)
_TABLE: Final = for_services("table")

ACCESS: Final[dict[str, Access]] = {
    "OpenAccount": _CASHIER,
    "Deposit": _CASHIER,
    "Withdraw": _CASHIER,
    "GetBalance": for_services("gateway", "table", "history"),
    "GetStatement": for_services("gateway", "history"),
    "PlaceHolds": _TABLE,
    "AskHolds": _TABLE,
    "ReleaseHolds": _TABLE,
    "ListHolds": _TABLE,
    "PostTip": _TABLE,
    "ProposeAdjustment": _PEOPLE,
    "DecideAdjustment": _PEOPLE,
    "ListAdjustments": _PEOPLE,
    "ListParkedCalls": _PEOPLE,
    "RetryParkedCall": _PEOPLE,
    "ProposeParkedEnding": _PEOPLE,
    "DecideParkedEnding": _PEOPLE,
    "ListPartners": _PEOPLE,
    "ListOperatorTransactions": _CASHIER,
    "GetOperatorTotals": _CASHIER,
    "ListOperatorStakes": _CASHIER,
}


class WalletServicer(
    AccountCalls,
    HoldCalls,
    AdjustmentCalls,
    ParkedCalls,
    OperatorReportCalls,
    PartnerCalls,
    pb_grpc.WalletServiceServicer,
):
    """All calls of the wallet."""

    def __init__(self, desk: Desk) -> None:
        AccountCalls.__init__(self, desk)
        HoldCalls.__init__(self, desk)
        AdjustmentCalls.__init__(self, desk)
        ParkedCalls.__init__(self, desk)
        OperatorReportCalls.__init__(self, desk)
        PartnerCalls.__init__(self, desk)


def exposed_wallet(desk: Desk) -> Exposed:
    """The wallet's calls for a `GrpcServer`."""
    register = partial(pb_grpc.add_WalletServiceServicer_to_server, WalletServicer(desk))
    return Exposed(WALLET, register, access=ACCESS)
