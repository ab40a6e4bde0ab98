"""What exceptions of the layers below mean to who called."""

from __future__ import annotations

from typing import Final

import grpc

from servicekit.answering import ANSWER_ERRORS, COME_AGAIN_S, database_unavailable
from servicekit.grpc import CallError, ErrorMap
from upcard_table.app.calls import NotOwner
from upcard_table.app.ports import FundsUnavailable, LogAway


def forbidden(reason: str, message: str) -> CallError:
    """Who acts may not do this."""
    return CallError(grpc.StatusCode.PERMISSION_DENIED, reason, message)


def _not_owner(_: Exception) -> CallError:
    return CallError(
        grpc.StatusCode.UNAVAILABLE, NotOwner.slug, "the table's owner is being found; come again"
    )


def _money_away(_: Exception) -> CallError:
    return CallError(
        grpc.StatusCode.UNAVAILABLE,
        "wallet_unavailable",
        "the wallet did not answer; ask again with the same request_id",
        retry_after_s=COME_AGAIN_S,
    )


def _log_away(_: Exception) -> CallError:
    return database_unavailable()


TABLE_ERRORS: Final[ErrorMap] = {
    **ANSWER_ERRORS,
    NotOwner: _not_owner,
    FundsUnavailable: _money_away,
    LogAway: _log_away,
}
"""All others are unexpected: a mistake of the service itself."""
