"""Which calls a client repeats by itself: those whose proto declares that they may be.

`option idempotency_level = NO_SIDE_EFFECTS` is for calls that only read, `IDEMPOTENT` for those that carry a
`request_id` and answer the same again. All others are sent once. gRPC itself carries it out: with a pause
drawn by chance, within the call's one deadline, listening to the server's word about when to come again, and
with a budget that ends repetitions when too much fails.
"""

import json
from collections.abc import Iterable
from typing import Any, Final

from google.protobuf import descriptor_pb2
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor

from servicekit.grpc.settings import ClientSettings

REPEATABLE: Final = frozenset(
    {descriptor_pb2.MethodOptions.NO_SIDE_EFFECTS, descriptor_pb2.MethodOptions.IDEMPOTENT}
)


def may_repeat(method: MethodDescriptor) -> bool:
    """Whether a call may be sent again: declared so, and its request not a stream."""
    return method.GetOptions().idempotency_level in REPEATABLE and not method.client_streaming


def service_config(services: Iterable[ServiceDescriptor], settings: ClientSettings) -> str:
    """The configuration of a channel to a server with these services, as JSON."""
    config: dict[str, Any] = {
        "loadBalancingConfig": [{"round_robin": {}}],
        "methodConfig": [],
    }
    names = [
        {"service": service.full_name, "method": method.name}
        for service in services
        for method in service.methods
        if may_repeat(method)
    ]
    if names and settings.attempts > 1:
        config["methodConfig"] = [{"name": names, "retryPolicy": _policy(settings)}]
        config["retryThrottling"] = {
            "maxTokens": settings.retry_tokens,
            "tokenRatio": settings.retry_tokens_earned,
        }
    return json.dumps(config)


def _policy(settings: ClientSettings) -> dict[str, Any]:
    return {
        "maxAttempts": settings.attempts,
        "initialBackoff": f"{settings.first_backoff_s:.3f}s",
        "maxBackoff": f"{settings.max_backoff_s:.3f}s",
        "backoffMultiplier": settings.backoff_factor,
        "retryableStatusCodes": ["UNAVAILABLE"],
    }
