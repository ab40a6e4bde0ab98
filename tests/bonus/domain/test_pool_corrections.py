"""Corrections: as if the round had always been so, or paid by the house where another hit has followed."""

from __future__ import annotations

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
from upcard_bonus.domain.jackpot import Jackpot
from upcard_bonus.domain.jackpot_events import JackpotCorrected, JackpotHit, ShareChange
from upcard_bonus.domain.jackpot_settings import MILLION
from upcard_bonus.domain.pool_corrections import PoolRound, correct_pool, pool_round
from upcard_bonus.domain.pool_rounds import (
    SHARES_AN_EVENT,
    SettledRound,
    Stake,
    in_order,
    settle_on_pool,
)

NO = bool(0)
"""Whether a hit has followed, where events are compared whole."""


def played(state: Jackpot, one: SettledRound, place: int = 1) -> tuple[Jackpot, PoolRound]:
    events = settle_on_pool(state, one, None if state.size is None else SECRET, NEXT_SECRET)
    did = pool_round(place, events)
    assert did is not None
    assert did.change == after(state, events).pool - state.pool
    return after(state, events), did


def test_the_same_result_changes_nothing() -> None:
    state, did = played(pool_of(), settled(("p1", 100, STRAIGHT_FLUSH)))
    again = settled(("p1", 100, STRAIGHT_FLUSH))
    assert correct_pool(state, did, again, pool_then=1_000, hit_followed=False) is None


def test_a_refunded_round_takes_its_contribution_and_its_hits_back() -> None:
    state, did = played(pool_of(), settled(("p1", 105, STRAIGHT_FLUSH), ("p2", 100)))
    assert state.pool == 1_000, "filled up after the hit"
    corrected = correct_pool(state, did, settled(("p1", 0), ("p2", 0)), pool_then=1_000, hit_followed=False)
    assert corrected is not None
    (event,) = corrected.events
    assert event == JackpotCorrected(
        "j1", "op1", "EUR", "t1.1", 1, NO, 0, -102, 0, 0, 1_000, (ShareChange("p1", -102),)
    )
    assert (corrected.now.hit, corrected.now.shares, corrected.now.change) == (False, {}, 0)


def test_a_hit_that_was_none_is_paid_from_the_pool_as_it_stood() -> None:
    state, did = played(pool_of(5_000, ppm=0), settled(("p1", 100), ("p2", 100)))
    state, _ = played(state, settled(("p3", 100), name="t2.1"), 2)
    corrected = correct_pool(
        state, did, settled(("p1", 100, ROYAL), ("p2", 100)), pool_then=5_000, hit_followed=False
    )
    assert corrected is not None
    (event,) = corrected.events
    assert (event.pool_change, event.house, event.pool) == (-4_000, 1_000, 1_000)
    assert event.changes == (ShareChange("p1", 5_000),)
    assert corrected.now.seeded == 1_000


def test_where_another_hit_has_followed_the_house_funds_the_difference() -> None:
    state, did = played(pool_of(5_000), settled(("p1", 1_005, STRAIGHT_FLUSH)))
    assert state.pool == 4_590
    state, other = played(state, settled(("p9", 1_000, ROYAL), name="t2.1"), 2)
    assert state.pool == 1_000
    then = state.pool - did.change - other.change
    refund = correct_pool(state, did, settled(("p1", 0)), pool_then=then, hit_followed=True)
    assert refund is not None
    (event,) = refund.events
    assert (event.pool_change, event.house, event.contributed, event.pool) == (0, -510, 100, 1_000)
    assert event.remainder == state.remainder == 500_000, "the contribution stays, to the last millionth"
    assert event.changes == (ShareChange("p1", -510),)
    more = correct_pool(state, did, settled(("p1", 1_005, ROYAL)), pool_then=then, hit_followed=True)
    assert more is not None
    (event,) = more.events
    assert (event.pool_change, event.house, event.changes) == (0, 4_590, (ShareChange("p1", 4_590),))
    assert more.now.change == did.change, "the pool was not touched"


def test_a_seed_that_followed_its_hit_stays_too() -> None:
    state, did = played(pool_of(), settled(("p1", 1_005, STRAIGHT_FLUSH)))
    assert did.seeded == 10
    state, other = played(state, settled(("p9", 1_000, ROYAL), name="t2.1"), 2)
    then = state.pool - did.change - other.change
    refund = correct_pool(state, did, settled(("p1", 0)), pool_then=then, hit_followed=True)
    assert refund is not None
    assert (refund.now.change, refund.now.seeded, refund.now.hit) == (did.change, 10, False)


