"""Operators and staff, administered over gRPC (proto/upcard/gateway/v1)."""

from upcard_gateway.entrypoints.grpc.access import ACCESS, GATEWAY, exposed_gateway
from upcard_gateway.entrypoints.grpc.desk import Desk
from upcard_gateway.entrypoints.grpc.errors import GATEWAY_ERRORS
from upcard_gateway.entrypoints.grpc.staff import STAFF, STAFF_ACCESS, StaffDesk, exposed_staff

__all__ = [
    "ACCESS",
    "GATEWAY",
    "GATEWAY_ERRORS",
    "STAFF",
    "STAFF_ACCESS",
    "Desk",
    "StaffDesk",
    "exposed_gateway",
    "exposed_staff",
]
