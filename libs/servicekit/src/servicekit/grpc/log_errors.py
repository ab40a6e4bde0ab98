"""What the event store's exceptions mean to who called: the `known_errors` of a service with a log."""

from collections.abc import Callable
from typing import Final

import grpc

from eventstore import errors as log
from servicekit.grpc.errors import CallError, ErrorMap
from servicekit.grpc.gate import COME_AGAIN_S


def _meaning(
    code: grpc.StatusCode, message: str, retry_after_s: float | None = None
) -> Callable[[Exception], CallError]:
    """An error with the exception's own slug; its words stay here."""

    def translate(error: Exception) -> CallError:
        slug = error.slug if isinstance(error, log.EventStoreError) else "event_store_error"
        return CallError(code, slug, message, retry_after_s=retry_after_s)

    return translate


_LATER: Final = "nothing was stored; come again"

LOG_ERRORS: Final[ErrorMap] = {
    log.VersionConflict: _meaning(grpc.StatusCode.ABORTED, "something else was stored meanwhile"),
    log.Overloaded: _meaning(grpc.StatusCode.UNAVAILABLE, _LATER, COME_AGAIN_S),
    log.AppenderClosed: _meaning(grpc.StatusCode.UNAVAILABLE, _LATER),
    log.ShardBusy: _meaning(grpc.StatusCode.UNAVAILABLE, _LATER),
    log.AppendFailed: _meaning(grpc.StatusCode.UNAVAILABLE, _LATER),
    log.DeadlineExceeded: _meaning(grpc.StatusCode.DEADLINE_EXCEEDED, "there was no time left"),
    log.OutcomeUnknown: _meaning(
        grpc.StatusCode.UNAVAILABLE, "it may have been stored; ask again with the same request_id"
    ),
    log.HistoryDetached: _meaning(grpc.StatusCode.OUT_OF_RANGE, "this part of the log is kept elsewhere"),
    log.LogBroken: _meaning(grpc.StatusCode.DATA_LOSS, "the log is not whole"),
}
"""All others are unexpected: a mistake of the service itself."""
