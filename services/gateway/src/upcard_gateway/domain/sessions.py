"""A player's session: what it is, when it ends by itself, and the events of its stream.

A session is launched by the platform, redeemed once with the launch token, kept alive while the player is
there, and ended once, for one reason. Moments are in UTC, lengths in seconds, amounts in minor units.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace
from typing import Annotated, Final, Literal

__all__ = [
    "EVENT_TYPES",
    "EndReason",
    "Environment",
    "Limits",
    "PlayerErased",
    "Session",
    "SessionEnded",
    "SessionEvent",
    "SessionOpened",
    "SessionRedeemed",
    "SessionState",
    "WalletKind",
    "session_stream",
]

Environment = Literal["sandbox", "live"]
WalletKind = Literal["transfer", "seamless"]
EndReason = Literal["platform", "player", "replaced", "not_started", "idle", "expired", "player_erased"]
"""Why a session ended: the platform or the player ended it, a later launch of the same player did, nobody
redeemed its token in time, the player was away for too long, its longest time was over, the player was
erased."""
SessionState = Literal["launched", "live", "ended"]


@dataclass(frozen=True, slots=True)
class SessionOpened:
    """A platform launched a session; the stream's first event."""

    session: Annotated[str, "The session's opaque id."]
    player: Annotated[str, "The player's opaque id."]
    operator: Annotated[str, "The operator's opaque id."]
    account: Annotated[str, "Opaque id of the wallet's account that it plays with."]
    currency: Annotated[str, "Three capital letters."]
    environment: Annotated[Environment, "`sandbox` or `live`."]
    wallet: Annotated[WalletKind, "Where the money lies."]
    launch_until: Annotated[str, "Until when the launch token can be redeemed."]
    ends_by: Annotated[str, "When it ends whatever happens."]
    idle_s: Annotated[int, "After so many seconds without a sign of the player it ends."]
    table: Annotated[str | None, "Opaque id of the only table that it is for; null: any."] = None
    wager_max: Annotated[int | None, "Most minor units of one wager; null: no limit but the table's."] = None
    round_max: Annotated[int | None, "Most minor units of all wagers of one round; null: likewise."] = None


@dataclass(frozen=True, slots=True)
class SessionRedeemed:
    """The launch token was redeemed: the player is there."""

    session: Annotated[str, "The session's opaque id."]


@dataclass(frozen=True, slots=True)
class SessionEnded:
    """The session ended; nothing but `PlayerErased` follows."""

    session: Annotated[str, "The session's opaque id."]
    reason: Annotated[
        EndReason,
        "`platform`, `player`, `replaced`, `not_started`, `idle`, `expired` or `player_erased`.",
    ]


@dataclass(frozen=True, slots=True)
class PlayerErased:
    """What we knew of the person was removed; in the stream of the player's latest session."""

    player: Annotated[str, "The player's opaque id, which means nobody from now on."]
    operator: Annotated[str, "The operator's opaque id."]


SessionEvent = SessionOpened | SessionRedeemed | SessionEnded | PlayerErased

EVENT_TYPES: Final[dict[str, tuple[int, type[SessionEvent]]]] = {
    kind.__name__: (1, kind) for kind in (SessionOpened, SessionRedeemed, SessionEnded, PlayerErased)
}
"""Every type by name, with the version that is written."""


def session_stream(session: str) -> str:
    """The stream of a session."""
    return f"session-{session}"


@dataclass(frozen=True, slots=True)
class Limits:
    """What the platform allows in a session, beside the table's own limits; None: no limit of its own."""

    wager_max: int | None = None
    """Most minor units of one wager."""
    round_max: int | None = None
    """Most minor units of all wagers of one round."""


@dataclass(frozen=True, slots=True)
class Session:
    """A session as it stands. Everything in it is opaque: whose it is, `app.people` knows."""

    id: str
    player: str
    operator: str
    account: str
    currency: str
    environment: Environment
    wallet: WalletKind
    table: str | None
    limits: Limits
    opened_at: dt.datetime
    launch_until: dt.datetime
    ends_by: dt.datetime
    idle_s: int
    seen_at: dt.datetime
    """When there was a sign of the player last."""
    events: int
    """Events in its stream."""
    redeemed_at: dt.datetime | None = None
    ended_at: dt.datetime | None = None
    end_reason: EndReason | None = None

    @property
    def due(self) -> tuple[dt.datetime, EndReason]:
        """When it ends by itself if nothing happens before, and why."""
        if self.redeemed_at is None:
            first: tuple[dt.datetime, EndReason] = (self.launch_until, "not_started")
        else:
            first = (self.seen_at + dt.timedelta(seconds=self.idle_s), "idle")
        last: tuple[dt.datetime, EndReason] = (self.ends_by, "expired")
        return min(first, last, key=lambda one: one[0])

    def at(self, now: dt.datetime) -> Session:
        """As it has to be shown at a moment: over once it is due, also where nobody has recorded that yet."""
        moment, reason = self.due
        if self.ended_at is not None or now < moment:
            return self
        return self.ended(moment, reason)

    def ended(self, moment: dt.datetime, reason: EndReason) -> Session:
        """The same, ended."""
        return replace(self, ended_at=moment, end_reason=reason)

    def seen(self, moment: dt.datetime) -> Session:
        """The same, with a sign of the player; the clock of another machine never sets it back."""
        return replace(self, seen_at=max(moment, self.seen_at))

    @property
    def state(self) -> SessionState:
        """How far it is."""
        if self.ended_at is not None:
            return "ended"
        return "launched" if self.redeemed_at is None else "live"
