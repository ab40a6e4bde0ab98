"""The reference wallet's book, whatever is asked of it."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upcard_conformance.reference.book import Answer, Book, Kind, Movement, Order

MONEY = 300
IDS = st.sampled_from("abcdef")
ORDERS = st.builds(
    lambda kind, ids, amount: Order(
        kind, "p1", "EUR", "t1.1", tuple(Movement(one, amount) for one in sorted(ids))
    ),
    st.sampled_from(get_args(Kind)),
    st.sets(IDS, min_size=1, max_size=3),
    st.sampled_from([100, 200]),
)


@given(st.lists(ORDERS, max_size=25))
def test_money_is_conserved_and_repeats_change_nothing(orders: list[Order]) -> None:
    book = Book(":memory:")
    book.open("p1", "EUR", MONEY)
    try:
        for order in orders:
            before = book.balance_of("p1", "EUR")
            answer = book.carry_out(order)
            after = book.balance_of("p1", "EUR")
            assert answer.balance == after
            assert after is not None
            assert after >= 0
            assert after == MONEY - book.owed("EUR")
            if answer.reason is not None or answer.repeated:
                assert after == before
            again = book.carry_out(order)
            assert book.balance_of("p1", "EUR") == after, "what comes twice moves once"
            assert again.reason == answer.reason
            assert again.reason is not None or again.repeated
    finally:
        book.close()


@given(st.lists(ORDERS, max_size=15), ORDERS)
def test_what_was_rolled_back_never_stands_again(orders: list[Order], last: Order) -> None:
    book = Book(":memory:")
    book.open("p1", "EUR", MONEY)
    try:
        gone: set[str] = set()
        for order in [*orders, last]:
            answer = book.carry_out(order)
            if order.kind == "rollback" and answer.reason in {None, "unknown"}:
                gone |= {one.id for one in order.movements}
            assert not gone & {one.id for one in book.movements() if one.state == "done"}
    finally:
        book.close()


@pytest.mark.parametrize("kind", get_args(Kind))
def test_nothing_is_done_for_whom_it_does_not_know(tmp_path: Path, kind: Kind) -> None:
    book = Book(tmp_path / "book.db")
    book.open("p1", "EUR", MONEY)
    a = (Movement("a", 100),)
    assert book.carry_out(Order(kind, "p2", "EUR", None, a)) == Answer("player", None)
    assert book.carry_out(Order(kind, "p1", "USD", None, a)) == Answer("currency", None)
    assert book.movements() == []
    book.close()


def test_two_programs_may_share_a_file(tmp_path: Path) -> None:
    one, other = Book(tmp_path / "book.db"), Book(tmp_path / "book.db")
    one.open("p1", "EUR", MONEY)
    order = Order("bet", "p1", "EUR", "t1.1", (Movement("a", 100),))
    assert one.carry_out(order) == Answer(None, 200)
    assert other.carry_out(order) == Answer(None, 200, repeated=True)
    one.close()
    other.close()


def test_players_are_opened_once(tmp_path: Path) -> None:
    book = Book(tmp_path / "book.db")
    book.open("p1", "EUR", MONEY)
    book.open("p1", "EUR", 5)
    assert book.balance_of("p1", "EUR") == MONEY
    book.close()
