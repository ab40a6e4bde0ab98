"""The cards of a round as on a real table: which one, face up or down, and what is left of the deck.

The events alone must agree with it: RULES.md sections 4.2, 4.4, 4.8 and 7.
"""

from __future__ import annotations

from hashlib import sha256

from rules_core.cards import CARD_OF, DECK, Card, card_text
from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.sealed import Sealed
from rules_core.rulesets.model import Ruleset
from tests.rules_core.stateful.money import Books


class Laid:
    """What lies where. Raises AssertionError at the first event that no table could give."""

    def __init__(self, ruleset: Ruleset, books: Books) -> None:
        self.ruleset = ruleset
        self.books = books
        self.truth: dict[str, Card] = {}
        """The card in each place, also where nobody has read it."""
        self.gone: list[Card | None] = []
        """Burned cards; None for one that was not read."""
        self.lost: list[Card] = []
        """Those that were not read."""
        self.unread: set[str] = set()
        self.hidden: dict[str, str] = {}
        """Commitments not yet opened, with their places; misreads too."""
        self.hidden_cards: dict[str, str] = {}
        """The same, with their cards."""
        self.committed: set[str] = set()
        self.unconfirmed: set[str] = set()
        """Places whose cards may be read again."""
        self.sealed = Sealed()

    def deck(self) -> list[Card]:
        """The cards that can still come out."""
        out = {*self.truth.values(), *self.gone, *self.lost}
        return [card for card in DECK if card not in out]

    def read(self) -> list[Card]:
        """The cards that were read, hidden ones too, and cannot be accepted again."""
        lying = [card for place, card in self.truth.items() if place not in self.unread]
        return [*lying, *(card for card in self.gone if card is not None)]

    def face_down(self, place: str) -> bool:
        """RULES.md section 4.2 and section 7, hidden card."""
        kind, *numbers = place.split(".")
        number = int(numbers[0])
        if kind == "dealer":
            return number < 4
        if self.ruleset.shared:
            blind_box = kind == "box" and self.ruleset.box_kinds[number - 1] == "blind"
            return blind_box or kind == "switch"
        if kind == "draw":
            return False
        blind = {book.box: book.blind for book in self.books.boxes.values()}[number]
        return blind or self.ruleset.private

    def record(self, event: e.RoundEvent, command: c.Command, came: Card | None) -> None:
        """Take an event in; `came`: the card that lies there where the command does not name it."""
        match event:
            case e.CardScanned() | e.CardRescanned():
                assert isinstance(command, (c.ScanCard, c.RescanCard))
                assert (event.place in self.truth) == isinstance(event, e.CardRescanned)
                assert isinstance(event, e.CardScanned) or event.place in self.unconfirmed
                self._lay(event, command, command.card if command.card is not None else came)
                self.unconfirmed.add(event.place)
            case e.CardBurned():
                assert isinstance(command, c.BurnCard)
                assert event.card == (None if command.card is None else card_text(command.card))
                assert command.card is None or command.card not in self.read()
                if command.card is not None:
                    self._was_elsewhere(command.card)
                self.gone.append(command.card)
                if command.card is None and came is not None:
                    self.lost.append(came)
            case e.CardsRevealed() | e.DealerRevealed():
                opened = {opening.place for opening in event.openings}
                assert opened == self._opens(event)
                self.unconfirmed.clear()
                for opening in event.openings:
                    self._open(opening)
            case e.RoundSettled() | e.RoundCancelled():
                assert not self.hidden, "every card is published at the end (RULES.md section 4.9)"
                unread = set(event.unread) if isinstance(event, e.RoundCancelled) else set()
                assert self.unread == unread
                self.unconfirmed.clear()
            case e.OptionsOpened() | e.FinalOptionsOpened() | e.DealerRequalified():
                self.unconfirmed.clear()
            case _:
                pass

    def _opens(self, event: e.CardsRevealed | e.DealerRevealed) -> set[str]:
        """What is opened: RULES.md section 4.7, and everything at the end (but what nobody has read)."""
        hidden = {*self.hidden.values()} | self.unread
        if isinstance(event, e.DealerRevealed):
            return {place for place in hidden if place.startswith("dealer.")}
        if event.final:
            named = {opening.place for opening in event.openings if not opening.committed}
            return hidden - self.unread | named
        folded = {
            book.box
            for book in self.books.boxes.values()
            if self.ruleset.private and "fold" in (book.option, book.final)
        }
        boxes = {place for place in hidden if place.startswith(("box.", "replacement."))}
        return {place for place in boxes if int(place.split(".")[1]) not in folded}

    def _lay(
        self, event: e.CardScanned | e.CardRescanned, command: c.ScanCard | c.RescanCard, card: Card | None
    ) -> None:
        place, lay_open = event.place, event.place in self.truth and event.place not in self.hidden.values()
        assert card is not None
        others = [lying for where, lying in self.truth.items() if where != place and where not in self.unread]
        assert card not in (*others, *(gone for gone in self.gone if gone is not None))
        self.truth[place] = card
        if command.card is not None:
            self._was_elsewhere(card, place)
        else:
            assert event.card is None
            assert event.commitment is None
            assert command.source == "manual"
            assert self.face_down(place)
            self.unread.add(place)
            return
        shown = lay_open or (event.source == "manual" and place.startswith("switch."))
        assert (event.commitment is not None) == (self.face_down(place) and not shown)
        if event.commitment is None:
            assert event.card == card_text(card)
            return
        salt = command.card_salt or ""
        digest = sha256(bytes.fromhex(salt) + card_text(card).encode()).hexdigest()
        assert (event.card, event.commitment) == (None, digest)
        self.hidden[digest], self.hidden_cards[digest] = place, card_text(card)
        self.committed.add(digest)
        self.sealed.add(card, salt)

    def _was_elsewhere(self, card: Card, place: str = "") -> None:
        """A card that is read here lies nowhere else: what nobody has read there was another one."""
        for where in self.unread - {place}:
            if self.truth[where] == card:
                self.truth[where] = self.deck()[0]
        self.lost = [lost if lost != card else self.deck()[0] for lost in self.lost]

    def _open(self, opening: e.CardOpening) -> None:
        """Every card that was read face down is opened, and only by what it was committed with."""
        place = opening.place
        if not opening.committed:
            self.unread.remove(place)
            self.truth[place] = CARD_OF[opening.card]
            self._was_elsewhere(self.truth[place], place)
            return
        assert self.hidden.pop(opening.commitment or "") == place
        assert self.hidden_cards.pop(opening.commitment or "") == opening.card
        if not opening.superseded:
            assert card_text(self.truth[place]) == opening.card
