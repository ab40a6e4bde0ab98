"""What all calls stand on; how each is answered once is `servicekit.answering`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import grpc

from servicekit.answering import Answering, fit_correlation_id, who_acts
from servicekit.grpc import CallError, call_context
from upcard_gateway.app.administering import Administration, Origin

ADMIN: Final = "admin"
"""The role that every call needs."""


@dataclass(frozen=True, slots=True)
class Desk:
    """What all calls stand on."""

    admin: Administration
    answering: Answering


def origin() -> Origin:
    """Who acts, for the event of a call: the signed member of staff."""
    return Origin(who_acts(), fit_correlation_id())


def check_role() -> None:
    """Raise CallError unless who acts is an admin."""
    if ADMIN not in call_context().actor.roles:
        raise CallError(grpc.StatusCode.PERMISSION_DENIED, "role_missing", f"the role {ADMIN} is needed")
