"""Launching and following players' sessions."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from upcard_platform.models.fields import (
    Amount,
    AnswerModel,
    Country,
    Currency,
    Language,
    MinorUnits,
    Moment,
    OpaqueId,
    PlayerId,
    RequestId,
    RequestModel,
    ShownName,
)

__all__ = [
    "EndSession",
    "ErasePlayer",
    "ErasedPlayer",
    "KeepAlive",
    "Launch",
    "Launched",
    "RealityCheck",
    "Redeem",
    "Redeemed",
    "Session",
    "SessionLimits",
    "SessionList",
]

SessionState = Literal["launched", "live", "ended"]
EndReason = Literal["platform", "player", "replaced", "not_started", "idle", "expired", "player_erased"]


class SessionLimits(RequestModel):
    """What the platform allows in a session, beside the table's own limits."""

    wager_max: Amount | None = Field(
        default=None, description="most minor units of one wager; null: the table's limit alone"
    )
    round_max: Amount | None = Field(
        default=None, description="most minor units of all wagers of one round; null: no such limit"
    )
    duration_s: Annotated[int, Field(strict=True, ge=60, le=86_400)] | None = Field(
        default=None, description="the session ends after so many seconds; null: after the longest time"
    )


class Launch(RequestModel):
    """A player is about to play: opens a session for them."""

    request_id: RequestId
    player: PlayerId
    nickname: ShownName
    currency: Currency
    country: Country
    language: Language = "en"
    limits: SessionLimits = SessionLimits()
    cashier_url: (
        Annotated[str, Field(max_length=500, pattern=r"^https?://[A-Za-z0-9._~:/?#@!$&()*+,;=%\[\]-]+$")]
        | None
    ) = Field(default=None, description="where the player pays in; null: no such link is shown")
    table: OpaqueId | None = Field(default=None, description="the only table it is for; null: any")


class Launched(AnswerModel):
    """A session, and what opens it once."""

    session: OpaqueId
    player: PlayerId
    account: OpaqueId = Field(
        description="our id of the player's account: what calls to a seamless wallet and reports name"
    )
    player_ref: OpaqueId = Field(description="our id of the player: what calls to a seamless wallet name")
    launch_token: str = Field(description="opens the session once, before `launch_until`")
    launch_url: str = Field(description="the page to send the player to; the token is in it")
    launch_until: Moment
    ends_by: Moment = Field(description="when the session ends whatever happens")


class KeepAlive(RequestModel):
    """The player is still there, the platform says."""

    request_id: RequestId


class EndSession(RequestModel):
    """The player has to leave; what was staked is decided by the rules."""

    request_id: RequestId


class Session(AnswerModel):
    """A session as it stands."""

    session: OpaqueId
    player: PlayerId | None = Field(description="null: the player was erased")
    account: OpaqueId
    currency: Currency
    state: SessionState = Field(description="launched: nobody has redeemed the token yet")
    opened_at: Moment
    redeemed_at: Moment | None
    seen_at: Moment = Field(description="when there was a sign of the player last")
    due_at: Moment = Field(description="when it ends, or would have ended, unless the player is seen before")
    ends_by: Moment
    ended_at: Moment | None
    end_reason: EndReason | None
    table: OpaqueId | None


class SessionList(AnswerModel):
    """A page of a player's sessions, the newest first."""

    items: list[Session]
    next: str | None = Field(description="`after` of the next page; null: this was the last one")


class RealityCheck(AnswerModel):
    """What a player is told at intervals: for how long they have played, and what it came to."""

    session: OpaqueId
    player: PlayerId | None = Field(description="null: the player was erased")
    currency: Currency
    state: SessionState
    since: Moment = Field(description="when the session was opened: everything is counted from here")
    until: Moment = Field(description="now, or when the session ended")
    duration_s: int = Field(description="seconds in the session, from the redeemed token on; 0 before")
    rounds: int = Field(description="rounds that were settled")
    won: int = Field(description="of these, those with a gain")
    staked: MinorUnits = Field(description="stakes and fees of these")
    returned: MinorUnits = Field(description="what went back, stakes included; jackpots are beside it")
    net: MinorUnits = Field(description="returned less staked; below zero: lost")
    open_rounds: int = Field(description="rounds with a bet of the player's that have not ended")


class Redeem(RequestModel):
    """What the player's page begins with. The token is good once, so there is no request_id."""

    token: Annotated[str, Field(min_length=1, max_length=200)] = Field(description="the launch token")


class Redeemed(AnswerModel):
    """The session is open for this page."""

    session: OpaqueId
    session_token: str = Field(
        description="shows that it is this session: the player's connection begins with it"
    )
    nickname: str
    currency: Currency
    language: str
    environment: Literal["sandbox", "live"]
    cashier_url: str | None
    table: OpaqueId | None
    limits: SessionLimits
    ends_by: Moment
    idle_s: int = Field(description="after so many seconds without a sign of the player it ends")
    now: Moment = Field(description="the server's clock")


class ErasePlayer(RequestModel):
    """The person is to be forgotten; what happened stays, under an id that means nobody."""

    request_id: RequestId


class ErasedPlayer(AnswerModel):
    """Nothing of ours says any more who it was."""

    player_ref: OpaqueId = Field(description="our id, under which the records stay")
    erased_at: Moment
