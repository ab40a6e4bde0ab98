"""Cards and their texts (CONTRACTS.md section 1: rank `23456789TJQKA` and suit `cdhs`)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_core.cards import (
    ACE,
    CARD_OF,
    CARD_TEXTS,
    DECK,
    KING,
    RANKS,
    SUITS,
    InvalidCard,
    card_text,
    parse_card,
    parse_cards,
    rank_of,
    suit_of,
)


def test_a_deck_is_every_rank_in_every_suit_once() -> None:
    assert list(DECK) == list(range(52))
    assert sorted(map(card_text, DECK)) == sorted(rank + suit for rank in RANKS for suit in SUITS)
    assert {(rank_of(card), suit_of(card)) for card in DECK} == {
        (rank, suit) for rank in range(13) for suit in range(4)
    }


def test_a_card_is_numbered_by_rank_then_suit() -> None:
    assert (RANKS, SUITS) == ("23456789TJQKA", "cdhs")
    assert [parse_card(text) for text in ("2c", "2d", "2h", "2s", "3c", "As")] == [0, 1, 2, 3, 4, 51]


@pytest.mark.parametrize("card", DECK)
def test_text_and_card_are_each_others_inverse(card: int) -> None:
    text = CARD_TEXTS[card]
    assert parse_card(text) == CARD_OF[text] == card
    assert text == RANKS[rank_of(DECK[card])] + SUITS[suit_of(DECK[card])]


def test_ace_and_king_are_the_two_highest_ranks() -> None:
    assert (RANKS[ACE], RANKS[KING]) == ("A", "K")
    assert (rank_of(parse_card("Ad")), rank_of(parse_card("Kd"))) == (ACE, KING)


@pytest.mark.parametrize("text", ["", "A", "ah", "AH", "1h", "10h", "Ax", "hA", " Ah", "Ah ", "A♥", "Ahh"])
def test_any_other_text_is_refused(text: str) -> None:
    with pytest.raises(InvalidCard) as caught:
        parse_card(text)
    assert caught.value.text == text
    assert isinstance(caught.value, ValueError)


@given(st.text())
def test_only_the_52_texts_are_cards(text: str) -> None:
    if text in CARD_TEXTS:
        assert card_text(parse_card(text)) == text
    else:
        with pytest.raises(InvalidCard):
            parse_card(text)


def test_the_message_shows_what_was_given() -> None:
    with pytest.raises(InvalidCard, match=r"^'10h' is not a card: a rank of 2\w+A and a suit of cdhs are"):
        parse_card("10h")


def test_the_message_stays_short_for_a_long_text() -> None:
    with pytest.raises(InvalidCard, match=r"^'xxxxxxxxxxxx'… is not a card") as caught:
        parse_card("x" * 1_000_000)
    assert len(str(caught.value)) < 100


@pytest.mark.parametrize("text", ["Ah Ad Kc 7s 3d", "  Ah\tAd Kc\n7s 3d "])
def test_cards_are_written_with_white_space_between(text: str) -> None:
    assert [card_text(card) for card in parse_cards(text)] == ["Ah", "Ad", "Kc", "7s", "3d"]


@pytest.mark.parametrize("text", ["", " \n"])
def test_a_blank_text_holds_no_cards(text: str) -> None:
    assert parse_cards(text) == ()


def test_the_first_word_that_is_no_card_is_named() -> None:
    with pytest.raises(InvalidCard) as caught:
        parse_cards("Ah Ad Zc 7s Xx")
    assert caught.value.text == "Zc"
