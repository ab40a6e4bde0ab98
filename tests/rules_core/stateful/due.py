"""Who has to be asked and what the platform has to choose, by the oracle's hands and the laid cards.

RULES.md sections 4.5, 4.6 and 4.8.
"""

from __future__ import annotations

from typing import Any

from rules_core.cards import card_text
from rules_core.round import events as e
from rules_core.settlement.insurance import Bounds
from tests.oracle.checks import RESERVE, final_hand, insurance_bounds, may_purchase
from tests.oracle.hands import qualifies
from tests.rules_core.stateful.houses import House
from tests.rules_core.stateful.laid import Laid
from tests.rules_core.stateful.money import Books, BoxBook

Hand = tuple[int, str]


class Due:
    """What is due in a round. Raises AssertionError at the first event that is not."""

    def __init__(self, house: House, books: Books, laid: Laid) -> None:
        self.house = house
        self.books = books
        self.laid = laid
        self.asked: set[Hand] = set()
        """Hands that a final window has asked."""
        self.offered = False

    def check(self, event: e.RoundEvent) -> None:
        """Compare an event with what is due; before the books and the cards have taken it in."""
        match event:
            case e.FinalOptionsOpened():
                asked = _hands(event.asked)
                assert asked == self._finals(event.box)
                self.asked |= asked
            case e.OptionsOpened(box=int(box)):
                assert not {hand for hand in self._finals() if hand[0] < box}, "a final option was left out"
            case e.DealerRevealed():
                assert not self._finals(), "a final option was left out"
            case e.FinalOptionChosen(by="platform"):
                self._check_default(event)
            case e.PurchaseOffered():
                assert _hands(event.asked) == self._purchases()
                assert len(self.laid.deck()) >= self._reserve()
                self.offered = True
            case e.PlayerSettled():
                served = len(self.laid.deck()) >= self._reserve()
                assert self.offered or not served or not self._purchases(), "a purchase was left out"
            case _:
                pass

    def case_of(self, book: BoxBook) -> dict[str, Any]:
        """A box as it is now, in the words of CONTRACTS.md section 1."""
        cards = {place: card_text(card) for place, card in self.laid.truth.items()}
        cap = self.books.limits[book.currency].max_payout_in(book.box)
        return book.as_case(cards, shared=self.house.ruleset.shared, cap=cap)

    def insurance(self, book: BoxBook) -> Bounds | None:
        """What may be insured, lowered by the table's own limit (RULES.md section 5, Insurance)."""
        case = self.case_of(book)
        found = insurance_bounds({"boxes": [case]}, case, self.house.rules)
        if found is None:
            return None
        least, most = found
        table_max = self.books.limits[book.currency].insurance_max
        most = most if table_max is None else min(most, table_max)
        return Bounds(least, most) if least <= most else None

    def spare_cards(self) -> int:
        """How many cards an option can buy (RULES.md section 6, last paragraph)."""
        if self.house.ruleset.shared:
            return 5
        return max(0, len(self.laid.deck()) - self._reserve())

    def _finals(self, box: int | None = None) -> set[Hand]:
        """Open boxes that passed or bought cards, or have bet and can be insured; each is asked once."""
        found: set[Hand] = set()
        for book in self.books.boxes.values():
            hand = (book.box, book.player)
            left_out = book.blind or book.option == "fold" or hand in self.asked
            if left_out or box not in {None, book.box}:
                continue
            if book.option != "bet" or self.insurance(book) is not None:
                found.add(hand)
        return found

    def _check_default(self, event: e.FinalOptionChosen) -> None:
        book = self.books.boxes[event.player, event.box]
        if book.option == "bet":
            expected = ("stand", 0)
        elif qualifies(final_hand(self.case_of(book))):
            unfunded = event.reason in {"bet_not_funded", "wallet_unavailable"}
            expected = ("fold", 0) if unfunded else ("bet", 2 * book.ante)
        else:
            expected = ("fold", 0)
        assert (event.choice, event.bet) == expected
        assert event.insurance == 0, "the platform never insures"

    def _purchases(self) -> set[Hand]:
        if self.house.ruleset.purchase is None:
            return set()
        dealer = [card_text(self.laid.truth[f"dealer.{index}"]) for index in range(5)]
        case = {"dealer": {"cards": dealer}}
        return {
            (book.box, book.player)
            for book in self.books.boxes.values()
            if may_purchase(case, self.case_of(book), self.house.rules)
        }

    def _reserve(self) -> int:
        if self.house.ruleset.purchase is None:
            return 0
        return RESERVE[self.house.rules["same_rank_redraw"]]


def _hands(groups: tuple[e.BoxPlayers, ...]) -> set[Hand]:
    return {(group.box, player) for group in groups for player in group.players}
