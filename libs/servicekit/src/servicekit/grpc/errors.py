"""What is wrong with a call, as a status with a reason: `google.rpc.Status` with `google.rpc.ErrorInfo`.

A refusal by the rules of the game or of money is no error: it is part of a normal response.
"""

import re
import secrets
from collections.abc import Callable, Mapping
from typing import Final

import grpc
import grpc.aio
from google.protobuf import any_pb2, duration_pb2
from google.rpc import error_details_pb2, status_pb2  # type: ignore[import-untyped]  # has stubs, says not so

DOMAIN: Final = "upcard"
STATUS_KEY: Final = "grpc-status-details-bin"
PUSHBACK_KEY: Final = "grpc-retry-pushback-ms"
"""What gRPC's own retries listen to: when to come again, or (negative) not at all."""
# All of it together stays below the 8 KiB of metadata that any client takes.
MAX_MESSAGE_CHARACTERS: Final = 300
MAX_DETAIL_CHARACTERS: Final = 200
MAX_DETAILS_BYTES: Final = 1_500
_SHORTEST_PAUSE_MS: Final = 10
"""A client that is told to come again at once might never do so: see `Pause` in the settings."""

_SLUG = re.compile(r"[a-z][a-z0-9_]{0,62}")

# What another service said, where it only means that this service cannot do its work now.
_PASSING: Final = frozenset(
    {
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.RESOURCE_EXHAUSTED,
    }
)


class CallError(Exception):
    """A call cannot be carried out; raised by handlers, becomes the status of the call.

    `reason` is a stable slug, `message` an English sentence for who reads logs. Both, and `details`, are
    seen by the caller, so nothing secret; they are shortened to what fits. `retry_after_s` tells when to come
    again; `repeat=False` forbids the client's automatic repetition.
    """

    def __init__(
        self,
        code: grpc.StatusCode,
        reason: str,
        message: str,
        *,
        details: Mapping[str, str] | None = None,
        retry_after_s: float | None = None,
        repeat: bool = True,
    ) -> None:
        """Raises ValueError for a reason that is no slug, or for the code OK."""
        if not _SLUG.fullmatch(reason):
            raise ValueError(f"{reason!r} is no reason: lower case, digits and underscores, at most 63")
        if code is grpc.StatusCode.OK:
            raise ValueError("OK is no error")
        super().__init__(f"{code.name} {reason}: {message}")
        self.code = code
        self.reason = reason
        self.message = message[:MAX_MESSAGE_CHARACTERS]
        self.details = _fitting(details or {})
        self.retry_after_s = retry_after_s
        self.repeat = repeat

    def trailing_metadata(self) -> tuple[tuple[str, str | bytes], ...]:
        """What is sent behind the status: its details, and when to come again."""
        status = status_pb2.Status(code=_number(self.code), message=self.message)
        info = error_details_pb2.ErrorInfo(reason=self.reason, domain=DOMAIN, metadata=self.details)
        status.details.append(_packed(info))
        sent: list[tuple[str, str | bytes]] = []
        if self.retry_after_s is not None:
            after_ms = max(_SHORTEST_PAUSE_MS, round(self.retry_after_s * 1_000))
            delay = duration_pb2.Duration()
            delay.FromMilliseconds(after_ms)
            status.details.append(_packed(error_details_pb2.RetryInfo(retry_delay=delay)))
            sent.append((PUSHBACK_KEY, str(after_ms)))
        if not self.repeat:
            sent = [(PUSHBACK_KEY, "-1")]
        return ((STATUS_KEY, status.SerializeToString()), *sent)


ErrorMap = Mapping[type[Exception], Callable[[Exception], CallError]]
"""What exceptions of the layers below mean to a caller; the nearest class of its ancestry counts."""


def call_error(error: Exception, known: ErrorMap) -> CallError | None:
    """What an exception means to the caller; None: unexpected."""
    if isinstance(error, CallError):
        return error
    for ancestor in type(error).__mro__:
        translate = known.get(ancestor)
        if translate is not None:
            return translate(error)
    if isinstance(error, grpc.aio.AioRpcError) and error.code() in _PASSING:
        # It was repeated on its own way already; who called us must not repeat it all over again.
        return CallError(
            grpc.StatusCode.UNAVAILABLE,
            "dependency_unavailable",
            "another service did not answer",
            repeat=False,
        )
    return None


def unexpected() -> CallError:
    """What a caller is told of an exception that nobody expected: an id to find it in the log by."""
    error_id = secrets.token_hex(8)
    return CallError(
        grpc.StatusCode.INTERNAL,
        "internal",
        f"something went wrong; the log knows it as {error_id}",
        details={"error_id": error_id},
    )


def _fitting(details: Mapping[str, str]) -> dict[str, str]:
    """As much of the details, from the first, as may be sent."""
    fitting: dict[str, str] = {}
    left = MAX_DETAILS_BYTES
    for name, value in details.items():
        shortened = value[:MAX_DETAIL_CHARACTERS]
        left -= len(name.encode()) + len(shortened.encode())
        if left < 0:
            break
        fitting[name] = shortened
    return fitting


def _number(code: grpc.StatusCode) -> int:
    number: int = code.value[0]
    return number


def _packed(message: error_details_pb2.ErrorInfo | error_details_pb2.RetryInfo) -> any_pb2.Any:
    packed = any_pb2.Any()
    packed.Pack(message)
    return packed
