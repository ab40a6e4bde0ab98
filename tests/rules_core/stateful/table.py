"""A table under test: each command is decided under watch, recorded as bytes, and read back."""

from __future__ import annotations

import re
from hashlib import sha256

from hypothesis import currently_in_test_context, note

from rules_core.cards import Card, card_text
from rules_core.engine import ENGINE
from rules_core.log.bundle import Recorded, recorded
from rules_core.log.content import Content, content_bytes, round_stream
from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.codec import VERSIONS, event_of, payload_of
from rules_core.round.decide import Decision, decide
from rules_core.round.evolve import evolve
from rules_core.round.limits import CurrencyLimits
from rules_core.round.recording import actor_of
from rules_core.round.refusal import Refusal
from rules_core.round.sealed import Sealed
from rules_core.round.state import new_round
from rules_core.round.times import from_epoch_us, to_epoch_us
from rules_core.views.table import table_view
from rules_core.views.viewers import Player
from tests.rules_core.stateful.course import Course
from tests.rules_core.stateful.due import Due
from tests.rules_core.stateful.houses import DURATIONS, House
from tests.rules_core.stateful.laid import Laid
from tests.rules_core.stateful.money import Books
from tests.rules_core.stateful.onlookers import Onlookers, public_cards
from tests.rules_core.test_views_secrecy import texts

START = "2026-01-01T12:00:00.000000Z"
SLUG = re.compile("[a-z][a-z0-9_]*").fullmatch
CARD = re.compile(r"\b[2-9TJQKA][cdhs]\b")


