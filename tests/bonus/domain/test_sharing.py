"""Nothing is made or lost by a division."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from upcard_bonus.domain.jackpot_settings import MILLION
from upcard_bonus.domain.sharing import contribution, prize_of, shares_of

STAKES = st.lists(st.integers(0, 10**9), max_size=40)


@given(STAKES, st.integers(0, MILLION))
def test_contributions_sum_to_the_exact_part_of_all_stakes(stakes: list[int], ppm: int) -> None:
    total = remainder = 0
    for stake in stakes:
        amount, remainder = contribution(remainder, stake, ppm)
        assert amount >= 0
        assert 0 <= remainder < MILLION
        total += amount
    assert total * MILLION + remainder == sum(stakes) * ppm


@given(STAKES, st.integers(0, MILLION), st.randoms(use_true_random=False))
def test_taking_all_of_them_back_in_any_order_leaves_nothing(
    stakes: list[int], ppm: int, dice: object
) -> None:
    total = remainder = 0
    for stake in stakes:
        amount, remainder = contribution(remainder, stake, ppm)
        total += amount
    for stake in sorted(stakes, key=lambda _: dice.random()):  # type: ignore[attr-defined]  # a random.Random
        amount, remainder = contribution(remainder, -stake, ppm)
        total += amount
        assert total >= 0
    assert (total, remainder) == (0, 0)


@given(st.integers(0, 10**12), st.lists(st.integers(1, 10**6), min_size=1, max_size=50))
def test_shares_are_in_proportion_and_leave_less_than_one_a_winner(prize: int, stakes: list[int]) -> None:
    shares = shares_of(prize, stakes)
    assert 0 <= prize - sum(shares) < len(stakes)
    total = sum(stakes)
    assert all(
        0 <= prize * stake - share * total < total for share, stake in zip(shares, stakes, strict=True)
    )


def test_without_a_stake_nobody_gets_anything() -> None:
    assert shares_of(100, []) == []
    assert shares_of(100, [0, 0]) == [0, 0]


@given(st.integers(0, 10**12), st.integers(0, 100))
def test_a_prize_is_rounded_down(pool: int, percent: int) -> None:
    prize = prize_of(pool, percent)
    assert prize * 100 <= pool * percent < (prize + 1) * 100
