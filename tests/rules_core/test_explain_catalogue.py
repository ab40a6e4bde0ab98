"""The words: a sentence for every reason, none without use, and room for another language."""

from __future__ import annotations

from dataclasses import replace
from string import Formatter

import pytest

from rules_core.cards import DECK, parse_cards
from rules_core.explain import ENGLISH, Explanation, Sentence, Unit, line_of, text_of
from rules_core.explain.comparison import OWN_CARDS, best_holding, compared
from rules_core.explain.sentence import Holding, Wager, sentence
from rules_core.hands import HAND_NAMES, evaluate
from rules_core.settlement.model import WAGER_ORDER
from rules_core.settlement.reasons import REASONS
from tests.rules_core.explained import CASES, explained, explained_refund

UNIT_SENTENCE = "amounts_in_minor_units"


def sentences(explanation: Explanation) -> list[Sentence]:
    """Everything that an explanation says."""
    boxes = [said for box in explanation.boxes for said in (box.heading, *box.sentences)]
    return [*explanation.table, *boxes]


def everything_said() -> list[Sentence]:
    explanations = [*map(explained, CASES), explained_refund("free bets")]
    return [said for explanation in explanations for said in sentences(explanation)]


@pytest.mark.parametrize("reason", REASONS)
def test_every_reason_has_a_sentence(reason: str) -> None:
    assert ENGLISH.sentences[reason]


def test_every_reason_is_said_and_no_sentence_is_without_use() -> None:
    assert {said.slug for said in everything_said()} | {UNIT_SENTENCE} == set(ENGLISH.sentences)


def test_a_sentence_speaks_only_of_values_that_it_is_given() -> None:
    for said in everything_said():
        fields = {field for _, field, _, _ in Formatter().parse(ENGLISH.sentences[said.slug]) if field}
        assert fields <= set(said.values), said.slug


def test_another_language_is_another_catalogue() -> None:
    shouting = replace(
        ENGLISH,
        sentences={slug: bare(slug) for slug in ENGLISH.sentences},
        holding=lambda holding: holding.name.upper(),
        card=lambda card: f"<{card}>",
        listed="+".join,
        amount=lambda minor, unit: f"{minor}/{unit.scale}",
    )
    text = text_of(explained("a cap without insurance"), shouting, Unit(2))
    assert text.splitlines() == [
        "live-shared@1 Live shared table",
        "<43>+<41>+<28>+<14>+<0> ONE_PAIR",
        "",
        "2 p1",
        "<31>+<30>+<29>+<8>+<1>",
        "chose_bet",
        "<31>+<30>+<29>+<8>+<1> THREE_OF_A_KIND",
        "THREE_OF_A_KIND 3",
        "THREE_OF_A_KIND ONE_PAIR",
        "kickers_pay_nothing",
        "100/2",
        "200/2 3 600/2 450/2 450/2 650/2",
        "300/2 750/2 450/2",
    ]


def bare(slug: str) -> str:
    """A template of nothing but the values of the English one; its slug where there are none."""
    fields = [f"{{{field}}}" for _, field, _, _ in Formatter().parse(ENGLISH.sentences[slug]) if field]
    return " ".join(fields) or slug


def test_every_card_has_a_name_of_its_own() -> None:
    names = [ENGLISH.card(card) for card in DECK]
    assert len(set(names)) == 52
    assert (names[0], names[33], names[51]) == ("2♣", "10♦", "A♠")


def test_every_wager_has_a_name() -> None:
    names = [
        line_of(sentence("refunded", wager=Wager(name), stake=1), ENGLISH, Unit()) for name in WAGER_ORDER
    ]
    assert names == [
        "Ante of 1: refunded.",
        "Bet of 1: refunded.",
        "Price of the option of 1: refunded.",
        "Insurance of 1: refunded.",
        "Price of the dealer's new card of 1: refunded.",
        "Bonus B of 1: refunded.",
        "Bonus D of 1: refunded.",
    ]


