"""What all calls stand on; how each is answered once is `servicekit.answering`."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

import grpc

from servicekit.answering import Answering, fit_correlation_id, who_acts
from servicekit.grpc import CallError, call_context
from upcard_bonus.app.bonus import BonusOffice
from upcard_bonus.app.recording import Origin


@dataclass(frozen=True, slots=True)
class Desk:
    """What all calls stand on."""

    office: BonusOffice
    answering: Answering
    fence_lasts: dt.timedelta
    """After which a fence ends by itself."""


def origin() -> Origin:
    """Who acts, for the events of a call: the signed actor, else the service itself."""
    return Origin(who_acts(), fit_correlation_id())


def check_role(*roles: str) -> None:
    """Raise CallError unless who acts has one of these roles; only staff has any."""
    if not call_context().actor.roles & set(roles):
        raise CallError(
            grpc.StatusCode.PERMISSION_DENIED,
            "role_missing",
            f"one of these is needed: {', '.join(sorted(roles))}",
        )
