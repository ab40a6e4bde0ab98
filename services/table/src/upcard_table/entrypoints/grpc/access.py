"""Who may make which call. Callers are checked by their certificates, who acts by the signed call context.

Calls that go to a table's owner may come from another instance of this service, too, as they came to it.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from servicekit.grpc import Access, ActorKind, Exposed, by
from upcard.table.v1 import shoe_pb2, shoe_pb2_grpc, table_pb2, table_pb2_grpc
from upcard_table.app.resettlements import Proposals
from upcard_table.entrypoints.grpc.answering import Desk
from upcard_table.entrypoints.grpc.betting import BettingCalls
from upcard_table.entrypoints.grpc.choosing import ChoosingCalls
from upcard_table.entrypoints.grpc.correcting import CorrectionCalls
from upcard_table.entrypoints.grpc.dealing import DealingCalls
from upcard_table.entrypoints.grpc.holds import HoldCalls
from upcard_table.entrypoints.grpc.managing import TableCalls
from upcard_table.entrypoints.grpc.shoe import ShoeServicer
from upcard_table.entrypoints.grpc.tipping import TipCalls, TipDesk
from upcard_table.entrypoints.grpc.watching import WatchCalls, WatchDesk

TABLE: Final = table_pb2.DESCRIPTOR.services_by_name["TableService"]
"""The service, for whoever opens a channel."""
SHOE: Final = shoe_pb2.DESCRIPTOR.services_by_name["ShoeService"]
"""The shoe readers' service."""

_GATEWAY: Final = frozenset({"gateway", "table"})
_PLAYERS: Final = by(ActorKind.PLAYER, ActorKind.PLATFORM, callers=_GATEWAY)
_DEALER: Final = by(ActorKind.DEALER, callers=_GATEWAY)
_FLOOR: Final = by(ActorKind.STAFF, callers=_GATEWAY)
_DESK: Final = by(ActorKind.DEALER, ActorKind.STAFF, callers=_GATEWAY)
_READER: Final = by(ActorKind.DEALER, callers=frozenset({"shoe", "table"}))
_VIEWS: Final = Access(callers=frozenset({"gateway", "history"}))

ACCESS: Final[dict[str, Access]] = {
    "OpenTable": _FLOOR,
    "CloseTable": _FLOOR,
    "ChangeLimits": _FLOOR,
    "SignInDealer": _DEALER,
    "SignOutDealer": _DESK,
    "StartShift": _FLOOR,
    "EndShift": _FLOOR,
    "IntroduceDeck": _DESK,
    "VerifyDeck": _DESK,
    "ShuffleDeck": _DESK,
    "RetireDeck": _DESK,
    "EnterManualMode": _DESK,
    "LeaveManualMode": _DESK,
    "OpenRound": _DESK,
    "PlaceBets": _PLAYERS,
    "WithdrawBets": _PLAYERS,
    "UndoBets": _PLAYERS,
    "DoubleBets": _PLAYERS,
    "RebetBets": _PLAYERS,
    "ClearBets": _PLAYERS,
    "CloseBetting": _DESK,
    "ConfirmCards": _DEALER,
    "LayCardByHand": _DEALER,
    "CorrectCardByHand": _DEALER,
    "BurnCardByHand": _DEALER,
    "ChooseOptions": _PLAYERS,
    "ChooseFinalOptions": _PLAYERS,
    "DecidePurchases": _PLAYERS,
    "ExtendWindow": _FLOOR,
    "CancelRound": _DESK,
    "ProposeResettlement": _FLOOR,
    "DecideResettlement": _FLOOR,
    "Tip": _PLAYERS,
    "ResolveHold": Access(callers=frozenset({"wallet", "table"})),
    "GetTable": _VIEWS,
    "ListTables": _VIEWS,
    "GetRound": _VIEWS,
    "WatchTable": _VIEWS,
}

SHOE_ACCESS: Final[dict[str, Access]] = dict.fromkeys(("ScanCard", "RescanCard", "BurnCard"), _READER)
"""A reader has an identity of its own; whoever serves pages cannot bring a card."""


class TableServicer(
    TableCalls,
    BettingCalls,
    ChoosingCalls,
    DealingCalls,
    CorrectionCalls,
    TipCalls,
    HoldCalls,
    WatchCalls,
    table_pb2_grpc.TableServiceServicer,
):
    """All calls of the table."""

    def __init__(self, desk: Desk, proposals: Proposals, tipping: TipDesk, watching: WatchDesk) -> None:
        for calls in (TableCalls, BettingCalls, ChoosingCalls, DealingCalls, HoldCalls):
            calls.__init__(self, desk)
        CorrectionCalls.__init__(self, desk, proposals)
        TipCalls.__init__(self, desk, tipping)
        WatchCalls.__init__(self, watching)


def exposed_table(servicer: TableServicer) -> Exposed:
    """The table's calls for a `GrpcServer`."""
    register = partial(table_pb2_grpc.add_TableServiceServicer_to_server, servicer)
    return Exposed(TABLE, register, access=ACCESS)


def exposed_shoe(desk: Desk) -> Exposed:
    """The shoe readers' calls for a `GrpcServer`."""
    register = partial(shoe_pb2_grpc.add_ShoeServiceServicer_to_server, ShoeServicer(desk))
    return Exposed(SHOE, register, access=SHOE_ACCESS)
