"""Why a call to another service failed, read from what gRPC raised."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import grpc
import grpc.aio
from google.protobuf import any_pb2
from google.protobuf.message import DecodeError
from google.rpc import error_details_pb2, status_pb2  # type: ignore[import-untyped]  # has stubs, says not so

from servicekit.grpc.errors import DOMAIN, STATUS_KEY


@dataclass(frozen=True, slots=True)
class Failure:
    """What a failed call says of itself.

    `reason` is the slug that the service gave, or, where something between answered, the name of the code in
    lower case. `error_id` finds an unexpected error in that service's log.
    """

    code: grpc.StatusCode
    reason: str
    message: str
    details: dict[str, str] = field(default_factory=dict)
    error_id: str | None = None
    retry_after_s: float | None = None

    @property
    def may_pass(self) -> bool:
        """Whether the same call may succeed later, without anything being changed about it."""
        return self.code in {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED}


def failure_of(error: grpc.aio.AioRpcError) -> Failure:
    """Read a failed call's error. Never raises: details that cannot be read are left out."""
    info, retry = error_details_pb2.ErrorInfo(), error_details_pb2.RetryInfo()
    retry_after_s: float | None = None
    for detail in _details(error):
        try:
            if not (detail.Unpack(info) and info.domain == DOMAIN) and detail.Unpack(retry):
                retry_after_s = retry.retry_delay.ToMilliseconds() / 1_000
        except DecodeError:
            continue
    ours = info.domain == DOMAIN and info.reason != ""
    found = dict(info.metadata) if ours else {}
    return Failure(
        code=error.code(),
        reason=info.reason if ours else error.code().name.lower(),
        message=error.details() or "",
        details=found,
        error_id=found.get("error_id"),
        retry_after_s=retry_after_s,
    )


def _details(error: grpc.aio.AioRpcError) -> Iterable[any_pb2.Any]:
    for key, value in error.trailing_metadata() or ():
        if key == STATUS_KEY and isinstance(value, bytes):
            try:
                return tuple(status_pb2.Status.FromString(value).details)
            except DecodeError:
                return ()
    return ()
