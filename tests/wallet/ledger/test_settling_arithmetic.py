"""Whatever the lines, holds and balances: nothing is made, nothing is lost, nobody is paid twice."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from upcard_wallet.domain.settling import (
    Available,
    FreeBetResult,
    Leg,
    Result,
    Standing,
    match_holds,
    result_of,
    settle_again,
    settle_first,
)

AMOUNTS = st.integers(0, 1_000)
FREE_BETS = ("f1", "f2")


@dataclass(frozen=True)
class ALine:
    wager: str
    stake: int
    returned: int
    funding: str | None


@dataclass(frozen=True)
class AHold:
    amount: int


LINES = st.lists(
    st.builds(ALine, st.just("ante"), st.integers(1, 1_000), AMOUNTS, st.sampled_from((None, *FREE_BETS)))
    | st.integers(1, 1_000).map(lambda stake: ALine("ante", stake, stake, "f1")),
    max_size=8,
)
RESULTS = LINES.map(result_of)


def total(legs: list[Leg]) -> Counter[tuple[str, str | None]]:
    sums: Counter[tuple[str, str | None]] = Counter()
    for leg in legs:
        sums[leg.role, leg.free_bet] += leg.amount
    return sums


def test_lines_of_cash_and_of_free_bets() -> None:
    lines = [
        ALine("ante", 10, 20, None),
        ALine("bet", 20, 0, None),
        ALine("ante", 10, 30, "f1"),  # won: pays the win alone
        ALine("bonus_player", 5, 5, "f1"),  # the stake comes back: to the free bet
        ALine("bonus_dealer", 5, 3, "f2"),  # less than the stake: nothing
    ]
    assert result_of(lines) == Result(30, 40, {"f1": FreeBetResult(15, 5), "f2": FreeBetResult(5, 0)})


@given(LINES, AMOUNTS)
def test_a_first_settlement_sums_to_zero(lines: list[ALine], missing: int) -> None:
    result = result_of(lines)
    held = max(0, result.all_staked - missing)
    legs = settle_first(result, held)
    assert sum(leg.amount for leg in legs) == 0
    sums = total(legs)
    assert sums["held", None] == -held
    assert sums["cash", None] == result.paid >= 0
    assert sums["house", None] == result.all_staked - result.all_paid
    assert sums["suspense", None] == held - result.all_staked <= 0


@settings(max_examples=400)
@given(
    st.lists(RESULTS, min_size=2, max_size=6),
    st.lists(st.tuples(AMOUNTS, AMOUNTS, AMOUNTS), min_size=6, max_size=6),
    st.sampled_from(("limited", "unlimited")),
)
def test_revisions_conserve_money_and_end_where_the_last_one_says(
    results: list[Result], spent: list[tuple[int, int, int]], purse: str
) -> None:
    """Between revisions the player spends whatever is there; at the end everything is explained."""
    limited = purse == "limited"
    books: Counter[tuple[str, str | None]] = Counter({("cash", None): 500, ("promo", "f1"): 50})
    first = results[0]
    books["held", None] = first.all_staked
    began = Counter(books)
    books.update(total(settle_first(first, first.all_staked)))
    standing = Standing(first)
    gone: Counter[tuple[str, str | None]] = Counter()
    for result, (cash, one, other) in zip(results[1:], spent, strict=False):
        for key, wanted in ((("cash", None), cash), (("promo", "f1"), one), (("promo", "f2"), other)):
            taken = min(wanted, max(0, books[key]))
            books[key] -= taken
            gone[key] += taken
        available = Available(
            books["cash", None] if limited else None,
            {name: books["promo", name] for name in FREE_BETS},
            -books["receivable", None],
        )
        revision = settle_again(standing, result, available)
        standing = Standing.of_json(revision.standing.as_json())
        assert standing == revision.standing
        assert sum(leg.amount for leg in revision.legs) == 0
        books.update(total(list(revision.legs)))
        assert books["receivable", None] <= 0
        assert all(books["promo", name] >= 0 for name in FREE_BETS)
        assert not limited or books["cash", None] >= 0
        assert standing.owed == -books["receivable", None] >= 0
        assert limited or standing.owed == 0
    last = results[-1]
    forgone = sum(standing.forgone.values())
    assert books["house", None] == last.all_staked - last.all_paid - forgone
    # Cash and debt together are what the last revision says, whatever was spent in between. Stakes of the
    # first revision were held; later ones come from cash.
    worth = books["cash", None] + books["receivable", None] + gone["cash", None] - began["cash", None]
    assert worth == last.paid - (last.staked - first.staked)
    for name in FREE_BETS:
        now, then = last.free_bets.get(name), first.free_bets.get(name)
        change = (now.back - now.staked if now else 0) + (then.staked if then else 0)
        promo = books["promo", name] + gone["promo", name] - began["promo", name]
        assert promo == change + standing.forgone.get(name, 0)


def test_what_was_written_off_is_not_paid_back() -> None:
    before = Standing(Result(10, 0), owed=50)
    revision = settle_again(before, Result(10, 60), Available(0, {}, owed=20))
    assert total(list(revision.legs))["receivable", None] == 20
    assert revision.owed_more == -20


@given(st.integers(0, 60), st.lists(st.integers(1, 30).map(AHold), max_size=7))
def test_holds_of_a_stake_are_whole_and_never_more_than_it(stake: int, holds: list[AHold]) -> None:
    chosen, sum_ = match_holds(stake, holds)
    assert sum_ == sum(hold.amount for hold in chosen) <= max(stake, 0)
    assert not Counter(chosen) - Counter(holds)
    best = max(
        (
            subset
            for size in range(2 ** len(holds))
            if (subset := sum(hold.amount for place, hold in enumerate(holds) if size >> place & 1)) <= stake
        ),
        default=0,
    )
    assert sum_ == best


def test_very_many_holds_of_one_stake_are_taken_in_their_order() -> None:
    chosen, sum_ = match_holds(20, [AHold(3)] * 40)
    assert (len(chosen), sum_) == (6, 18)
