"""A deck that deals what is asked for, while it has it: hands worth settling come up often enough."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from tests.oracle.hands import DECK, RANKS, SUITS, qualifies

Wish = tuple[str | None, str | None]  # rank, suit; None for any

# Upper case and digits are ranks, x y z are ranks chosen at random, ? is any card.
FIVE_CARDS = (
    "xx???",
    "xxyy?",
    "xxx??",
    "xxx??",
    "xxxyy",
    "xxxx?",
    "xxxxA",
    "AK???",
    "AK???",
    "AAK??",
    "KKA??",
    "xxAK?",
    "xxxAK",
    "AAAK?",
    "AAKK?",
    "AAKKx",
    "AAAKK",
    "77xx?",
    "77xx?",
    "777??",
    "777AK",
    "77xxx",
    "77AK?",
)
SIX_CARDS = (
    "xxyyzz",
    "xxxyyy",
    "xxxyyz",
    "xxxAAK",
    "xxxxyy",
    "xxxxAK",
    "xxAK??",
    "AAK???",
    "xxyyAK",
    "AAKKyy",
    "xxxAK?",
    "AAAKKK",
    "xxx???",
    "xx????",
)


class Deck:
    """What is left of a shuffled deck."""

    def __init__(self, rng: random.Random) -> None:
        """Fifty-two cards."""
        self.rng = rng
        self.left = list(DECK)
        rng.shuffle(self.left)

    def any(self, count: int) -> list[str]:
        """The next cards, whatever they are."""
        dealt, self.left = self.left[:count], self.left[count:]
        return dealt

    def take(self, wish: Wish) -> str:
        """A card of that rank and suit, else of that rank, else any."""
        rank, suit = wish
        for wanted in ((rank, suit), (rank, None), (None, None)):
            for card in self.left:
                if wanted[0] in (None, card[0]) and wanted[1] in (None, card[1]):
                    self.left.remove(card)
                    return card
        raise AssertionError("the deck is empty")

    def deal(self, wishes: Sequence[Wish]) -> list[str]:
        """The wished-for cards, in a random order; the particular wishes are served first."""
        cards = [self.take(wish) for wish in sorted(wishes, key=lambda wish: wish == (None, None))]
        self.rng.shuffle(cards)
        return cards

    def that(self, accept: Callable[[list[str]], bool]) -> list[str]:
        """Five random cards that are accepted; any five after a hundred tries."""
        tries = (self.rng.sample(self.left, 5) for _ in range(100))
        cards = next(filter(accept, tries), self.left[:5])
        for card in cards:
            self.left.remove(card)
        return cards


def no_game(deck: Deck) -> list[str]:
    """Five cards without Ace-King or better; now and then four of them in one suit or nearly in a row."""
    if deck.rng.random() < 0.8:
        return deck.that(lambda cards: not qualifies(cards))
    low = deck.rng.sample("23456789T", 4) if deck.rng.random() < 0.5 else run(deck.rng, 5)[1:]
    suit = deck.rng.choice(SUITS)
    other_suit = deck.rng.choice(SUITS.replace(suit, ""))
    return deck.deal([(rank, suit) for rank in low] + [(deck.rng.choice("JQKA"), other_suit)])


def shaped(rng: random.Random, size: int) -> list[Wish]:
    """Wishes for a hand of five or six cards that holds something, or nothing in particular."""
    chance = rng.random()
    if chance < 0.15:
        return [(None, None)] * size
    if chance < 0.35:
        return in_a_row(rng, size)
    if chance < 0.45:
        return in_one_suit(rng, size)
    letters = dict(zip("xyz", rng.sample(RANKS, 3), strict=True))
    pattern = rng.choice(FIVE_CARDS if size == 5 else SIX_CARDS)
    return [(None if letter == "?" else letters.get(letter, letter), None) for letter in pattern]


def run(rng: random.Random, length: int) -> list[str]:
    """Ranks in a row, the ace low or high."""
    ladder = "A" + RANKS
    start = rng.randint(0, len(ladder) - length)
    return list(ladder[start : start + length])


def in_a_row(rng: random.Random, size: int) -> list[Wish]:
    """A straight, often a flush as well; the sixth card continues, pairs or leaves it alone."""
    ranks = list("TJQKA") if rng.random() < 0.3 else run(rng, 5)
    suit = rng.choice([None, *SUITS])
    wishes: list[Wish] = [(rank, suit) for rank in ranks]
    if size == 6:
        longer = run(rng, 6)
        sixth: list[list[Wish]] = [
            [*wishes, (rng.choice(ranks), None)],
            [*wishes, (rng.choice("AK"), None)],
            [*wishes, (None, suit)],
            [(rank, suit) for rank in longer],
            [(longer[0], None)] + [(rank, suit) for rank in longer[1:]],
        ]
        return rng.choice(sixth)
    return wishes


def in_one_suit(rng: random.Random, size: int) -> list[Wish]:
    """A flush; the sixth card pairs one of its ranks, or is of its suit, or neither."""
    suit = rng.choice(SUITS)
    ranks = rng.sample(RANKS, 5)
    wishes: list[Wish] = [(rank, suit) for rank in ranks]
    sixth: list[Wish] = [(rng.choice(ranks), None), (None, suit), (rng.choice("AK"), None), (None, None)]
    return [*wishes, rng.choice(sixth)] if size == 6 else wishes


def like(rng: random.Random, dealer: Sequence[str]) -> list[Wish]:
    """The dealer's ranks: a tie, or one that is decided by a kicker.

    Against no game, the dealer's lower four with one of them paired, which a purchase may bring as well.
    """
    ranks = [card[0] for card in sorted(dealer, key=DECK.index)]
    if not qualifies(dealer):
        ranks = [*ranks[:4], rng.choice(ranks[:4])]
    elif rng.random() < 0.3:
        ranks[rng.randrange(5)] = rng.choice(RANKS)
    suits = {card[1] for card in dealer}
    suit = rng.choice(SUITS) if len(suits) == 1 else None
    return [(rank, suit) for rank in ranks]
