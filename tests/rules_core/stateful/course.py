"""The course of a round, kept from its events alone: what may follow what, and in which time.

RULES.md section 4 and CONTRACTS.md section 2, "Order at the end" and "Face-down cards".
"""

from __future__ import annotations

from rules_core.round import events as e
from rules_core.round.limits import Durations
from rules_core.round.times import to_epoch_us
from rules_core.rulesets.model import Ruleset
from tests.rules_core.stateful.money import Books

CARDS = ("CardScanned", "CardRescanned", "CardBurned")
SHOWDOWN = {"CardsRevealed": "boxes open", "DealerRevealed": "dealer open"}
FOLLOWS: dict[str, dict[str, str]] = {
    "new": {"RoundOpened": "betting"},
    "betting": {
        **dict.fromkeys(("BetPlaced", "BetWithdrawn", "WindowExtended"), "betting"),
        "BettingClosed": "deal",
    },
    "deal": {**dict.fromkeys(CARDS, "deal"), **SHOWDOWN, "OptionsOpened": "options"},
    "options": {
        **dict.fromkeys(("OptionChosen", "WindowExtended", "CardBurned"), "options"),
        "OptionsClosed": "replace",
    },
    "replace": {
        **dict.fromkeys(CARDS, "replace"),
        **SHOWDOWN,
        "FinalOptionsOpened": "finals",
        "OptionsOpened": "options",
    },
    "finals": {
        **dict.fromkeys(("FinalOptionChosen", "WindowExtended", "CardBurned"), "finals"),
        "FinalOptionsClosed": "closed",
    },
    "closed": {"CardBurned": "closed", **SHOWDOWN, "OptionsOpened": "options"},
    "boxes open": {"DealerRevealed": "revealed"},
    "dealer open": {
        "CardsRevealed": "revealed",
        "CardBurned": "revealed",
        "PurchaseOffered": "purchase",
        "PlayerSettled": "settling",
    },
    "revealed": {"CardBurned": "revealed", "PurchaseOffered": "purchase", "PlayerSettled": "settling"},
    "purchase": {
        **dict.fromkeys(("PurchaseMade", "PurchaseDeclined", "WindowExtended", "CardBurned"), "purchase"),
        "PurchaseClosed": "draw",
    },
    "draw": {**dict.fromkeys(CARDS, "draw"), "DealerRequalified": "decided"},
    "decided": {"CardBurned": "decided", "PlayerSettled": "settling"},
    "all open": {"PlayerSettled": "settling"},
    "to be cancelled": {},
    "settling": {"PlayerSettled": "settling", "RoundSettled": "settled"},
    "settled": {"CorrectionDecided": "correcting"},
    "correcting": {"PlayerSettled": "correcting", "RoundResettled": "settled"},
    "cancelled": {},
}
NOT_CANCELLED = {"new", "settling", "settled", "correcting", "cancelled"}
SETTLED_NEXT = {"dealer open", "revealed", "decided"}
Hand = tuple[int, str]


