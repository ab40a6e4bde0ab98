"""Who may make which call. Callers are checked by their certificates, who acts by the signed call context."""

from __future__ import annotations

from functools import partial
from typing import Final

from servicekit.grpc import Access, ActorKind, Exposed, by, for_services
from upcard.bonus.v1 import bonus_pb2 as pb
from upcard.bonus.v1 import bonus_pb2_grpc as pb_grpc
from upcard_bonus.entrypoints.grpc.desk import Desk
from upcard_bonus.entrypoints.grpc.free_bets import FreeBetCalls
from upcard_bonus.entrypoints.grpc.jackpots import JackpotCalls

BONUS: Final = pb.DESCRIPTOR.services_by_name["BonusService"]
"""The service, for whoever opens a channel."""

_GATEWAY: Final = frozenset({"gateway"})
_PEOPLE: Final = by(ActorKind.STAFF, callers=_GATEWAY)
_HOUSE: Final = by(ActorKind.STAFF, ActorKind.PLATFORM, callers=_GATEWAY)
_TABLE: Final = for_services("table")

ACCESS: Final[dict[str, Access]] = {
    "OpenJackpot": _PEOPLE,
    "ChangeJackpot": _PEOPLE,
    "GetJackpot": for_services("gateway", "table", "history"),
    "ListJackpots": for_services("gateway", "table", "history"),
    "FenceRound": _TABLE,
    "LiftFence": _TABLE,
    "GrantFreeBet": _HOUSE,
    "RevokeFreeBet": _HOUSE,
    "ListFreeBets": for_services("gateway", "history"),
}


class BonusServicer(JackpotCalls, FreeBetCalls, pb_grpc.BonusServiceServicer):
    """All calls of the bonus service."""

    def __init__(self, desk: Desk) -> None:
        JackpotCalls.__init__(self, desk)
        FreeBetCalls.__init__(self, desk)


def exposed_bonus(desk: Desk) -> Exposed:
    """The calls for a `GrpcServer`."""
    register = partial(pb_grpc.add_BonusServiceServicer_to_server, BonusServicer(desk))
    return Exposed(BONUS, register, access=ACCESS)
