"""What settled rounds do to a pool (RULES.md section 6, progressive jackpot)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.bonus.domain.pools import (
    NEXT_SECRET,
    ROUNDS,
    ROWS,
    ROYAL,
    SECRET,
    STRAIGHT_FLUSH,
    after,
    pool_of,
    settled,
)
from upcard_bonus.domain.jackpot_events import (
    JackpotContributed,
    JackpotHit,
    JackpotSeeded,
    JackpotShare,
    SecretSize,
)
from upcard_bonus.domain.jackpot_settings import MILLION
from upcard_bonus.domain.pool_rounds import (
    SHARES_AN_EVENT,
    SettledRound,
    Stake,
    in_order,
    settle_on_pool,
)
from upcard_bonus.domain.secret_size import proves, secret_size, threshold_of


def test_without_a_stake_on_b_nothing_happens() -> None:
    assert settle_on_pool(pool_of(), settled(), None, NEXT_SECRET) == ()


def test_a_round_contributes_once_and_what_is_no_whole_unit_is_carried() -> None:
    state = pool_of(ppm=12_345)
    events = settle_on_pool(state, settled(("p1", 100), ("p2", 50)), None, NEXT_SECRET)
    assert events == (JackpotContributed("j1", "op1", "EUR", "t1.1", 1, 150, 12_345, 851_750, 1_001),)
    state = after(state, events)
    (again,) = settle_on_pool(state, settled(("p1", 100), name="t1.2"), None, NEXT_SECRET)
    assert isinstance(again, JackpotContributed)
    assert (again.amount, again.remainder) == divmod(851_750 + 100 * 12_345, MILLION)


def test_all_straight_flushes_are_one_hit_paid_first_then_the_royals_from_what_is_left() -> None:
    state = pool_of(10_000)
    one = settled(
        ("p1", 100, STRAIGHT_FLUSH), ("p2", 200, STRAIGHT_FLUSH), ("p3", 100, ROYAL), ("p4", 100), name="t1.9"
    )
    contributed, straight, royal, seeded = settle_on_pool(state, one, None, NEXT_SECRET)
    assert isinstance(contributed, JackpotContributed)
    assert contributed.pool == 10_050
    assert straight == JackpotHit(
        "j1", "op1", "EUR", "t1.9", "hand", "straight_flush", 10, 1_005, 300, 1_005, 9_045,
        (JackpotShare("p1", 1, 100, 335), JackpotShare("p2", 2, 200, 670)),
    )  # fmt: skip
    assert royal == JackpotHit(
        "j1", "op1", "EUR", "t1.9", "hand", "royal_flush", 100, 9_045, 100, 9_045, 0,
        (JackpotShare("p3", 3, 100, 9_045),),
    )  # fmt: skip
    assert seeded == JackpotSeeded("j1", "op1", "EUR", 1_000, 1_000, 2, "new_cycle", "t1.9")


def test_what_shares_leave_stays_in_the_pool() -> None:
    one = settled(("p1", 1, STRAIGHT_FLUSH), ("p2", 1, STRAIGHT_FLUSH), ("p3", 1, STRAIGHT_FLUSH))
    _, hit = settle_on_pool(pool_of(10_007, ppm=0), one, None, NEXT_SECRET)
    assert isinstance(hit, JackpotHit)
    assert (hit.prize, [share.amount for share in hit.shares], hit.pool) == (1_000, [333, 333, 333], 9_008)


def test_a_pool_below_its_seed_is_filled_up_only_where_that_is_set() -> None:
    one = settled(("p1", 100, STRAIGHT_FLUSH))
    events = settle_on_pool(pool_of(ppm=0), one, None, NEXT_SECRET)
    assert events[-1] == JackpotSeeded("j1", "op1", "EUR", 100, 1_000, 1, "refilled", "t1.1")
    events = settle_on_pool(pool_of(ppm=0, reseed=False), one, None, NEXT_SECRET)
    assert isinstance(events[-1], JackpotHit)
    assert events[-1].pool == 900


def test_a_secret_size_that_is_reached_pays_the_whole_pool_to_everyone_who_staked() -> None:
    state = pool_of(seed=1_000, ppm=MILLION, must_hit_by=5_000)
    assert state.size == secret_size(SECRET, 1_000, 5_000)
    size = threshold_of(SECRET, 1_000, 5_000)
    quiet = settle_on_pool(state, settled(("p1", size - 1_004)), SECRET, NEXT_SECRET)
    assert [type(event) for event in quiet] == [JackpotContributed]
    state = after(state, quiet)
    contributed, hit, seeded = settle_on_pool(state, settled(("p1", 1), ("p2", 3)), SECRET, NEXT_SECRET)
    assert isinstance(contributed, JackpotContributed)
    assert isinstance(hit, JackpotHit)
    assert contributed.pool == size, "exactly: it is paid at its size, not above it"
    assert (hit.kind, hit.hand, hit.share_percent, hit.prize) == ("must_hit_by", None, 100, contributed.pool)
    assert [share.amount for share in hit.shares] == [hit.prize // 4, hit.prize * 3 // 4]
    assert hit.opening is not None
    assert state.size is not None
    assert proves(hit.opening, state.size)
    assert isinstance(seeded, JackpotSeeded)
    assert (seeded.cycle, seeded.why) == (2, "new_cycle")
    assert seeded.secret_size == secret_size(NEXT_SECRET, seeded.pool, 5_000)


def test_hands_are_paid_before_the_size_and_a_whole_pool_is_paid_once() -> None:
    state = pool_of(4_999, ppm=MILLION, must_hit_by=5_000)
    one = settled(("p1", 10, STRAIGHT_FLUSH), ("p2", 10))
    _, straight, rest, _ = settle_on_pool(state, one, SECRET, NEXT_SECRET)
    assert isinstance(straight, JackpotHit)
    assert isinstance(rest, JackpotHit)
    assert (straight.kind, straight.opening, rest.kind) == ("hand", None, "must_hit_by")
    assert rest.prize == straight.pool
    _, royal, seeded = settle_on_pool(state, settled(("p1", 10, ROYAL), ("p2", 10)), SECRET, NEXT_SECRET)
    assert isinstance(royal, JackpotHit)
    assert (royal.hand, royal.pool) == ("royal_flush", 0)
    assert royal.opening is not None, "a cycle that ends is opened whatever ended it"
    assert isinstance(seeded, JackpotSeeded)


def test_a_hit_of_very_many_is_several_events_that_sum_to_it() -> None:
    number = 2 * SHARES_AN_EVENT + 7
    stakes = in_order(Stake(f"p{n:05}", 1, 1 + n % 3, ROYAL) for n in range(number))
    state = pool_of(10_000_000, ppm=0)
    events = settle_on_pool(state, SettledRound("t1.1", stakes, ROWS), None, NEXT_SECRET)
    hits = [event for event in events if isinstance(event, JackpotHit)]
    assert [(hit.part, hit.parts, len(hit.shares)) for hit in hits] == [
        (1, 3, 1_000),
        (2, 3, 1_000),
        (3, 3, 7),
    ]
    assert sum(hit.paid for hit in hits) == 10_000_000 - hits[-1].pool
    assert [share.player for hit in hits for share in hit.shares] == [one.player for one in stakes]


@given(
    st.lists(ROUNDS, max_size=8),
    st.integers(0, 3_000),
    st.integers(0, MILLION),
    st.booleans(),
    st.one_of(st.none(), st.integers(1, 5_000)),
)
def test_the_pool_is_what_was_put_in_less_what_was_paid(
    rounds: list[list[Stake]],
    seed: int,
    ppm: int,
    reseed: bool,  # noqa: FBT001 - drawn by hypothesis
    above_seed: int | None,
) -> None:
    must_hit_by = None if above_seed is None else seed + above_seed
    state = pool_of(seed=seed, ppm=ppm, must_hit_by=must_hit_by, reseed=reseed or above_seed is not None)
    secret, seeded, put, paid, staked = SECRET, seed, 0, 0, 0
    for number, stakes in enumerate(rounds, start=1):
        one = SettledRound(f"t1.{number}", in_order(stakes), ROWS)
        new_secret = bytes([number]) * 32
        known = secret if state.size is not None else None
        size: SecretSize | None = state.size
        events = settle_on_pool(state, one, known, new_secret)
        assert [event for event in events if isinstance(event, JackpotContributed)] == list(events[:1])
        for event in events:
            state = after(state, [event])
            assert state.pool >= 0
            match event:
                case JackpotContributed():
                    put += event.amount
                case JackpotSeeded():
                    seeded += event.amount
                    if event.secret_size is not None:
                        secret = new_secret
                case JackpotHit():
                    paid += event.paid
                    assert event.paid == sum(share.amount for share in event.shares) <= event.prize
                    if event.opening is not None:
                        assert size is not None
                        assert proves(event.opening, size)
                case _:
                    raise AssertionError(event)
        staked += one.staked
        assert state.pool == seeded + put - paid
        assert put * MILLION + state.remainder == staked * ppm
        if state.size is not None:
            reached = threshold_of(secret, state.size.above, state.size.up_to)
            assert state.pool < reached, "a pool that has reached its size is paid"


@pytest.mark.parametrize("number", [1, 3])
def test_the_cycle_counts_from_one(number: int) -> None:
    state = pool_of()
    for turn in range(1, number):
        state = after(
            state, settle_on_pool(state, settled(("p1", 1, ROYAL), name=f"t1.{turn}"), None, SECRET)
        )
    assert state.cycle == number
