"""A table as everybody sees it, folded from what the table tells: cards, windows, dealer, settings.

It follows from the log alone, so it is the same at every gateway. Players are shown under an alias that is
the same for a player at a table: their ids are nobody else's business.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

from rules_core.cards import parse_card
from rules_core.explain.comparison import best_holding
from rules_core.explain.english import ENGLISH
from rules_core.hands import InvalidHand, evaluate
from rules_core.rulesets.shipped import UnknownRuleset, shipped
from upcard_gateway.app.game_seen import Beginning, Happened, Json

__all__ = ["HIDDEN", "Board", "Open", "alias", "hand_words"]

HIDDEN: Final = "hidden"
"""What stands for a card that lies face down."""
_HAND: Final = 5

_OPENS: Final = {
    "RoundOpened": "betting",
    "OptionsOpened": "options",
    "FinalOptionsOpened": "final_options",
    "PurchaseOffered": "purchase",
}
_CLOSES: Final = {
    "BettingClosed": "betting",
    "OptionsClosed": "options",
    "FinalOptionsClosed": "final_options",
    "PurchaseClosed": "purchase",
}
_ENDS: Final = frozenset({"RoundSettled", "RoundCancelled"})
_MOVES: Final = frozenset({*_OPENS, *_CLOSES, *_ENDS, "WindowExtended", "DealerRevealed"})
_INTERNAL: Final = frozenset({"transaction", "bet_id", "scan_id"})
"""Fields of events that are for ourselves."""


@dataclass(frozen=True, slots=True)
class Open:
    """The window that is open."""

    kind: str
    box: int | None
    opened_at: str | None
    """None: before somebody looked."""
    closes_at: str


def alias(table: str, player: str) -> str:
    """What a player is called in what everybody at a table is shown; it cannot be turned back."""
    return "~" + hashlib.sha256(f"{table}\n{player}".encode()).hexdigest()[:8]


def hand_words(cards: Sequence[str]) -> str | None:
    """Five or six cards in words, such as `Two pair, nines and fours`; None while they are no whole hand."""
    try:
        words = ENGLISH.holding(best_holding(evaluate([parse_card(card) for card in cards])))
    except (InvalidHand, ValueError):
        return None
    plain = words.removeprefix("a ")
    return plain[:1].upper() + plain[1:]


@dataclass
class Board:
    """One table; `begin` comes before everything else."""

    table: Json = field(default_factory=dict)
    number: int = 0
    """Of the latest round; 0: none yet."""
    cards: dict[str, str] = field(default_factory=dict)
    """Place to card, or HIDDEN, as everybody sees it."""
    open: Open | None = None
    progress: dict[str, str] = field(default_factory=dict)
    """Window to `ahead`, `open` or `over`, in their order."""
    dealer_hand: str | None = None
    dealer_game: bool | None = None
    dealer_cards: tuple[str, ...] = ()
    """The dealer's five now, once they are open."""
    config: Mapping[str, Any] = field(default_factory=dict)
    """How the round is played: `TableConfig` of docs/table-events.md."""
    _view: Json | None = None
    _next_config: tuple[int, Mapping[str, Any]] | None = None
    _shared: bool = False

    def begin(self, beginning: Beginning) -> None:
        """The table as it is now; what was held is forgotten."""
        self.__init__()  # type: ignore[misc]  # a board that begins anew is a new board
        self.table = {key: value for key, value in beginning.table.items() if key != "details"}
        details = cast("Mapping[str, Any]", beginning.table.get("details") or {})
        self.config = details.get("config", {})
        self.number = beginning.round
        self._rules(str(beginning.table.get("ruleset", "")))
        view = beginning.view
        if view is None:
            return
        self._view = cast("Json", self._shown(view))
        self.cards = {str(place): str(card) for place, card in _object(view.get("cards")).items()}
        self.progress = {one["window"]: one["status"] for one in _objects(view.get("progress"))}
        window = view.get("window")
        if isinstance(window, Mapping):
            self.open = Open(window["kind"], window.get("box"), None, window["closes_at"])
        self._dealer_seen(_object(view.get("dealer")))

    def event(self, happened: Happened) -> Json:
        """Take an event in: as everybody is shown it, a `TableEvent`."""
        if happened.round == 0:
            self._of_table(happened)
        elif happened.round >= self.number:
            self._of_round(happened)
        told: dict[str, object] = {
            "round": happened.round,
            "position": happened.position,
            "type": happened.type,
            "payload": self._shown(happened.payload),
        }
        if happened.crowd is not None:
            told["crowd"] = happened.crowd
        return told

    def view(self) -> Json | None:
        """The view of the beginning, without anybody's id."""
        return self._view

    def moves_window(self, happened: Happened) -> bool:
        """Whether an event opens, closes or moves a window."""
        return happened.type in _MOVES

    def chips(self, currency: str) -> tuple[int, ...]:
        """The chip values that the table offers in a currency, rising."""
        for one in self.config.get("chips", ()):
            if one["currency"] == currency:
                return tuple(one["values"])
        return ()

    def shown(self, payload: Json) -> Json:
        """A payload without ids of players and what is for ourselves."""
        return cast("Json", self._shown(payload))

    def _of_table(self, happened: Happened) -> None:
        now, payload = dict(self.table), happened.payload
        match happened.type:
            case "DealerSignedIn":
                now["dealer"] = payload["dealer"]
            case "DealerSignedOut":
                now["dealer"] = ""
            case "TableClosed":
                now["open"] = False
            case "TableOpened" | "LimitsChanged":
                now["open"] = True
                self._configure(cast("Mapping[str, Any]", payload["config"]), payload)
            case "ManualModeEntered" | "ManualModeLeft":
                now["manual_mode"] = happened.type == "ManualModeEntered"
            case _:
                return
        self.table = now

    def _configure(self, config: Mapping[str, Any], payload: Json) -> None:
        since = cast("int", payload.get("from_round", 0))
        if since <= self.number:
            self.config = config
        else:
            self._next_config = (since, config)

    def _of_round(self, happened: Happened) -> None:
        payload = happened.payload
        if happened.type == "RoundOpened":
            self._new_round(happened)
        kind = _OPENS.get(happened.type)
        if kind is not None:
            self._opened(kind, payload)
        elif happened.type in _CLOSES:
            self._closed(_CLOSES[happened.type])
        elif happened.type == "WindowExtended" and self.open is not None:
            one = self.open
            self.open = Open(one.kind, one.box, one.opened_at, str(payload["closes_at"]))
        elif happened.type in _ENDS:
            self.open = None
            self.progress = dict.fromkeys(self.progress, "over")
        self._card(happened)

    def _new_round(self, happened: Happened) -> None:
        self.number = happened.round
        self.cards, self.dealer_hand, self.dealer_game, self.dealer_cards = {}, None, None, ()
        if self._next_config is not None and self._next_config[0] <= self.number:
            self.config, self._next_config = self._next_config[1], None
        ruleset = str(happened.payload["ruleset"])
        name = self.config.get("name", self.table.get("name"))
        self.table = {**self.table, "ruleset": ruleset, "name": name}
        self._rules(ruleset)

    def _rules(self, ruleset: str) -> None:
        try:
            rules = shipped(ruleset)
        except UnknownRuleset:
            # A ruleset of a newer version: its windows are told as they come.
            self.progress, self._shared = {}, False
            return
        self.progress = dict.fromkeys(("betting", *rules.windows), "ahead")
        self._shared = rules.shared

    def _opened(self, kind: str, payload: Json) -> None:
        box = payload.get("box")
        self.open = Open(
            kind,
            box if isinstance(box, int) else None,
            str(payload["opened_at"]),
            str(payload["closes_at"]),
        )
        self.progress[kind] = "open"

    def _closed(self, kind: str) -> None:
        self.open = None
        again = kind in ("options", "final_options") and not self._shared
        self.progress[kind] = "ahead" if again else "over"

    def _card(self, happened: Happened) -> None:
        payload = happened.payload
        match happened.type:
            case "CardScanned" | "CardRescanned":
                self.cards[str(payload["place"])] = str(payload.get("card") or HIDDEN)
            case "CardsRevealed" | "DealerRevealed":
                for one in _objects(payload.get("openings")):
                    if not one.get("superseded"):
                        self.cards[one["place"]] = one["card"]
            case "DealerRequalified":
                self._dealer(payload)
                self.dealer_cards = tuple(cast("Sequence[str]", payload["cards"]))
            case _:
                return
        if happened.type == "DealerRevealed":
            self._dealer(payload)
            self.dealer_cards = self._dealt()
            for kind in ("options", "final_options"):
                if kind in self.progress:
                    self.progress[kind] = "over"

    def _dealer(self, payload: Json) -> None:
        self.dealer_hand = str(payload["hand"])
        self.dealer_game = bool(payload["qualified"])

    def _dealer_seen(self, dealer: Mapping[str, Any]) -> None:
        final, first = dealer.get("final"), dealer.get("hand")
        shown = final or first
        if not isinstance(shown, Mapping):
            return
        self.dealer_hand, self.dealer_game = str(shown["name"]), bool(shown["game"])
        self.dealer_cards = tuple(shown.get("cards") or self._dealt())

    def _dealt(self) -> tuple[str, ...]:
        found = [self.cards.get(f"dealer.{index}", HIDDEN) for index in range(_HAND)]
        return () if HIDDEN in found else tuple(found)

    def _shown(self, value: object) -> object:
        if isinstance(value, Mapping):
            return {key: self._field(key, one) for key, one in value.items() if key not in _INTERNAL}
        if isinstance(value, list):
            return [self._shown(one) for one in value]
        return value

    def _field(self, key: str, value: object) -> object:
        table = str(self.table.get("table", ""))
        if key == "player" and isinstance(value, str):
            return alias(table, value)
        if key == "players" and isinstance(value, list):
            return [alias(table, one) if isinstance(one, str) else one for one in value]
        return self._shown(value)


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _objects(value: object) -> Sequence[Mapping[str, Any]]:
    return value if isinstance(value, list) else ()
