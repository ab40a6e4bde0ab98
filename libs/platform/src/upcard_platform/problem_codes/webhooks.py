"""Problems of webhooks and their endpoints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from upcard_platform.problem_kinds import ProblemKind

CODES: Final[Mapping[str, ProblemKind]] = {
    "webhook_url_refused": ProblemKind(
        422,
        "Webhooks are not sent to such an address",
        "none_moved",
        "after_change",
        "Give a public https:// address, by name, without name and password in it and without #.",
    ),
    "webhook_endpoints_full": ProblemKind(
        409,
        "There are as many endpoints as there may be",
        "none_moved",
        "after_change",
        "Remove one that is not needed any more.",
    ),
    "webhook_endpoint_removed": ProblemKind(
        409,
        "The endpoint was removed",
        "none_moved",
        "never",
        "Add the address again; what happens from then on is sent there.",
    ),
    "webhook_queued": ProblemKind(
        409,
        "The webhook is queued already",
        "none_moved",
        "never",
        "Wait: it is sent, or tried again, at next_try_at or when those before it are through.",
    ),
}
"""By their codes."""
