"""Who may make which call. Callers are checked by their certificates, who asks by the signed call context."""

from __future__ import annotations

from functools import partial
from typing import Final

from servicekit.grpc import Access, ActorKind, Exposed, by, for_services
from upcard.history.v1 import history_pb2 as pb
from upcard.history.v1 import history_pb2_grpc as pb_grpc
from upcard_history.entrypoints.grpc.asking import Desk
from upcard_history.entrypoints.grpc.checking import CheckingCalls
from upcard_history.entrypoints.grpc.exporting import ExportCalls
from upcard_history.entrypoints.grpc.figures import FigureCalls
from upcard_history.entrypoints.grpc.players import PlayerCalls
from upcard_history.entrypoints.grpc.rounds import RoundCalls
from upcard_history.entrypoints.grpc.summing import SummingCalls
from upcard_history.entrypoints.grpc.words import WordCalls

__all__ = ["HISTORY", "HistoryServicer", "exposed_history"]

HISTORY: Final = pb.DESCRIPTOR.services_by_name["HistoryService"]
"""The service, for whoever opens a channel."""

_GATEWAY: Final = frozenset({"gateway"})
_EVERYBODY: Final = for_services("gateway")
_PLAYERS: Final = by(ActorKind.PLAYER, ActorKind.STAFF, callers=_GATEWAY)
_STAFF: Final = by(ActorKind.STAFF, callers=_GATEWAY)

ACCESS: Final[dict[str, Access]] = {
    "ListRounds": _STAFF,
    "GetRound": _EVERYBODY,
    "GetTimeline": _EVERYBODY,
    "ExplainRound": _PLAYERS,
    "ListPlayerRounds": _PLAYERS,
    "ListBetsInPlay": _PLAYERS,
    "ListTablesInPlay": _STAFF,
    "GetPlayerTotals": _PLAYERS,
    "ListResults": _EVERYBODY,
    "ListAccounts": _PLAYERS,
    "GetStatement": _PLAYERS,
    "ReplayRound": _STAFF,
    "ListDifferences": _STAFF,
    "GetStanding": _STAFF,
    "GetBundle": _PLAYERS,
    "GetFigures": _STAFF,
    "ExportRounds": _STAFF,
    "ExportPlayerRounds": _PLAYERS,
    "ExportStatement": _PLAYERS,
    "ExportFigures": _STAFF,
}
"""Staff need a role besides (`asking`)."""


class HistoryServicer(
    RoundCalls,
    PlayerCalls,
    WordCalls,
    SummingCalls,
    CheckingCalls,
    FigureCalls,
    ExportCalls,
    pb_grpc.HistoryServiceServicer,
):
    """All calls of the history."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk


def exposed_history(desk: Desk) -> Exposed:
    """The history's calls for a `GrpcServer`."""
    register = partial(pb_grpc.add_HistoryServiceServicer_to_server, HistoryServicer(desk))
    return Exposed(HISTORY, register, access=ACCESS)
