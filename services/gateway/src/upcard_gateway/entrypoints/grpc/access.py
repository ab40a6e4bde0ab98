"""Who may make which call: staff, whose signed context names them; each call asks for the role `admin`."""

from __future__ import annotations

from functools import partial
from typing import Final

from servicekit.grpc import Access, ActorKind, Exposed, by
from upcard.gateway.v1 import gateway_pb2 as pb
from upcard.gateway.v1 import gateway_pb2_grpc as pb_grpc
from upcard_gateway.entrypoints.grpc.desk import Desk
from upcard_gateway.entrypoints.grpc.operators import OperatorCalls

GATEWAY: Final = pb.DESCRIPTOR.services_by_name["GatewayService"]
"""The service, for whoever opens a channel."""

_STAFF: Final = by(ActorKind.STAFF)

ACCESS: Final[dict[str, Access]] = dict.fromkeys(
    ("RegisterOperator", "ChangeOperator", "AddKey", "RevokeKey", "ListOperators", "GetOperator"), _STAFF
)


def exposed_gateway(desk: Desk) -> Exposed:
    """The gateway's calls for a `GrpcServer`."""
    register = partial(pb_grpc.add_GatewayServiceServicer_to_server, OperatorCalls(desk))
    return Exposed(GATEWAY, register, access=ACCESS)
