"""What a player is shown of their own: boxes with hands in words, what may be done, bets, the last win.

What only this player sees is kept in this connection's memory and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from upcard_gateway.app.game_board import HIDDEN, Board, hand_words
from upcard_gateway.app.game_limits import Room
from upcard_gateway.app.game_seen import Beginning, Happened, Json, LastRound, Purse
from upcard_gateway.domain.sessions import Limits

__all__ = ["OwnBoard", "Say"]

Say = Callable[..., str]
"""A text in words: its key under `play_game`, and its values."""
_DEALT: Final = 5
_PLACED: Final = ("ante", "bet", "bonus_player", "bonus_dealer")


@dataclass
class OwnBoard:
    """One player at one table."""

    currency: str
    limits: Limits
    say: Say
    last: LastRound | None = None
    _round: int = 0
    _cards: dict[str, str] = field(default_factory=dict, repr=False)
    """Cards that this player alone sees, by place."""

    def begin(self, beginning: Beginning) -> None:
        """The player's own beginning: its view has all that they see."""
        self._round = beginning.round
        self._cards = {}
        for place, card in ((beginning.view or {}).get("cards") or {}).items():  # type: ignore[attr-defined]  # docs/views.md: an object
            if card != HIDDEN:
                self._cards[place] = card

    def event(self, happened: Happened, board: Board) -> Json:
        """Take one of the player's own events in: as they are shown it, an `OwnEvent`."""
        if happened.round > self._round:
            self._round, self._cards = happened.round, {}
        if happened.round == self._round:
            self._cards.update(happened.cards)
        return {
            "round": happened.round,
            "position": happened.position,
            "type": happened.type,
            "payload": board.shown(happened.payload),
            "cards": dict(happened.cards),
            "bonuses": [_bonus(one) for one in happened.bonuses],
        }

    def state(self, view: Json, board: Board, purse: Purse | None) -> dict[str, object]:
        """`boxes`, `dealer`, `total`, `settled` and `actions` of an `own` message."""
        own = _object(view.get("own"))
        self._ended(own)
        return {
            "boxes": [self._box(one, board) for one in own.get("boxes", ())],
            "dealer": _dealer(board),
            "total": own.get("total", 0),
            "settled": own.get("settled"),
            "actions": self._actions(_object(view.get("actions")), own, board, purse),
        }

    def bets(self, view: Json) -> dict[str, object]:
        """`placed`, `total`, `last_win` and `last_round` of a `bets` message."""
        own = _object(view.get("own"))
        self._ended(own)
        placed = [
            {"box": box["box"], "wager": wager, "amount": amount, "blind": box["blind"]}
            for box in own.get("boxes", ())
            for wager, amount in box["wagers"].items()
            if wager in _PLACED
        ]
        last = self.last
        return {
            "placed": placed,
            "total": own.get("total", 0),
            "last_win": None if last is None else last.returned,
            "last_round": None if last is None else last.number,
        }

    def _ended(self, own: Mapping[str, Any]) -> None:
        """Note what the round came to, once it is settled for this player."""
        settled = own.get("settled")
        if isinstance(settled, Mapping) and self._round:
            self.last = LastRound(self._round, int(settled["returned"]))

    def _card(self, place: str, board: Board) -> str | None:
        known = board.cards.get(place)
        if known is None or known == HIDDEN:
            return self._cards.get(place)
        return known

    def _box(self, box: Mapping[str, Any], board: Board) -> dict[str, object]:
        number, count = int(box["box"]), int(box["bought"] or 0)
        lies = [f"box.{number}.{index}" for index in range(_DEALT)]
        cards = [self._card(place, board) for place in lies if place in board.cards or place in self._cards]
        bought = [self._bought(number, index, board) for index in range(count)]
        result = box.get("result")
        return {
            "box": number,
            "blind": box["blind"],
            "cards": cards,
            "bought": bought,
            "hand": self._hand(box, cards, bought),
            "turn": box.get("turn"),
            "asked": box["asked"],
            "wagers": box["wagers"],
            "staked": box["staked"],
            "option": box["option"],
            "positions": list(box["positions"]),
            "final": box["final"],
            "final_by": box["final_by"],
            "purchase": box["purchase"],
            "folded": box["folded"],
            "result": None if result is None else board.shown(result),
            "words": self._words(box, board),
        }

    def _bought(self, box: int, index: int, board: Board) -> str | None:
        return self._card(f"replacement.{box}.{index}", board) or self._card(f"switch.{index}", board)

    def _hand(
        self, box: Mapping[str, Any], cards: Sequence[str | None], bought: Sequence[str | None]
    ) -> dict[str, object] | None:
        hand = box.get("hand")
        if not isinstance(hand, Mapping):
            return None
        held = [card for card in cards if card is not None]
        new = [card for card in bought if card is not None]
        if new and len(new) == len(bought) and len(held) == _DEALT:
            if box["option"] == "exchange":
                for position, card in zip(box["positions"], new, strict=False):
                    held[position] = card
            else:
                held += new
        words = hand_words(held)
        return {
            "name": hand["name"],
            "words": words or self.say(f"hand.{hand['name']}"),
            "combinations": list(hand["combinations"]),
            "odds": hand["odds"],
        }

    def _words(self, box: Mapping[str, Any], board: Board) -> str | None:
        result = box.get("result")
        if isinstance(result, Mapping):
            return self.say(f"outcome.{result['outcome']}")
        if box["folded"]:
            return self.say("box.folded")
        if box["asked"] and board.open is not None:
            return self.say(f"asked.{board.open.kind}")
        if box.get("turn") == "ahead":
            return self.say("box.ahead")
        return None

    def _actions(
        self, actions: Mapping[str, Any], own: Mapping[str, Any], board: Board, purse: Purse | None
    ) -> dict[str, object]:
        room = Room.of(self.limits, own or None)
        double = actions.get("double")
        if double is not None and room.doubling() is not None:
            double = None
        cash = None if purse is None else purse.cash
        return {
            "place": [one for one in (_placing(one, room) for one in actions.get("place", ())) if one],
            "withdraw": list(actions.get("withdraw", ())),
            "undo": actions.get("undo", False),
            "clear": actions.get("clear", False),
            "double": double,
            "rebet": actions.get("repeat", False),
            "options": [_option(one, room) for one in actions.get("options", ())],
            "finals": [_final(one, room) for one in actions.get("finals", ())],
            "purchases": [_purchase(one, room) for one in actions.get("purchases", ())],
            "chips": [chip for chip in board.chips(self.currency) if cash is None or chip <= cash],
            "free_bets": [] if purse is None else list(purse.free),
        }


