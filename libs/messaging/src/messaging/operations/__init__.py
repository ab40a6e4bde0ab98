"""Operations: how a service's relay, followers and consumers stand, and what people do about it."""

from messaging.operations.client import OPERATIONS, GrpcOperations
from messaging.operations.desk import LocalOperations
from messaging.operations.model import (
    ConsumerLag,
    FollowerLag,
    Lag,
    Letters,
    Operations,
    OperationsAway,
    OperationsRefused,
    Parked,
    RelayLag,
    Skipped,
)
from messaging.operations.server import OperationsServer, exposed_operations

__all__ = [
    "OPERATIONS",
    "ConsumerLag",
    "FollowerLag",
    "GrpcOperations",
    "Lag",
    "Letters",
    "LocalOperations",
    "Operations",
    "OperationsAway",
    "OperationsRefused",
    "OperationsServer",
    "Parked",
    "RelayLag",
    "Skipped",
    "exposed_operations",
]
