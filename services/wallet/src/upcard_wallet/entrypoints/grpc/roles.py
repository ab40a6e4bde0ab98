"""Which members of staff may do what: the roles of the signed call context."""

from __future__ import annotations

from typing import Final

import grpc

from servicekit.grpc import CallError, call_context

MAY_PROPOSE: Final = frozenset({"support", "operations", "admin"})
MAY_DECIDE: Final = frozenset({"operations", "admin"})
MAY_LIST: Final = MAY_PROPOSE | {"auditor"}
MAY_TRACE: Final = MAY_LIST | {"floor"}
"""One of these roles is needed. The floor answers players for single rounds: it sees lines, and no sums."""


def check_role(roles: frozenset[str]) -> None:
    """Raise CallError unless who acts has one of these roles."""
    if not roles & call_context().actor.roles:
        raise CallError(
            grpc.StatusCode.PERMISSION_DENIED,
            "role_missing",
            f"one of these is needed: {', '.join(sorted(roles))}",
        )