class Table:
    """One round at one table."""

    def __init__(
        self, house: House, limits: tuple[CurrencyLimits, ...], watchers: tuple[str, ...] = ("p1",)
    ) -> None:
        self.house = house
        self.ruleset = house.ruleset
        self.limits = limits
        self.state = new_round(self.ruleset)
        self.folded = new_round(self.ruleset)
        """What the recorded bytes say: never given to `decide`, so that it is the state before it."""
        self.books = Books(house)
        self.laid = Laid(self.ruleset, self.books)
        self.course = Course(self.ruleset, self.books)
        self.due = Due(house, self.books, self.laid)
        self.onlookers = Onlookers(self.ruleset, watchers)
        self.recorded: list[Recorded] = []
        self.events: list[e.RoundEvent] = []
        self.now = START
        self.stacked: dict[str, Card] = {}
        """Cards that come in certain places, if nothing came between."""
        self.by_hand = False
        """Whether the shoe has failed and the dealer types the cards in."""
        self._numbers = 0

    @property
    def sealed(self) -> Sealed:
        """The face-down cards of the round."""
        return self.laid.sealed

    @property
    def players(self) -> tuple[str, ...]:
        """Who has bets in the round."""
        return tuple(self.state.seats)

    @property
    def in_time(self) -> bool:
        """Whether a window is open and its time is not over."""
        window = self.state.window
        return window is not None and self.now < window.closes_at

    def number(self) -> int:
        """A number that no other has."""
        self._numbers += 1
        return self._numbers

    def salt(self) -> str:
        """A card salt: 16 bytes as hex."""
        return sha256(f"salt {self.number()}".encode()).hexdigest()[:32]

    def wait(self, milliseconds: int) -> None:
        """Let time pass."""
        self.now = from_epoch_us(to_epoch_us(self.now) + 1000 * milliseconds)

    def wait_until(self, instant: str) -> None:
        """Let time pass up to an instant, if it is still to come."""
        self.now = max(self.now, instant)

    def ask(self, command: c.Command) -> Decision:
        """Decide a command and record nothing; whoever asks much calls `unchanged` once at the end."""
        decision = decide(command, self.state, self.sealed)
        if isinstance(decision, Refusal):
            self._check_refusal(decision)
        else:
            assert decision
        return decision

    def unchanged(self) -> None:
        """Deciding has changed neither the state nor the sealed cards."""
        assert self.state == self.folded, "deciding changed the state"
        assert len(self.sealed) == len(self.laid.committed)

    def accepts(self, command: c.Command) -> bool:
        """Whether the command would be done; a declined wager is not."""
        decision = self.ask(command)
        return not isinstance(decision, Refusal) and not isinstance(decision[0], e.BetDeclined)

    def _check_refusal(self, refusal: Refusal) -> None:
        """A slug, a sentence, figures; and nothing of a card that lies hidden (RULES.md section 7)."""
        assert SLUG(refusal.code)
        assert refusal.message
        assert all(isinstance(value, (int, str, type(None))) for value in refusal.data.values())
        if refusal.code == "scan_problem":
            assert not refusal.data
        said = {*CARD.findall(refusal.message), *map(str, refusal.data.values())}
        assert not said.intersection(self.laid.hidden_cards.values())

    def attempt(self, command: c.Command, came: Card | None = None) -> Decision:
        """Decide a command, and record what it gives; `came`: the card laid that nobody has read."""
        _report(self.now[11:], command)
        decision = self.ask(command)
        self.unchanged()
        if isinstance(decision, Refusal):
            _report("      refused:", decision.code)
            return decision
        if isinstance(command, (c.Settle, c.Resettle)):
            assert sum(isinstance(event, e.PlayerSettled) for event in decision) <= command.limit
        self.wait_until(getattr(command, "at", getattr(command, "arrived_at", self.now)))
        for event in decision:
            self._record(event, command, came)
        self._check_recorded()
        return decision

    def do(self, command: c.Command, came: Card | None = None) -> tuple[e.RoundEvent, ...]:
        """Do what must not be refused."""
        decision = self.attempt(command, came)
        assert not isinstance(decision, Refusal), decision
        return decision

    def _record(self, event: e.RoundEvent, command: c.Command, came: Card | None) -> None:
        data = content_bytes(self._content(event, command))
        kept = recorded(data)
        content = kept.content
        read = event_of(content.type, content.version, content.payload)
        assert read == event
        assert payload_of(read) == content.payload
        assert content_bytes(content) == data
        self.recorded.append(kept)
        self.events.append(event)
        evolve(self.state, event)
        evolve(self.folded, read)
        self.due.check(read)
        self.books.record(read)
        self.course.record(read)
        self.laid.record(read, command, came)
        self._check_secret(read, data.decode(), content.payload)
        if not isinstance(command, c.Resettle):
            self._check_not_shown(repr(command))
        self.onlookers.record(read, command, self.state, self.sealed)

    def _check_secret(self, event: e.RoundEvent, written: str, payload: dict[str, object]) -> None:
        """No event names a card that lies hidden, or says its salt; a misread may have been a later card."""
        hidden = self.laid.hidden_cards
        opened = {opening.card for opening in getattr(event, "openings", ())}
        secret = {*hidden.values()} - public_cards(self.state) - opened
        assert not secret.intersection(texts(payload)), "an event names a hidden card"
        assert not any(self.sealed.open(commitment).salt in written for commitment in hidden)

    def _check_not_shown(self, text: str) -> None:
        """What may end up in a log shows no card that lies hidden, and no salt."""
        assert not any(self.sealed.open(commitment).salt in text for commitment in self.laid.hidden_cards)
        assert "card=" not in text

    def _content(self, event: e.RoundEvent, command: c.Command) -> Content:
        digits = sha256(f"event {len(self.events)}".encode()).hexdigest()
        name = type(event).__name__
        return Content(
            f"019b7a3c-0000-7{digits[:3]}-8{digits[3:6]}-{digits[6:18]}",
            name,
            VERSIONS[name],
            round_stream("t1", 7),
            self.now,
            "stateful",
            None,
            actor_of(command, event),
            digits[32:],
            payload_of(event),
        )

    def _check_recorded(self) -> None:
        """The bytes say the same as the round that was played, in the same order."""
        state, folded = self.state, self.folded
        assert state == folded
        assert list(state.seats) == list(folded.seats)
        assert list(state.undecided) == list(folded.undecided)
        self.books.agree_with(state)

    def look(self) -> None:
        """Everybody looks at the table; players see what they have staked, corrections included."""
        self.onlookers.look(self.state, self.sealed)
        self._check_not_shown(f"{self.sealed} {self.state.cards} {self.state.seats} {self.state.superseded}")
        for player in self.players:
            own = table_view(Player(player), self.state, self.sealed)["own"]
            dues = [book.due() for book in self.books.corrected_boxes() if book.player == player]
            stakes = [book.stakes for book in self.books.boxes.values() if book.player == player]
            paid = dues if self.books.choices else stakes
            assert isinstance(own, dict)
            assert own["total"] == sum(sum(amounts.values()) for amounts in paid)

    def open_command(self) -> c.OpenRound:
        """What opens the round."""
        pinned = (self.ruleset.id, self.ruleset.sha256, ENGINE)
        return c.OpenRound(self.now, "t1", 7, *pinned, self.limits, DURATIONS, "deck-3")


def _report(when: str, what: object) -> None:
    if currently_in_test_context():
        note(_Line(when, what))


class _Line:
    """A line of the report of a failure; written only when there is one."""

    def __init__(self, when: str, what: object) -> None:
        self._when = when
        self._what = what

    def __repr__(self) -> str:
        card = getattr(self._what, "card", None)
        cards = [card] if card is not None else [c for _, c in getattr(self._what, "manual_cards", ())]
        return " ".join((self._when, str(self._what), *map(card_text, cards)))