def test_a_refund_of_the_round_that_reached_the_size_takes_the_prize_back() -> None:
    state, did = played(pool_of(4_999, ppm=MILLION, must_hit_by=5_000), settled(("p1", 100), ("p2", 300)))
    assert did.size_hit
    assert did.shares == {"p1": 1_349, "p2": 4_049}
    corrected = correct_pool(state, did, settled(("p1", 0), ("p2", 0)), pool_then=4_999, hit_followed=False)
    assert corrected is not None
    (event,) = corrected.events
    assert state.pool + event.pool_change == 4_999
    assert event.house == -400 - 1_000 + 1, "contribution and seed go back; a unit had stayed in the pool"


def test_a_second_correction_goes_back_to_the_first_result() -> None:
    one = settled(("p1", 105, STRAIGHT_FLUSH), ("p2", 100))
    state, did = played(pool_of(), one)
    first = correct_pool(state, did, settled(("p1", 0), ("p2", 0)), pool_then=1_000, hit_followed=False)
    assert first is not None
    between = after(state, first.events)
    second = correct_pool(between, first.now, one, pool_then=1_000, hit_followed=False)
    assert second is not None
    assert after(between, second.events) == state
    assert second.now.corrections == 2
    assert (second.now.change, second.now.shares) == (did.change, did.shares)


def test_very_many_changes_are_several_events_each_balanced() -> None:
    number = SHARES_AN_EVENT + 3
    stakes = in_order(Stake(f"p{n:05}", 1, 10, ROYAL) for n in range(number))
    state, did = played(pool_of(10_000_000), SettledRound("t1.1", stakes, ROWS))
    nothing = tuple(Stake(one.player, 1, 0, None) for one in stakes)
    corrected = correct_pool(
        state, did, SettledRound("t1.1", nothing, ROWS), pool_then=10_000_000, hit_followed=False
    )
    assert corrected is not None
    assert [(event.part, event.parts, len(event.changes)) for event in corrected.events] == [
        (1, 2, SHARES_AN_EVENT),
        (2, 2, 3),
    ]
    for event in corrected.events:
        assert event.pool_change + sum(change.amount for change in event.changes) == event.house
    assert after(state, corrected.events).pool == 10_000_000


@given(
    st.lists(ROUNDS, min_size=1, max_size=6),
    st.integers(0, 5),
    st.booleans(),
    st.integers(0, 3_000),
    st.integers(0, MILLION),
)
def test_a_corrected_pool_is_that_of_a_history_in_which_it_always_was_so(
    rounds: list[list[Stake]],
    which: int,
    refund: bool,  # noqa: FBT001 - drawn by hypothesis
    seed: int,
    ppm: int,
) -> None:
    """Against a history that is played anew; rounds after the corrected one have no hits."""
    which %= len(rounds)
    plain = [
        [Stake(one.player, one.box, one.amount, None) for one in stakes] if place > which else stakes
        for place, stakes in enumerate(rounds)
    ]
    results = [SettledRound(f"t1.{n}", in_order(stakes), ROWS) for n, stakes in enumerate(plain)]
    new = SettledRound(
        results[which].round,
        tuple(
            Stake(one.player, one.box, 0 if refund else one.amount, None if refund else STRAIGHT_FLUSH)
            for one in results[which].stakes
        ),
        ROWS,
    )
    state = right = pool_of(seed=seed, ppm=ppm)
    won: dict[str, int] = {}
    did: dict[int, PoolRound] = {}
    for place, one in enumerate(results):
        events = settle_on_pool(state, one, None, NEXT_SECRET)
        state = after(state, events)
        if (done := pool_round(place + 1, events)) is not None:
            did[place] = done
        right = after(right, settle_on_pool(right, new if place == which else one, None, NEXT_SECRET))
    if which not in did:
        return
    then = state.pool - sum(done.change for place, done in did.items() if place >= which)
    corrected = correct_pool(state, did[which], new, pool_then=then, hit_followed=False)
    if corrected is None:
        assert state.pool == right.pool
        return
    state = after(state, corrected.events)
    assert (state.pool, state.remainder) == (right.pool, right.remainder)
    for event in settle_on_pool(Jackpot("j1", "op1", "EUR", state.settings, then), new, None, NEXT_SECRET):
        if isinstance(event, JackpotHit):
            for share in event.shares:
                won[share.player] = won.get(share.player, 0) + share.amount
    if not did[which].shares and ppm == 0:
        assert {c.player: c.amount for event in corrected.events for c in event.changes} == {
            player: amount for player, amount in won.items() if amount
        }
    assert all(
        event.pool_change + sum(change.amount for change in event.changes) == event.house
        for event in corrected.events
    )
