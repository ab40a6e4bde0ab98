"""Members of staff: their roles, and the events of the streams `staff-<staff>`.

No event has a name, a sign-in name, an address or a secret: these lie in `gateway.staff_people`, whose rows
can be erased. Moments are in UTC, lengths in seconds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Final, Literal, get_args

__all__ = [
    "EVENT_TYPES",
    "ROLES",
    "EndReason",
    "FailReason",
    "Role",
    "StaffActionAnswered",
    "StaffActionAsked",
    "StaffAdded",
    "StaffDisabled",
    "StaffEnabled",
    "StaffEnrolled",
    "StaffErased",
    "StaffEvent",
    "StaffLocked",
    "StaffReset",
    "StaffRolesChanged",
    "StaffSignInFailed",
    "StaffSignedIn",
    "StaffSignedOut",
    "StaffUnlocked",
    "checked_roles",
    "is_sign_in_name",
    "service_roles",
    "staff_stream",
]

Role = Literal["dealer", "shift_manager", "operations", "support", "auditor", "admin"]
ROLES: Final[tuple[Role, ...]] = get_args(Role)
"""All roles, in the order in which people are shown them."""

EndReason = Literal["signed_out", "ended", "expired", "disabled", "reset", "replaced"]
"""Why a session ended: its member signed out, its member or an admin ended it, its longest time was over, the
member was disabled or reset, or the member had too many and this was the oldest."""
FailReason = Literal["password", "code", "disabled", "waiting"]
"""Why a sign-in failed: a wrong password, a wrong or used code, a disabled member, too many tries before."""

is_sign_in_name: Final = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?").fullmatch
"""Whether a text may be what somebody signs in with: small letters, digits, and . _ - between them."""

_SERVICES_NAMES: Final = {"shift_manager": "floor"}


def checked_roles(given: frozenset[str]) -> frozenset[Role]:
    """Roles that exist, one or more. Raises ValueError, which names the one that does not."""
    if not given:
        raise ValueError("roles: one or more of " + ", ".join(ROLES))
    for one in sorted(given):
        if one not in ROLES:
            raise ValueError(f"roles: {one[:40]!r} is none of " + ", ".join(ROLES))
    return frozenset(role for role in ROLES if role in given)


def service_roles(roles: frozenset[Role]) -> frozenset[str]:
    """The same roles as the services behind the edge name them."""
    return frozenset(_SERVICES_NAMES.get(role, role) for role in roles)


def staff_stream(staff: str) -> str:
    """The stream of a member of staff."""
    return f"staff-{staff}"


@dataclass(frozen=True, slots=True)
class StaffAdded:
    """A member of staff was added; the stream's first event."""

    staff: Annotated[str, "The member's opaque id."]
    roles: Annotated[tuple[Role, ...], "What the member may do."]
    reason: Annotated[str, "Why, in the words of who did it."]


@dataclass(frozen=True, slots=True)
class StaffRolesChanged:
    """What a member may do was changed; from now on it is this."""

    staff: Annotated[str, "The member's opaque id."]
    before: Annotated[tuple[Role, ...], "The roles until now."]
    roles: Annotated[tuple[Role, ...], "All roles from now on."]
    reason: Annotated[str, "Why, in the words of who did it."]


@dataclass(frozen=True, slots=True)
class StaffReset:
    """Password, second factor and recovery codes are void; a new one-time password lets the member enrol."""

    staff: Annotated[str, "The member's opaque id."]
    reason: Annotated[str, "Why, in the words of who did it."]


@dataclass(frozen=True, slots=True)
class StaffDisabled:
    """A member may not sign in any more; all sessions have ended."""

    staff: Annotated[str, "The member's opaque id."]
    reason: Annotated[str, "Why, in the words of who did it."]


@dataclass(frozen=True, slots=True)
class StaffEnabled:
    """A disabled member may sign in again."""

    staff: Annotated[str, "The member's opaque id."]
    reason: Annotated[str, "Why, in the words of who did it."]


@dataclass(frozen=True, slots=True)
class StaffErased:
    """A disabled member's name and sign-in name were erased; what the member did stays."""

    staff: Annotated[str, "The member's opaque id."]
    reason: Annotated[str, "Why, in the words of who did it."]


@dataclass(frozen=True, slots=True)
class StaffEnrolled:
    """A member has chosen a password and set up the second factor."""

    staff: Annotated[str, "The member's opaque id."]


@dataclass(frozen=True, slots=True)
class StaffSignedIn:
    """A member has signed in: a session began."""

    staff: Annotated[str, "The member's opaque id."]
    session: Annotated[str, "The session's opaque id."]
    with_recovery_code: Annotated[bool, "Whether a recovery code stood for the second factor's."]


@dataclass(frozen=True, slots=True)
class StaffSignInFailed:
    """Somebody did not sign in with a member's sign-in name, or did not unlock a session."""

    staff: Annotated[str, "The member's opaque id."]
    reason: Annotated[FailReason, "What was wrong."]
    session: Annotated[str | None, "The locked session; null: it was a sign-in."] = None


@dataclass(frozen=True, slots=True)
class StaffLocked:
    """A session was idle for too long, or its member locked it: it asks for the password again."""

    staff: Annotated[str, "The member's opaque id."]
    session: Annotated[str, "The session's opaque id."]
    idle_s: Annotated[int, "For how many seconds nothing was done; 0: the member locked it."]


@dataclass(frozen=True, slots=True)
class StaffUnlocked:
    """The member gave the password again: a locked session goes on."""

    staff: Annotated[str, "The member's opaque id."]
    session: Annotated[str, "The session's opaque id."]


@dataclass(frozen=True, slots=True)
class StaffSignedOut:
    """A session ended."""

    staff: Annotated[str, "The member's opaque id."]
    session: Annotated[str, "The session's opaque id."]
    reason: Annotated[EndReason, "Why."]


@dataclass(frozen=True, slots=True)
class StaffActionAsked:
    """A member asked for something to be done; recorded before anything is."""

    staff: Annotated[str, "The member's opaque id."]
    session: Annotated[str, "The session in which it was asked for."]
    action: Annotated[str, "What, as a slug such as `round.cancel`."]
    subject: Annotated[str, "Of what: the name or opaque id of a table, round, player, and so on."]
    reason: Annotated[str, "Why, in the member's words; empty where none is asked for."]
    request_id: Annotated[str, "Binds repetitions: the same id again is the same action."]


@dataclass(frozen=True, slots=True)
class StaffActionAnswered:
    """What came of an action that a member asked for."""

    staff: Annotated[str, "The member's opaque id."]
    action: Annotated[str, "What was asked for."]
    request_id: Annotated[str, "Of the `StaffActionAsked`."]
    result: Annotated[str, "`done`, `refused: <reason>`, or `failed: <code>`: that it may have been done."]


StaffEvent = (
    StaffAdded
    | StaffRolesChanged
    | StaffReset
    | StaffDisabled
    | StaffEnabled
    | StaffErased
    | StaffEnrolled
    | StaffSignedIn
    | StaffSignInFailed
    | StaffLocked
    | StaffUnlocked
    | StaffSignedOut
    | StaffActionAsked
    | StaffActionAnswered
)

EVENT_TYPES: Final[dict[str, tuple[int, type[StaffEvent]]]] = {
    kind.__name__: (1, kind) for kind in get_args(StaffEvent)
}
"""Every type by name, with the version that is written."""
