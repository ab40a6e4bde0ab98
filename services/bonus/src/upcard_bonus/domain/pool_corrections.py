"""Correcting what a settled round did to a pool (ARCHITECTURE.md, Money).

Unless another round's hit has followed, the pool becomes what it would be had the round always been so; later
contributions stay as they are. If one has followed, its winners were paid from the pool as it was: this
round's contribution stays, the pool does not change, and the house funds the difference. A cycle that the
round ended stays ended: its secret is public.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from upcard_bonus.domain.jackpot import Jackpot, evolve
from upcard_bonus.domain.jackpot_events import (
    JackpotContributed,
    JackpotCorrected,
    JackpotEvent,
    JackpotHit,
    JackpotSeeded,
    ShareChange,
)
from upcard_bonus.domain.pool_rounds import (
    SHARES_AN_EVENT,
    WHOLE,
    SettledRound,
    hit_of_size,
    hits_of,
    missing_seed,
)
from upcard_bonus.domain.sharing import contribution


@dataclass(frozen=True, slots=True)
class PoolRound:
    """What a round has done to a pool so far, corrections included; amounts in minor units."""

    place: int
    """Its place among the jackpot's rounds, from 1."""
    round: str
    staked: int
    """The stakes that its contribution is made of."""
    ppm: int
    contributed: int
    from_pool: int = 0
    """What the pool has paid for its hits."""
    seeded: int = 0
    """What the house has put in after its hits."""
    hit: bool = False
    """Whether it has a hit now."""
    size_hit: bool = False
    """Whether the pool reached its secret size with it."""
    corrections: int = 0
    shares: Mapping[str, int] = field(default_factory=dict)
    """What each winner has of it, the house's part included."""

    @property
    def change(self) -> int:
        """What it has changed the pool by."""
        return self.contributed - self.from_pool + self.seeded


def pool_round(place: int, events: Iterable[JackpotEvent]) -> PoolRound | None:
    """What the events of `settle_on_pool` say of their round; None where there are none."""
    found: PoolRound | None = None
    shares: defaultdict[str, int] = defaultdict(int)
    for event in events:
        if isinstance(event, JackpotContributed):
            found = PoolRound(place, event.round, event.staked, event.contribution_ppm, event.amount)
        elif found is not None and isinstance(event, JackpotHit):
            found = replace(
                found,
                from_pool=found.from_pool + event.paid,
                hit=True,
                size_hit=found.size_hit or event.kind == "must_hit_by",
            )
            for share in event.shares:
                shares[share.player] += share.amount
        elif found is not None and isinstance(event, JackpotSeeded):
            found = replace(found, seeded=found.seeded + event.amount)
    return None if found is None else replace(found, shares=dict(shares))


@dataclass(frozen=True, slots=True)
class Corrected:
    """A correction: its events, and what the round has done now."""

    events: tuple[JackpotCorrected, ...]
    now: PoolRound


def correct_pool(
    state: Jackpot, before: PoolRound, settled: SettledRound, *, pool_then: int, hit_followed: bool
) -> Corrected | None:
    """What a corrected round does to a pool; None where nothing changes.

    `pool_then`: what was in the pool before the round, as everything else stands now.
    """
    staked = settled.staked
    added = contribution(state.remainder, 0, 0)  # nothing: the remainder as it is
    if not hit_followed:
        added = contribution(state.remainder, staked - before.staked, before.ppm)
    contributed = before.contributed + added.amount
    pool = pool_then + contributed
    hits = hits_of(pool, settled)
    paid = sum(hit.paid for hit in hits)
    if before.size_hit and staked and not any(hit.share_percent == WHOLE for hit in hits):
        hits.append(hit_of_size(pool - paid, settled))
        paid += hits[-1].paid
    shares: defaultdict[str, int] = defaultdict(int)
    for hit in hits:
        for share in hit.shares:
            shares[share.player] += share.amount
    seeded = missing_seed(replace(state, pool=pool - paid)) if hits else 0
    now = replace(
        before,
        staked=staked,
        contributed=contributed,
        from_pool=paid,
        seeded=seeded,
        hit=bool(hits),
        corrections=before.corrections + 1,
        shares={player: amount for player, amount in shares.items() if amount},
    )
    if hit_followed:
        now = replace(
            now,
            staked=before.staked,
            contributed=before.contributed,
            from_pool=before.from_pool,
            seeded=before.seeded,
        )
    changes = [
        ShareChange(player, more)
        for player in sorted({*before.shares, *shares})
        if (more := shares.get(player, 0) - before.shares.get(player, 0))
    ]
    pool_change = now.change - before.change
    if not changes and not pool_change and added.remainder == state.remainder:
        return None
    return Corrected(_events(state, now, changes, pool_change, added.remainder, hit_followed), now)


def _events(
    state: Jackpot,
    now: PoolRound,
    changes: list[ShareChange],
    pool_change: int,
    remainder: int,
    hit_followed: bool,  # noqa: FBT001 - handed on
) -> tuple[JackpotCorrected, ...]:
    """The change of the pool is in the first part; each part is balanced by itself."""
    parts = [tuple(changes[at : at + SHARES_AN_EVENT]) for at in range(0, len(changes), SHARES_AN_EVENT)]
    parts = parts or [()]
    events = []
    for number, those in enumerate(parts, start=1):
        moved = pool_change if number == 1 else 0
        event = JackpotCorrected(
            state.jackpot,
            state.operator,
            state.currency,
            now.round,
            now.corrections,
            hit_followed,
            moved,
            moved + sum(change.amount for change in those),
            now.contributed,
            remainder,
            state.pool + moved,
            those,
            number,
            len(parts),
        )
        events.append(event)
        state = evolve(state, event)
    return tuple(events)
