"""What the gateway tells a player's program over its connection (docs/play.md).

`seq` names a place in its channel, the same at every gateway. It is opaque: it is given back as it came, in
`resume`. Messages without `seq` tell how something is now, and are not told later. Amounts are whole minor
units of the session's currency. Fields that a program does not know are kept as they came, so that a later
gateway may say more.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import ConfigDict, Field, TypeAdapter

from upcard_platform.models.fields import AnswerModel, Currency, MinorUnits, Moment, OpaqueId
from upcard_platform.models.sessions import SessionLimits
from upcard_platform.play.shown import Actions, OwnBox, OwnEvent, OwnHand, Staked, TableEvent, TableNow

__all__ = [
    "TOLD",
    "Answer",
    "Balance",
    "Bets",
    "Bounds",
    "ChatLines",
    "ChatSaid",
    "Ended",
    "Error",
    "Notice",
    "Own",
    "Pong",
    "ServerMessage",
    "Snapshot",
    "TableTold",
    "Told",
    "Welcome",
    "Window",
    "WindowProgress",
]

Channel = Literal["table", "own", "chat", "none"]
Because = Literal["joined", "resume_expired"]
Money = Literal["none_moved", "moved", "unknown"]


class ServerMessage(AnswerModel):
    """What every message has."""

    model_config = ConfigDict(frozen=True, extra="allow")

    channel: Channel = Field(description="the sequence that it belongs to; none: to none")
    seq: str | None = Field(default=None, description="where this is in its channel; null: nowhere")
    round: int = Field(
        description="the round that it is of, or else the table's latest; 0: at no table, or none"
    )
    at: Moment = Field(description="the server's clock when it was made")


class Bounds(AnswerModel):
    """What a connection may take."""

    message_bytes: int = Field(description="most bytes of one message")
    messages_per_s: float = Field(description="more are refused, and then the connection is closed")
    silence_s: float = Field(description="say `ping` before so many seconds of silence have passed")


class Welcome(ServerMessage):
    """The connection is open; the answer to `hello`."""

    type: Literal["welcome"] = "welcome"
    viewing: bool = Field(description="signed in as nobody: sees what everybody sees")
    viewing_until: Moment | None = Field(default=None, description="of a viewer: when it is over")
    session: OpaqueId | None = None
    session_token: str | None = Field(
        default=None, repr=False, description="to a launch token: opens this session from now on"
    )
    nickname: str | None = Field(default=None, repr=False)
    currency: Currency | None = None
    language: str = "en"
    environment: Literal["sandbox", "live"] = "live"
    cashier_url: str | None = None
    table: OpaqueId | None = Field(default=None, description="the only table that the session is for")
    tips: bool = Field(
        default=False, description="whether the dealer may be tipped: never from a seamless wallet"
    )
    limits: SessionLimits | None = None
    ends_by: Moment | None = Field(default=None, description="when the session ends whatever happens")
    idle_s: int | None = Field(
        default=None, description="after so long without a sign of the player the session ends, in seconds"
    )
    bounds: Bounds


class Snapshot(ServerMessage):
    """Everything of the table that everybody sees, as it is now: replaces what was told of it before."""

    type: Literal["snapshot"] = "snapshot"
    because: Because = Field(description="resume_expired: what was missed is no longer known one by one")
    table: TableNow
    view: dict[str, Any] | None = Field(description="docs/views.md, `The table now`; null: no round yet")


class TableTold(ServerMessage):
    """What happened at the table, as everybody sees it, in order. The same bytes for all of its viewers."""

    type: Literal["table"] = "table"
    events: list[TableEvent]


class WindowProgress(AnswerModel):
    """How far a window of the round is."""

    window: str
    status: Literal["ahead", "open", "over"]


class Window(ServerMessage):
    """Which window is open now, and which come; without `seq`."""

    type: Literal["window"] = "window"
    kind: str | None = Field(description="null: none is open")
    box: int | None = Field(default=None, description="exclusive tables: whose turn it is")
    opened_at: Moment | None = Field(default=None, description="null: before this gateway looked")
    closes_at: Moment | None = None
    remaining_ms: int = Field(default=0, description="until it closes, from `at` on")
    progress: list[WindowProgress] = Field(default=[])


class Own(ServerMessage):
    """The player's own events, with `seq`; or, without, boxes and choices as they are now."""

    type: Literal["own"] = "own"
    because: Literal["resume_expired"] | None = Field(
        default=None, description="what was missed is no longer known one by one; all is as told here"
    )
    events: list[OwnEvent] = Field(default=[])
    boxes: list[OwnBox] | None = Field(default=None, description="null: as they were")
    dealer: OwnHand | None = Field(default=None, description="the dealer's hand as far as it is open")
    total: MinorUnits | None = Field(default=None, description="all stakes and fees of the round")
    settled: dict[str, Any] | None = Field(default=None, description="staked, returned, net, revision")
    actions: Actions | None = Field(default=None, description="all that may be done now; null: as it was")


