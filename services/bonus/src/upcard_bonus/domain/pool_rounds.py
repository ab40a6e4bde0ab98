"""What a settled round does to a pool: it contributes, it may win, and the pool is filled up again.

RULES.md section 6: a share is one of the pool as it stands after the round's contribution; all boxes with the
same share are one hit; lower hands are paid first, the highest from what is left. A pool that has reached its
secret size is paid out last, to all stakes on B of the round that brought it there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from rules_core.rulesets.model import BonusRow
from upcard_bonus.domain.jackpot import Jackpot, evolve
from upcard_bonus.domain.jackpot_events import (
    HitKind,
    JackpotContributed,
    JackpotEvent,
    JackpotHit,
    JackpotSeeded,
    JackpotShare,
)
from upcard_bonus.domain.jackpot_settings import begin_cycle
from upcard_bonus.domain.secret_size import opening_of, threshold_of
from upcard_bonus.domain.sharing import contribution, prize_of, shares_of

SHARES_AN_EVENT: Final = 1_000
"""Most shares of one event, which keeps it far below the largest size of one."""

WHOLE: Final = 100
"""Percent."""


@dataclass(frozen=True, slots=True)
class Stake:
    """One box's stake on B in a settled round, in the jackpot's currency."""

    player: str
    box: int
    amount: int
    """Minor units; of a refunded one 0."""
    share_percent: int | None
    """What it wins of the pool; None: nothing, as of every refunded one."""


@dataclass(frozen=True, slots=True)
class Won:
    """One hit before it is an event."""

    kind: HitKind
    hand: str | None
    share_percent: int
    prize: int
    stakes: int
    shares: tuple[JackpotShare, ...]

    @property
    def paid(self) -> int:
        """The sum of the shares."""
        return sum(share.amount for share in self.shares)


@dataclass(frozen=True, slots=True)
class SettledRound:
    """A round as far as pools go."""

    round: str
    stakes: tuple[Stake, ...]
    rows: tuple[BonusRow, ...]
    """The ruleset's table of bonus B, from its top."""

    @property
    def staked(self) -> int:
        """All stakes on B."""
        return sum(stake.amount for stake in self.stakes)


def in_order(stakes: Iterable[Stake]) -> tuple[Stake, ...]:
    """In the order of players and boxes."""
    return tuple(sorted(stakes, key=lambda one: (one.player, one.box)))


def hits_of(pool: int, settled: SettledRound) -> list[Won]:
    """The hits by hands, in the order in which they are paid, of a pool that has the round's contribution."""
    hits = []
    for share_percent, hand in _shares(settled.rows):
        winners = [one for one in settled.stakes if one.share_percent == share_percent]
        if winners:
            hit = _won("hand", hand, share_percent, pool, winners)
            pool -= hit.paid
            hits.append(hit)
    return hits


def hit_of_size(pool: int, settled: SettledRound) -> Won:
    """The whole pool, to everybody who had staked on B."""
    return _won("must_hit_by", None, WHOLE, pool, [one for one in settled.stakes if one.amount])


def settle_on_pool(
    state: Jackpot, settled: SettledRound, secret: bytes | None, new_secret: bytes
) -> tuple[JackpotEvent, ...]:
    """Everything that a settled round does to a pool; nothing without a stake on B.

    `secret`: of this cycle, None where it has no secret size. `new_secret`: 32 random bytes for the next one.
    """
    if settled.staked == 0:
        return ()
    ppm = state.settings.contribution_ppm
    added = contribution(state.remainder, settled.staked, ppm)
    contributed = JackpotContributed(
        state.jackpot,
        state.operator,
        state.currency,
        settled.round,
        added.amount,
        settled.staked,
        ppm,
        added.remainder,
        state.pool + added.amount,
    )
    state = evolve(state, contributed)
    reached = (
        state.size is not None
        and secret is not None
        and state.pool >= threshold_of(secret, state.size.above, state.size.up_to)
    )
    hits = hits_of(state.pool, settled)
    ends = any(hit.share_percent == WHOLE for hit in hits)
    if reached and not ends:
        hits.append(hit_of_size(state.pool - sum(hit.paid for hit in hits), settled))
        ends = True
    events: list[JackpotEvent] = [contributed]
    for place, hit in enumerate(hits):
        last = ends and place == len(hits) - 1
        for event in hit_events(state, settled.round, hit, secret if last else None):
            events.append(event)
            state = evolve(state, event)
    if hits:
        events += _seeded(state, settled.round, new_secret, new_cycle=ends)
    return tuple(events)


def hit_events(state: Jackpot, round_name: str, hit: Won, secret: bytes | None) -> list[JackpotHit]:
    """A hit as events; `secret` where it ends a cycle that has a secret size."""
    opening = None if secret is None or state.size is None else opening_of(secret, state.size)
    parts = list(chunks(hit.shares))
    pool = state.pool
    events = []
    for number, shares in enumerate(parts, start=1):
        paid = sum(share.amount for share in shares)
        pool -= paid
        events.append(
            JackpotHit(
                state.jackpot,
                state.operator,
                state.currency,
                round_name,
                hit.kind,
                hit.hand,
                hit.share_percent,
                hit.prize,
                hit.stakes,
                paid,
                pool,
                shares,
                opening if number == len(parts) else None,
                number,
                len(parts),
            )
        )
    return events


def chunks(shares: Sequence[JackpotShare]) -> Iterable[tuple[JackpotShare, ...]]:
    """Shares in parts that fit into one event."""
    for start in range(0, len(shares), SHARES_AN_EVENT):
        yield tuple(shares[start : start + SHARES_AN_EVENT])


def missing_seed(state: Jackpot) -> int:
    """What a pool lacks of its seed after a hit; 0 where it is not filled up."""
    return max(0, state.settings.seed - state.pool) if state.settings.reseed else 0


def _seeded(state: Jackpot, round_name: str, secret: bytes, *, new_cycle: bool) -> list[JackpotEvent]:
    amount = missing_seed(state)
    if new_cycle:
        return [begin_cycle(state, round_name, secret, amount=amount)]
    if not amount:
        return []
    seeded = JackpotSeeded(
        state.jackpot,
        state.operator,
        state.currency,
        amount,
        state.pool + amount,
        state.cycle,
        "refilled",
        round_name,
    )
    return [seeded]


def _shares(rows: Sequence[BonusRow]) -> list[tuple[int, str]]:
    """The shares that can be won, lowest hand first, with the hand; rows of one share are one hit."""
    found: dict[int, str] = {}
    for row in reversed(rows):
        if row.jackpot_share_percent is not None:
            found.setdefault(row.jackpot_share_percent, row.hand)
    return list(found.items())


def _won(kind: HitKind, hand: str | None, share_percent: int, pool: int, winners: list[Stake]) -> Won:
    prize = prize_of(pool, share_percent)
    amounts = shares_of(prize, [one.amount for one in winners])
    shares = tuple(
        JackpotShare(one.player, one.box, one.amount, amount)
        for one, amount in zip(winners, amounts, strict=True)
    )
    return Won(kind, hand, share_percent, prize, sum(one.amount for one in winners), shares)
