"""What a player's program knows: what was told last, and where each channel is."""

from __future__ import annotations

from typing import Final

from upcard_platform import play

__all__ = ["PlayerState"]

_CHAT_KEPT: Final = 200
_LATEST: Final = (
    (play.Welcome, "welcome"),
    (play.Snapshot, "snapshot"),
    (play.Window, "window"),
    (play.Bets, "bets"),
    (play.Balance, "balance"),
    (play.Ended, "ended"),
)
"""Messages of which the last one says how it is."""


class PlayerState:
    """Attributes are None, or empty, until they are told."""

    def __init__(self) -> None:
        self.welcome: play.Welcome | None = None
        self.snapshot: play.Snapshot | None = None
        """The table when it was joined; `events` are what came since."""
        self.events: list[play.TableEvent] = []
        """What happened at the table since the snapshot, of the latest round and of the table itself."""
        self.own_events: list[play.OwnEvent] = []
        """The player's own events of the latest round."""
        self.window: play.Window | None = None
        self.boxes: list[play.OwnBox] = []
        self.dealer: play.OwnHand | None = None
        self.actions: play.Actions | None = None
        """What may be done now."""
        self.bets: play.Bets | None = None
        self.balance: play.Balance | None = None
        self.chat_lines: list[play.ChatSaid] = []
        self.notices: list[play.Notice] = []
        self.ended: play.Ended | None = None
        self.round = 0
        """Number of the table's latest round that was told of."""
        self._resume: dict[str, str] = {}

    @property
    def resume(self) -> play.Resume:
        """Where each channel is: what the next connection goes on with."""
        return play.Resume(
            table=self._resume.get("table"), own=self._resume.get("own"), chat=self._resume.get("chat")
        )

    def left(self) -> None:
        """Forget the table: another one is joined."""
        self._resume.clear()
        self.snapshot, self.window, self.dealer, self.actions, self.bets = None, None, None, None, None
        self.events, self.own_events, self.boxes, self.chat_lines = [], [], [], []
        self.round = 0

    def take(self, told: play.Told) -> None:
        """Take a message in."""
        if told.seq is not None:
            self._resume[told.channel] = told.seq
        for kind, name in _LATEST:
            if isinstance(told, kind):
                setattr(self, name, told)
        match told:
            case play.Snapshot():
                self.events = []
                self._reached(told.round)
            case play.TableTold():
                self._reached(told.round)
                self.events += told.events
            case play.Own():
                self._own(told)
            case play.ChatLines():
                self._chat(told)
            case play.Notice():
                self.notices = [*self.notices[-_CHAT_KEPT:], told]
            case _:
                return

    def _reached(self, number: int) -> None:
        if number > self.round:
            self.round = number
            self.events = [one for one in self.events if one.round in (0, number)]
            self.own_events = [one for one in self.own_events if one.round in (0, number)]

    def _own(self, told: play.Own) -> None:
        self._reached(told.round)
        self.own_events += told.events
        if told.boxes is not None:
            self.boxes, self.dealer = told.boxes, told.dealer
        if told.actions is not None:
            self.actions = told.actions

    def _chat(self, told: play.ChatLines) -> None:
        changed = {one.line: one for one in told.lines}
        kept = [changed.pop(one.line, one) for one in self.chat_lines]
        self.chat_lines = [*kept, *changed.values()][-_CHAT_KEPT:]