HANDS = [
    ("royal_flush", "As Ks Qs Js Ts", "a royal flush"),
    ("straight_flush", "5s 4s 3s 2s As", "a straight flush, five high"),
    ("four_of_a_kind", "6s 6h 6d 6c 2d", "four of a kind, sixes"),
    ("full_house", "9s 9h 9d 4c 4d", "a full house, nines over fours"),
    ("flush", "Ks Js 9s 6s 2s", "a flush, king high"),
    ("straight", "Ts 9h 8d 7c 6d", "a straight, ten high"),
    ("three_of_a_kind", "2s 2h 2d Kc 4d", "three of a kind, twos"),
    ("two_pair", "As Ah Kd Kc 4d", "two pair, aces and kings"),
    ("one_pair", "9s 9h Kd 7c 4d", "a pair of nines"),
    ("ace_king", "As Kh 9d 7c 4d", "ace-king"),
    ("nothing", "Qs Jh 9d 7c 4d", "no combination, queen high"),
]


@pytest.mark.parametrize(("name", "cards", "words"), HANDS)
def test_every_hand_in_words(name: str, cards: str, words: str) -> None:
    hand = evaluate(parse_cards(cards))
    assert (hand.best, ENGLISH.holding(best_holding(hand))) == (name, words)
    if hand.combinations:
        assert ENGLISH.holding(Holding(hand.combinations[0], hand.combination_ranks[0])) == words


def test_every_hand_is_known() -> None:
    assert [name for name, _, _ in HANDS] == list(HAND_NAMES) == list(OWN_CARDS)


DIFFERS = "decides: {} in the box, {} at the dealer. "
KICKER = "Box and dealer both hold {}. The highest kicker that differs " + DIFFERS
FLUSH = "Box and dealer both hold a flush. The highest card that differs " + DIFFERS
BOX_WINS, DEALER_WINS = "The box wins.", "The dealer wins."


@pytest.mark.parametrize(
    ("box", "dealer", "says"),
    [
        ("9s 9h Kd 7c 4d", "8s 8h Ad 7d 4h", "The box wins: a pair of nines, against a pair of eights."),
        ("As Kh 9d 7c 4d", "2s 2h 9h 7d 4h", "The dealer wins: a pair of twos, against ace-king."),
        (
            "As Ah 9d 9c 4d",
            "Ac Ad 8s 8h Kd",
            "The box wins: two pair, aces and nines, against two pair, aces and eights.",
        ),
        (
            "9s 9h 9d 4c 4d",
            "9s 9h 9d 5c 5d",
            "The dealer wins: a full house, nines over fives, against a full house, nines over fours.",
        ),
        ("As Kh 9d 7c 5d", "Ac Kd 9h 7d 4h", KICKER.format("ace-king", "five", "four") + BOX_WINS),
        (
            "As Ah 9d 9c 4d",
            "Ac Ad 9s 9h Kd",
            KICKER.format("two pair, aces and nines", "four", "king") + DEALER_WINS,
        ),
        (
            "6s 6h 6d 6c Ad",
            "6s 6h 6d 6c 2d",
            KICKER.format("four of a kind, sixes", "ace", "two") + BOX_WINS,
        ),
        ("Ks Js 9s 6s 2s", "Kh Jh 9h 6h 3h", FLUSH.format("two", "three") + DEALER_WINS),
        ("Ts 9h 8d 7c 6d", "Td 9s 8h 7d 6c", "Box and dealer both hold a straight, ten high: a tie."),
        (
            "9s 9h Kd 7c 4d 2s",
            "9d 9c Ks 7d 4h",
            "Box and dealer both hold a pair of nines, and their kickers are equal too: a tie.",
        ),
    ],
)
def test_what_decides_between_two_hands(box: str, dealer: str, says: str) -> None:
    said = compared(evaluate(parse_cards(box)), evaluate(parse_cards(dealer)))
    assert line_of(said, ENGLISH, Unit()) == says
