"""What a player's program says over its connection (docs/play.md).

Every message but `hello` has an `id`, new for each wish and the same in each try: the same again gets the
original answer, whatever happened in between. Amounts are whole minor units of the session's currency.
"""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Final, Literal

from pydantic import Field, TypeAdapter, model_validator

from upcard_platform.models.fields import Amount, OpaqueId, RequestId, RequestModel

__all__ = [
    "ASKED",
    "MESSAGE_BYTES_MAX",
    "SUBPROTOCOL",
    "Asked",
    "Bet",
    "ChatLine",
    "Clear",
    "Double",
    "End",
    "FinalOption",
    "Hello",
    "HistoryAsked",
    "Join",
    "Leave",
    "LobbyAsked",
    "Message",
    "Option",
    "Ping",
    "Placement",
    "Purchase",
    "Rebet",
    "Resume",
    "StatementAsked",
    "Tip",
    "Undo",
    "Withdraw",
]

SUBPROTOCOL: Final = "upcard.play.1"
"""What both sides name in the handshake."""
MESSAGE_BYTES_MAX: Final = 16_384
"""Most bytes of one message of a player's."""

PlacedWager = Literal["ante", "bonus_player", "bonus_dealer"]
BoxNumber = Annotated[int, Field(strict=True, ge=1, le=99, description="from the dealer's left, from 1")]
RoundNumber = Annotated[
    int,
    Field(
        strict=True,
        ge=0,
        le=2**53 - 1,
        description="the round that is meant, so that a late message reaches no other; 0: the one that runs"
        " (no stake where the session has limits)",
    ),
]
Place = Annotated[str, Field(min_length=1, max_length=2_000)]


class Resume(RequestModel):
    """`seq` of the last message that came, of each channel: what follows comes next. Null: a snapshot."""

    table: Place | None = None
    own: Place | None = None
    chat: Place | None = None


class Hello(RequestModel):
    """The first message, within 10 s: who this is. Exactly one of the two tokens, or `view`."""

    type: Literal["hello"] = "hello"
    id: RequestId = "hello"
    launch_token: Annotated[str, Field(min_length=1, max_length=200)] | None = Field(
        default=None,
        repr=False,
        description="opens the session once; `welcome` has a session token for later",
    )
    session_token: Annotated[str, Field(min_length=1, max_length=200)] | None = Field(
        default=None, repr=False
    )
    view: bool = Field(default=False, description="look on without signing in, for a while")
    table: OpaqueId | None = Field(default=None, description="the table to join at once; null: `join` later")
    resume: Resume | None = Field(default=None, description="go on at `table` where a connection was lost")

    @model_validator(mode="after")
    def _one_way_in(self) -> Hello:
        if [self.launch_token is not None, self.session_token is not None, self.view].count(True) != 1:
            raise ValueError("it takes exactly one of launch_token, session_token and view: true")
        if self.resume is not None and self.table is None:
            raise ValueError("resume needs the table that was joined")
        return self


class Message(RequestModel):
    """What every message but `hello` has."""

    id: RequestId


class Join(Message):
    """Be at a table: its public events, one's own, its chat. Who was at another one leaves that."""

    type: Literal["join"] = "join"
    table: OpaqueId
    resume: Resume | None = None


class Leave(Message):
    """Be at no table. Bets stay as they are, and are decided by the rules."""

    type: Literal["leave"] = "leave"


class Placement(RequestModel):
    """An amount that is added to one wager of one box."""

    box: BoxNumber
    wager: PlacedWager
    amount: Amount
    blind: Annotated[bool, Field(strict=True)] = Field(
        default=False, description="of an ante: the box is played blind, and its bet is staked at once"
    )
    funding: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{0,64}$")] = Field(
        default="", description="the free bet that pays for it; empty: cash"
    )