def _placing(action: Mapping[str, Any], room: Room) -> dict[str, object] | None:
    most = room.most(action["boxes"], action["wager"])
    if most is None:
        return dict(action)
    step = int(action["step"])
    high = min(int(action["max"]), most // step * step)
    return {**action, "max": high} if high >= int(action["min"]) else None


def _option(action: Mapping[str, Any], room: Room) -> dict[str, object]:
    if room.adding(int(action["fee"])) is None:
        return dict(action)
    return {**action, "sixth_card": False, "exchange_max": 0}


def _final(action: Mapping[str, Any], room: Room) -> dict[str, object]:
    offered = action.get("insurance")
    if not isinstance(offered, Mapping):
        return dict(action)
    found = [one for one in (room.left, room.limits.wager_max) if one is not None]
    step = int(offered.get("step", 1))
    high = min([int(offered["max"]), *found]) // step * step
    bounds = {"min": offered["min"], "max": high, "step": step}
    return {**action, "insurance": bounds if high >= int(offered["min"]) else None}


def _purchase(action: Mapping[str, Any], room: Room) -> dict[str, object]:
    return dict(action) if room.adding(int(action["fee"])) is None else {**action, "fee": 0}


def _dealer(board: Board) -> dict[str, object] | None:
    if board.dealer_hand is None:
        return None
    words = hand_words(board.dealer_cards) if board.dealer_cards else None
    return {
        "name": board.dealer_hand,
        "words": words or board.dealer_hand.replace("_", " ").capitalize(),
        "combinations": [],
        "odds": None,
        "game": board.dealer_game,
    }


def _bonus(one: Json) -> dict[str, object]:
    return {**one, "hand": one.get("hand") or None}


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
