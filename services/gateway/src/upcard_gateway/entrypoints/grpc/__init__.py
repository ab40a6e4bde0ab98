"""Operators, administered over gRPC (proto/upcard/gateway/v1)."""

from upcard_gateway.entrypoints.grpc.access import ACCESS, GATEWAY, exposed_gateway
from upcard_gateway.entrypoints.grpc.desk import Desk
from upcard_gateway.entrypoints.grpc.errors import GATEWAY_ERRORS

__all__ = ["ACCESS", "GATEWAY", "GATEWAY_ERRORS", "Desk", "exposed_gateway"]
