"""What exceptions of the layers below mean to who called."""

from __future__ import annotations

from typing import Final

import grpc

from servicekit.answering import ANSWER_ERRORS, COME_AGAIN_S
from servicekit.grpc import CallError, ErrorMap
from upcard_wallet.app.purse import PlacingFailed


def _placing_failed(_: Exception) -> CallError:
    return CallError(
        grpc.StatusCode.UNAVAILABLE,
        "database_unavailable",
        "nothing can be said of these commands; ask again with the same request_id",
        retry_after_s=COME_AGAIN_S,
    )


WALLET_ERRORS: Final[ErrorMap] = {**ANSWER_ERRORS, PlacingFailed: _placing_failed}
"""All others are unexpected: a mistake of the service itself."""