class Course:
    """Where a round is. Raises AssertionError at the first event that may not come now."""

    def __init__(self, ruleset: Ruleset, books: Books) -> None:
        self.ruleset = ruleset
        self.books = books
        self.phase = "new"
        self.closes_at = ""
        self.durations = Durations(0, 0, 0, 0, 0)
        self.extended_ms = 0
        self.box: int | None = None
        self.undecided: set[Hand] = set()
        self.passed = False
        """Whether a hand let the open window pass."""
        self.bought = False

    def record(self, event: e.RoundEvent) -> None:
        """Take an event in, after the books have."""
        if isinstance(event, e.BetDeclined):
            assert self.phase != "new"
            return
        before, self.phase = self.phase, self._next(event)
        self._windows(event)
        if isinstance(event, e.CardsRevealed):
            assert event.openings, "none when nothing is left"
            assert event.final or self.ruleset.private == (before == "dealer open")
        if isinstance(event, e.DealerRevealed) and self.ruleset.private:
            assert before != "boxes open"

    def _next(self, event: e.RoundEvent) -> str:
        name, phase = type(event).__name__, self.phase
        if isinstance(event, e.CardsRevealed) and event.final:
            assert phase not in NOT_CANCELLED
            return "all open" if phase in SETTLED_NEXT else "to be cancelled"
        if isinstance(event, e.RoundCancelled):
            assert phase not in NOT_CANCELLED
            return "cancelled"
        assert name in FOLLOWS[phase], f"{name} while the round is at: {phase}"
        if isinstance(event, e.PurchaseClosed) and not self.bought:
            return "decided"
        return FOLLOWS[phase][name]

    def _windows(self, event: e.RoundEvent) -> None:
        match event:
            case e.RoundOpened():
                self.durations = event.durations
                self._opened(event.opened_at, event.closes_at, event.durations.betting_ms, set())
            case e.BetPlaced() | e.BetWithdrawn():
                assert event.arrived_at < self.closes_at
                self._check_seating(event.player)
            case e.OptionsOpened():
                assert self.box is None or event.box is None or event.box > self.box
                self.box = event.box
                length_ms = self.durations.options_ms
                self._opened(event.opened_at, event.closes_at, length_ms, self._open_hands(event.box))
            case e.FinalOptionsOpened():
                assert event.box == self.box
                self._asked(event, self.durations.final_options_ms)
                assert self.undecided <= self._open_hands(event.box)
            case e.PurchaseOffered():
                self._asked(event, self.durations.purchase_ms)
            case e.OptionChosen() | e.FinalOptionChosen() | e.PurchaseMade() | e.PurchaseDeclined():
                self._chosen(event)
            case e.WindowExtended():
                self._extended(event)
            case e.OptionsClosed():
                passed = {(group.box, player) for group in event.passed for player in group.players}
                assert passed == self.undecided
                self.passed = bool(passed)
                self._closed(event)
            case e.BettingClosed() | e.FinalOptionsClosed() | e.PurchaseClosed():
                assert isinstance(event, e.BettingClosed) or not self.undecided
                self._closed(event)
            case _:
                pass

    def _open_hands(self, box: int | None) -> set[Hand]:
        books = self.books.boxes.values()
        return {(book.box, book.player) for book in books if not book.blind and box in {None, book.box}}

    def _opened(self, opened_at: str, closes_at: str, length_ms: int, asked: set[Hand]) -> None:
        assert to_epoch_us(closes_at) - to_epoch_us(opened_at) == 1000 * length_ms
        self.closes_at, self.extended_ms, self.undecided, self.passed = closes_at, 0, asked, False

    def _asked(self, event: e.FinalOptionsOpened | e.PurchaseOffered, length_ms: int) -> None:
        asked = [(group.box, player) for group in event.asked for player in group.players]
        assert asked
        assert len(set(asked)) == len(asked)
        self._opened(event.opened_at, event.closes_at, length_ms, set(asked))

    def _chosen(
        self, event: e.OptionChosen | e.FinalOptionChosen | e.PurchaseMade | e.PurchaseDeclined
    ) -> None:
        """One choice a hand and window; a player's own in time, the platform's when the time is over."""
        self.undecided.remove((event.box, event.player))
        self.bought = self.bought or isinstance(event, e.PurchaseMade)
        by_platform = getattr(event, "by", "player") == "platform"
        self.passed = self.passed or by_platform
        assert (event.arrived_at is None) == by_platform
        assert event.arrived_at is None or event.arrived_at < self.closes_at

    def _closed(
        self, event: e.BettingClosed | e.OptionsClosed | e.FinalOptionsClosed | e.PurchaseClosed
    ) -> None:
        """Early only when every asked box has decided; betting never (RULES.md sections 4.1 and 4.3)."""
        if self.passed or isinstance(event, e.BettingClosed):
            assert event.closed_at >= self.closes_at
        self.undecided, self.closes_at = set(), ""

    def _extended(self, event: e.WindowExtended) -> None:
        """RULES.md section 4.1, no bet at the close; ARCHITECTURE.md, Windows carry `closes_at`."""
        if event.reason == "no_bets":
            assert not self.books.boxes
            assert event.decided_at >= self.closes_at
            assert event.extended_ms == self.durations.betting_ms
            start, self.extended_ms = event.decided_at, 0
        else:
            self.extended_ms += event.extended_ms
            assert 0 < self.extended_ms <= self.durations.extension_max_ms
            start = self.closes_at
        assert to_epoch_us(event.closes_at) - to_epoch_us(start) == 1000 * event.extended_ms
        self.closes_at = event.closes_at

    def _check_seating(self, player: str) -> None:
        """RULES.md section 4.1, Seating, and the table of section 6."""
        ruleset, seating = self.ruleset, self.ruleset.seating
        own = [book for book in self.books.boxes.values() if book.player == player]
        opened = [book for book in own if not book.blind]
        blind = len(own) - len(opened)
        assert all(ruleset.box_may_be(book.box, blind=book.blind) for book in own)
        assert len(opened) <= seating.open_boxes_max
        assert seating.blind_boxes_max is None or blind <= seating.blind_boxes_max
        assert not blind or len(opened) >= seating.blind_needs_open_boxes
        boxes = sorted(book.box for book in own)
        assert not (seating.neighbours_only and own) or boxes[-1] - boxes[0] + 1 == len(own)
        equal = {"no": [], "open_boxes": opened, "all_boxes": own}[seating.equal_antes]
        assert len({book.ante for book in equal}) <= 1
        if not ruleset.shared:
            assert len({book.box for book in self.books.boxes.values()}) == len(self.books.boxes)
