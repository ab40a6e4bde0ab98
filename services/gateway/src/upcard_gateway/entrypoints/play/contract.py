"""What players' connections and what their messages do agree on.

The connection (`socket`, `hub`, …) reads and checks a message of `upcard_platform.play`, keeps sequences,
frames and sends. What a message does is `Commands`; what is said of a table is `TableShown` and `OwnShown`;
what is said among players is `Chat`. A `Made` is a message without `at`, `channel` and `seq`, which the
connection adds.

A connection handles by itself: `hello`, `join`, `leave`, `ping`, `end`. All others go to `Commands.handle`,
also those of somebody who only watches (`playing` None): what needs a player is not accepted,
`sign_in_needed`.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from pydantic import BaseModel

from upcard_gateway.app.game_seen import Beginning, Happened, Json, LastRound, Made, Purse
from upcard_gateway.app.player_sessions import Playing

__all__ = [
    "Beginning",
    "Chat",
    "ChatTold",
    "Commands",
    "Happened",
    "Json",
    "LastRound",
    "Made",
    "OwnShown",
    "Purse",
    "TableShown",
]


@dataclass(frozen=True, slots=True)
class ChatTold:
    """Something of a table's chat, with its number there: it rises, with gaps, alike at every gateway."""

    seq: int
    line: Json
    """A `ChatSaid`, the same for everybody (`own` false). A line that is told again has changed."""
    player: str
    """Whose line it is, by our id: for `own`, never to be sent; empty: nobody's."""


class Commands(Protocol):
    """What players' messages do."""

    async def handle(self, playing: Playing | None, table: str | None, message: BaseModel) -> Made:
        """Do what a message asks for, once, and answer: an `answer`.

        `table`: where the connection is, None: nowhere. `message` has `type` and `id`, and is one of
        `upcard_platform.play`. The same `id` of the same session again does nothing more and gets the answer
        of then. A refusal is an answer; what raises is a defect of ours, or the task was cancelled. It ends
        within ten seconds: an answer whose outcome is not known says so (`money: unknown`). Messages of one
        player are to be handled one after another.
        """
        ...

    async def purse(self, playing: Playing, *, fresh: bool = False) -> Purse:
        """What the player has: asked of the wallet at most once a second a player, unless `fresh`."""
        ...

    def balance(self, purse: Purse) -> Made:
        """The `balance` message: to be sent with the welcome, and after whatever moved money."""
        ...

    async def last_round(self, playing: Playing) -> LastRound | None:
        """The player's last round that has ended, for `bets`; None: there is none, or nobody can say now."""
        ...

    def sees(self, playing: Playing | None, table: str) -> bool:
        """Whether a player (or somebody who only watches) may come to a table, by session and operator."""
        ...


class TableShown(Protocol):
    """What is said of one table to everybody. One for each table's hub; it folds what it is told.

    What it says follows from the log alone, so that every gateway says the same.
    """

    def begin(self, beginning: Beginning) -> None:
        """The table as the public sees it now; whatever was held before is forgotten."""
        ...

    def event(self, happened: Happened) -> Json:
        """An event of the public, taken in: a `TableEvent`."""
        ...

    def table(self) -> Json:
        """The table now: a `TableNow`."""
        ...

    def view(self) -> Json | None:
        """The public's view as it was at the beginning, with nobody's id in it: for `snapshot`."""
        ...

    def window(self, now: dt.datetime) -> Made:
        """The `window` message: which is open (`kind` null: none), until when, which come."""
        ...

    def moves_window(self, happened: Happened) -> bool:
        """Whether the `window` message is to be told again after this event."""
        ...

    def notice(self, happened: Happened) -> Made | None:
        """The `notice` that this event is worth to everybody."""
        ...


class OwnShown(Protocol):
    """What is said of one player at one table to that player: one for each connection at a table."""

    def begin(self, beginning: Beginning) -> None:
        """The player's own beginning of a watch: its view has cards that they alone see."""
        ...

    def event(self, happened: Happened) -> Json:
        """One of the player's own events, taken in: an `OwnEvent`."""
        ...

    def state(self, view: Json, purse: Purse | None) -> Json:
        """`boxes dealer total settled actions` of an `own` message, from `own` and `actions` of a view."""
        ...

    def bets(self, view: Json) -> Made:
        """The `bets` message."""
        ...

    def notice(self, happened: Happened) -> Made | None:
        """The `notice` that one of the player's own events is worth: what was decided for them."""
        ...


class Chat(Protocol):
    """The chats of tables, over all gateways."""

    async def latest(self, table: str) -> tuple[int, Sequence[ChatTold]]:
        """The number of what was told last, and the last lines that still stand, oldest first; few."""
        ...

    async def since(self, table: str, seq: int) -> Sequence[ChatTold] | None:
        """Everything behind `seq`, oldest first; None: too far back, or never told: show the latest."""
        ...

    def follow(self, table: str, told: Callable[[Sequence[ChatTold]], None]) -> Callable[[], None]:
        """Have what is new at a table told, in order, each once; what is given back ends that."""
        ...
