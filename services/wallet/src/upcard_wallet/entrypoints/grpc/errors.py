"""What exceptions of the layers below mean to who called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import grpc

from eventstore.answers import RequestIdReused, RequestUnderWay
from servicekit.grpc import LOG_ERRORS, CallError, ErrorMap
from upcard_wallet.app.purse import PlacingFailed

COME_AGAIN_S: Final = 0.2


def invalid(what: str) -> CallError:
    """A request that no right program sends; it has changed nothing."""
    return CallError(grpc.StatusCode.INVALID_ARGUMENT, "invalid_argument", what)


def database_unavailable() -> CallError:
    """The database did not answer in time, or answered that it cannot now."""
    return CallError(
        grpc.StatusCode.UNAVAILABLE,
        "database_unavailable",
        "it may have been done; ask again with the same request_id",
        retry_after_s=COME_AGAIN_S,
    )


def _says(
    code: grpc.StatusCode, reason: str, message: str, retry_after_s: float | None = None
) -> Callable[[Exception], CallError]:
    return lambda _: CallError(code, reason, message, retry_after_s=retry_after_s)


WALLET_ERRORS: Final[ErrorMap] = {
    **LOG_ERRORS,
    RequestIdReused: _says(
        grpc.StatusCode.INVALID_ARGUMENT,
        RequestIdReused.slug,
        "this request_id came before, with another body",
    ),
    RequestUnderWay: _says(
        grpc.StatusCode.UNAVAILABLE,
        RequestUnderWay.slug,
        "the same request is still under way; ask again with the same request_id",
        COME_AGAIN_S,
    ),
    PlacingFailed: _says(
        grpc.StatusCode.UNAVAILABLE,
        "database_unavailable",
        "nothing can be said of these commands; ask again with the same request_id",
        COME_AGAIN_S,
    ),
}
"""All others are unexpected: a mistake of the service itself."""