class Bet(Message):
    """Add to wagers: all of these or none."""

    type: Literal["bet"] = "bet"
    round: RoundNumber = 0
    placements: Annotated[list[Placement], Field(min_length=1, max_length=32)]


class Withdraw(Message):
    """Take one wager of a box back, whole; an ante takes its box's others with it."""

    type: Literal["withdraw"] = "withdraw"
    round: RoundNumber = 0
    box: BoxNumber
    wager: PlacedWager


class Undo(Message):
    """Take the latest placement back, whole."""

    type: Literal["undo"] = "undo"
    round: RoundNumber = 0


class Clear(Message):
    """Take all bets back."""

    type: Literal["clear"] = "clear"
    round: RoundNumber = 0


class Double(Message):
    """Double all wagers."""

    type: Literal["double"] = "double"
    round: RoundNumber = 0


class Rebet(Message):
    """Place the bets of the previous round again, all or none."""

    type: Literal["rebet"] = "rebet"
    round: RoundNumber = 0


class Option(Message):
    """Choose a box's option; it is final once it is accepted."""

    type: Literal["option"] = "option"
    round: RoundNumber = 0
    box: BoxNumber
    kind: Literal["bet", "sixth", "exchange", "fold"]
    positions: list[Annotated[int, Field(strict=True, ge=0, le=4)]] = Field(
        default=[], max_length=5, description="of an exchange: which of the five cards, from 0; else empty"
    )


class FinalOption(Message):
    """Choose a box's final option; it is final once it is accepted."""

    type: Literal["final"] = "final"
    round: RoundNumber = 0
    box: BoxNumber
    choice: Literal["bet", "stand", "fold"]
    insurance: Annotated[int, Field(strict=True, ge=0, le=2**53 - 1)] = Field(
        default=0, description="minor units, within the bounds that `own` tells; 0: none"
    )


class Purchase(Message):
    """Buy the exchange of the dealer's highest card, or do not."""

    type: Literal["purchase"] = "purchase"
    round: RoundNumber = 0
    box: BoxNumber
    buy: Annotated[bool, Field(strict=True)]


class Tip(Message):
    """Give the dealer something."""

    type: Literal["tip"] = "tip"
    amount: Amount


class ChatLine(Message):
    """Say something at the table."""

    type: Literal["chat"] = "chat"
    text: str = Field(min_length=1, max_length=200, repr=False)


class HistoryAsked(Message):
    """The player's own rounds, the newest first, a page."""

    type: Literal["history"] = "history"
    after: Annotated[str, Field(min_length=1, max_length=500)] | None = Field(
        default=None, description="`next` of the page before; null: the first page"
    )


class StatementAsked(Message):
    """What moved on the player's account, the newest first, a page."""

    type: Literal["statement"] = "statement"
    after: Annotated[str, Field(min_length=1, max_length=500)] | None = Field(
        default=None, description="`next` of the page before; null: the first page"
    )
    since: dt.date | None = Field(default=None, description="the first day wanted, in UTC")
    until: dt.date | None = Field(default=None, description="the last day wanted, in UTC")


class LobbyAsked(Message):
    """The tables that the player may join."""

    type: Literal["lobby"] = "lobby"


class Ping(Message):
    """Are you there? A player's program asks every 20 s or so, while nothing else is said."""

    type: Literal["ping"] = "ping"


class End(Message):
    """The player leaves: the session ends."""

    type: Literal["end"] = "end"


Asked = Annotated[
    Hello
    | Join
    | Leave
    | Bet
    | Withdraw
    | Undo
    | Clear
    | Double
    | Rebet
    | Option
    | FinalOption
    | Purchase
    | Tip
    | ChatLine
    | HistoryAsked
    | StatementAsked
    | LobbyAsked
    | Ping
    | End,
    Field(discriminator="type"),
]
ASKED: Final[TypeAdapter[Asked]] = TypeAdapter(Asked)
"""Reads any message of a player's program. Raises pydantic.ValidationError."""
