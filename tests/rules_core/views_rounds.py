"""Rounds played by hand, for the tests of the views: a method a step, each card where the test wants it."""

from __future__ import annotations

from collections.abc import Mapping

from rules_core.cards import CARD_TEXTS, parse_card
from rules_core.command_line.random_round import DURATIONS, limits_for
from rules_core.engine import ENGINE
from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.decide import decide
from rules_core.round.decide.cards import face_down
from rules_core.round.events.fields import DecidedOption, FinalChoice
from rules_core.round.evolve import evolve
from rules_core.round.refusal import Refusal
from rules_core.round.sealed import Sealed
from rules_core.round.state import new_round
from rules_core.round.times import plus_ms
from rules_core.rulesets.model import Ruleset
from rules_core.rulesets.shipped import shipped
from rules_core.views.events import Shown, visible_events
from rules_core.views.table import TableView, table_view
from rules_core.views.viewers import Viewer

START = "2026-01-01T00:00:00.000000Z"


def hand(place: str, cards: str) -> dict[str, str]:
    """Cards laid one after the other: in `box.1.0`, `box.1.1`, and so on."""
    return {f"{place}.{index}": card for index, card in enumerate(cards.split())}


QUIET = (
    hand("box.1", "2c 4d 7h 9s Jc")
    | hand("box.2", "3c 5d 8h Ts Qc")
    | hand("box.3", "2d 4h 6s 8c Td")
    | hand("dealer", "3d 5h 7s 9c Jd")
)
"""Four hands that are nothing: no game, no insurance."""
GAME = hand("dealer", "Ad Kc")
"""With these in it, the dealer's hand is a game."""


class HandPlayed:
    """A round under a ruleset; raises AssertionError where a step is refused."""

    def __init__(self, ruleset: str | Ruleset) -> None:
        self.ruleset = shipped(ruleset) if isinstance(ruleset, str) else ruleset
        self.state = new_round(self.ruleset)
        self.sealed = Sealed()
        self.events: list[e.RoundEvent] = []
        self._ids = 0
        limits = (limits_for(self.ruleset),)
        ids = (self.ruleset.id, self.ruleset.sha256, ENGINE)
        self.do(c.OpenRound(START, "t1", 7, *ids, limits, DURATIONS))

    def do(self, command: c.Command) -> tuple[e.RoundEvent, ...]:
        """Decide, seal what lies face down, record and fold."""
        decision = decide(command, self.state, self.sealed)
        assert not isinstance(decision, Refusal), decision
        if isinstance(command, (c.ScanCard, c.RescanCard)) and command.card is not None and command.card_salt:
            self.sealed.add(command.card, command.card_salt)
        for event in decision:
            self.events.append(event)
            evolve(self.state, event)
        return decision

    def new_id(self) -> str:
        """An id, or a card salt, that no other has: 32 hex digits."""
        self._ids += 1
        return f"{self._ids:032x}"

    @property
    def now(self) -> str:
        """The instant of the round's latest own step; time stands still between them."""
        return self.state.last_at

    def at_close(self) -> str:
        """The instant at which the open window closes."""
        assert self.state.window is not None
        return self.state.window.closes_at

    def bet(self, player: str, *boxes: int, blind: bool = False, funding: str | None = None) -> None:
        """Ante 100 on each box."""
        antes = tuple(c.Placement(box, "ante", 100, blind, funding) for box in boxes)
        self.do(c.PlaceBet(player, "EUR", self.new_id(), antes, START))

    def close_betting(self) -> None:
        """The betting time is over."""
        self.do(c.CloseBetting(self.at_close()))

    def lay(self, cards: Mapping[str, str] | None = None, *, only: int = 52) -> None:
        """Lay the awaited cards: those named, else those of QUIET, else the lowest that is in neither."""
        wanted = QUIET | dict(cards or {})
        for _ in range(only):
            if not self.state.awaited:
                return
            place = self.state.awaited[0]
            card = parse_card(wanted[place] if place in wanted else self._free(wanted))
            salt = self.new_id() if face_down(self.state, place) else None
            self.do(c.ScanCard(self.new_id(), card, salt))

    def _free(self, wanted: Mapping[str, str]) -> str:
        known = {CARD_TEXTS[card] for card in self.state.cards.values()}
        known |= {CARD_TEXTS[self.sealed.open(cm).card] for cm in self.state.commitments.values()}
        return next(text for text in CARD_TEXTS if text not in known and text not in wanted.values())

    def rescan(self, place: str, card: str) -> None:
        """Read a misread card again."""
        salt = self.new_id() if place in self.state.commitments else None
        self.do(c.RescanCard(self.new_id(), place, parse_card(card), salt))

    def confirm(self) -> tuple[e.RoundEvent, ...]:
        """The dealer confirms the cards."""
        return self.do(c.ConfirmCards(self.now, "dealer:d1"))

    def deal(self, cards: Mapping[str, str] | None = None) -> None:
        """Close the bets, lay the cards of the deal and confirm them."""
        self.close_betting()
        self.lay(cards)
        self.confirm()

    def proceed(self) -> tuple[e.RoundEvent, ...]:
        """The round's next own step."""
        return self.do(c.Proceed(self.now))

    def option(
        self, player: str, box: int, kind: DecidedOption, *positions: int, funds: c.Funds = "held"
    ) -> None:
        """Choose an option."""
        self.do(c.ChooseOption(player, box, kind, self.now, positions, self.new_id(), funds))

    def final(self, player: str, box: int, choice: FinalChoice, insurance: int = 0) -> None:
        """Choose a final option."""
        self.do(c.ChooseFinalOption(player, box, choice, self.now, insurance, self.new_id()))

    def buy(self, player: str, box: int) -> None:
        """Buy the dealer's exchange."""
        self.do(c.MakePurchase(player, box, self.new_id(), self.now))

    def close(self) -> tuple[e.RoundEvent, ...]:
        """The open decision window's time is over."""
        assert self.state.window is not None
        closing = {
            "options": c.CloseOptions,
            "final_options": c.CloseFinalOptions,
            "purchase": c.ClosePurchase,
        }
        return self.do(closing[self.state.window.kind](self.at_close()))

    def late(self) -> str:
        """An instant after the open window."""
        return plus_ms(self.at_close(), 1)

    def view(self, viewer: Viewer) -> TableView:
        """What the viewer sees of the table now."""
        return table_view(viewer, self.state, self.sealed)

    def shown(self, viewer: Viewer) -> list[Shown]:
        """What the viewer has seen of the events so far."""
        return list(visible_events(viewer, self.events, self.ruleset, self.sealed))

    def seen(self, viewer: Viewer, *kinds: type[e.RoundEvent]) -> list[e.RoundEvent]:
        """The events of these kinds that the viewer has seen so far, in the order shown."""
        return [shown.event for shown in self.shown(viewer) if isinstance(shown.event, kinds)]