class Bets(ServerMessage):
    """The player's bets of the round, and what the last round came to."""

    type: Literal["bets"] = "bets"
    placed: list[Staked]
    total: MinorUnits = Field(description="all stakes and fees of the round")
    last_win: MinorUnits | None = Field(default=None, description="returned of the last round with bets")
    last_round: int | None = None


class Balance(ServerMessage):
    """What the player has."""

    type: Literal["balance"] = "balance"
    currency: Currency
    amount: MinorUnits | None = Field(description="free to be staked; null: not known now")


class Answer(ServerMessage):
    """What became of a message, to be told from others by its `id`."""

    type: Literal["answer"] = "answer"
    id: str
    to: str = Field(description="the message's type")
    accepted: bool
    reason: str | None = Field(default=None, description="not accepted: why, a slug (docs/play.md)")
    text: str | None = Field(default=None, description="not accepted: why, in words for the player")
    money: Money = Field(default="none_moved", description="unknown: say the same with the same id again")
    again: bool = Field(default=False, description="whether the same with the same id may be accepted later")
    staked: list[Staked] = Field(default=[], description="what it staked")
    taken_back: list[Staked] = Field(default=[], description="what it took back")
    data: dict[str, Any] | None = Field(default=None, description="what was asked for: history, lobby, …")


class ChatSaid(AnswerModel):
    """A line of chat."""

    line: int
    nickname: str = Field(repr=False)
    who: Literal["player", "dealer", "house"] = "player"
    own: bool = Field(default=False, description="the player's own")
    text: str | None = Field(repr=False, description="null: taken away by the house")
    said_at: Moment


class ChatLines(ServerMessage):
    """Lines of the table's chat, in order; a line that is told again has changed."""

    type: Literal["chat"] = "chat"
    lines: list[ChatSaid]


class Notice(ServerMessage):
    """Something that the player should know."""

    type: Literal["notice"] = "notice"
    code: str
    text: str


class Ended(ServerMessage):
    """The connection ends: the last message."""

    type: Literal["ended"] = "ended"
    reason: str = Field(description="a slug (docs/play.md)")
    text: str
    resumable: bool = Field(description="whether to connect again, with `resume`")


class Pong(ServerMessage):
    """The answer to `ping`."""

    type: Literal["pong"] = "pong"
    id: str


class Error(ServerMessage):
    """A message that cannot be read, or that came too fast; nothing was done."""

    type: Literal["error"] = "error"
    code: str
    text: str
    id: str | None = Field(default=None, description="of the message, where it can be told")


Told = Annotated[
    Welcome
    | Snapshot
    | TableTold
    | Window
    | Own
    | Bets
    | Balance
    | Answer
    | ChatLines
    | Notice
    | Ended
    | Pong
    | Error,
    Field(discriminator="type"),
]
TOLD: Final[TypeAdapter[Told]] = TypeAdapter(Told)
"""Reads any message of the gateway's. Raises pydantic.ValidationError."""
