"""What is said of a table, and of a player to that player: the messages of `upcard_platform.play`."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Final

from upcard_gateway.app.game_board import Board
from upcard_gateway.app.game_own import OwnBoard
from upcard_gateway.app.player_sessions import Playing
from upcard_gateway.entrypoints.http.edge import Edge
from upcard_gateway.entrypoints.pages.english import English
from upcard_gateway.entrypoints.play.commands_texts import Texts
from upcard_gateway.entrypoints.play.contract import (
    Beginning,
    Happened,
    Json,
    LastRound,
    Made,
    OwnShown,
    Purse,
    TableShown,
)

__all__ = ["own_shown", "table_shown"]


class BoardShown:
    """`TableShown` over a board."""

    def __init__(self, table: str, dealer_names: Mapping[str, str]) -> None:
        self._table = table
        self._names = dealer_names
        self.board = Board()

    def begin(self, beginning: Beginning) -> None:
        """See `TableShown`."""
        self.board.begin(beginning)

    def event(self, happened: Happened) -> Json:
        """See `TableShown`."""
        return self.board.event(happened)

    def table(self) -> Json:
        """See `TableShown`."""
        now = self.board.table
        dealer = str(now.get("dealer") or "")
        return {
            "table": self._table,
            "name": now.get("name", ""),
            "ruleset": now.get("ruleset", ""),
            "open": now.get("open", False),
            "dealer": dealer or None,
            "dealer_name": self._names.get(dealer),
            "manual_mode": now.get("manual_mode", False),
            "currencies": now.get("currencies", []),
        }

    def view(self) -> Json | None:
        """See `TableShown`."""
        return self.board.view()

    def moves_window(self, happened: Happened) -> bool:
        """See `TableShown`."""
        return self.board.moves_window(happened)

    def notice(self, happened: Happened) -> Made | None:
        """See `TableShown`."""
        if happened.type != "RoundCancelled":
            return None
        return _notice(happened, "round_cancelled", _TEXTS.say("notice.round_cancelled"))

    def window(self, now: dt.datetime) -> Made:
        """See `TableShown`."""
        opened = self.board.open
        progress = [{"window": name, "status": status} for name, status in self.board.progress.items()]
        body: dict[str, object] = {"kind": None, "progress": progress}
        if opened is not None:
            left = dt.datetime.fromisoformat(opened.closes_at) - now
            body |= {
                "kind": opened.kind,
                "box": opened.box,
                "opened_at": opened.opened_at,
                "closes_at": opened.closes_at,
                "remaining_ms": max(0, round(left.total_seconds() * 1_000)),
            }
        return Made("window", self.board.number, body)


class PlayerShown:
    """`OwnShown` over a player's board and the table's."""

    def __init__(self, own: OwnBoard, shown: TableShown) -> None:
        if not isinstance(shown, BoardShown):
            raise TypeError("what is said of a player needs the table's board")
        self._own = own
        self._board = shown.board

    def begin(self, beginning: Beginning) -> None:
        """See `OwnShown`."""
        self._own.begin(beginning)

    def event(self, happened: Happened) -> Json:
        """See `OwnShown`."""
        return self._own.event(happened, self._board)

    def state(self, view: Json, purse: Purse | None) -> Json:
        """See `OwnShown`."""
        return self._own.state(view, self._board, purse)

    def bets(self, view: Json) -> Made:
        """See `OwnShown`."""
        return Made("bets", self._board.number, self._own.bets(view))

    def notice(self, happened: Happened) -> Made | None:
        """See `OwnShown`."""
        said = happened.payload
        match happened.type:
            case "FinalOptionChosen" if said["by"] == "platform":
                return _notice(happened, "final_by_rules", _TEXTS.say(f"notice.final.{said['choice']}"))
            case "PurchaseDeclined" if said["by"] == "platform":
                return _notice(happened, "purchase_by_rules", _TEXTS.say("notice.purchase"))
            case "BetDeclined":
                text = _TEXTS.reason(str(said["reason"]), {}, self._own.currency)
                return _notice(happened, "bet_declined", _TEXTS.say("notice.bet_declined", why=text))
            case _:
                return None


def _notice(happened: Happened, code: str, text: str) -> Made:
    return Made("notice", happened.round, {"code": code, "text": text})


def table_shown(edge: Edge, table: str) -> TableShown:
    """What is said of a table to everybody; `begin` comes first."""
    return BoardShown(table, edge.dealer_names)


def own_shown(playing: Playing, shown: TableShown, last: LastRound | None) -> OwnShown:
    """What is said of a player at the table of `shown`; `last`: their last round that has ended."""
    session = playing.session
    return PlayerShown(OwnBoard(session.currency, session.limits, _TEXTS.say, last), shown)


_TEXTS: Final = Texts(English.load())
