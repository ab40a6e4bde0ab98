"""What happens to a jackpot: the events of `jackpot-<id>`, whose order is that of several tables too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from upcard_bonus.domain.fields import (
    Amount,
    BoxNumber,
    CurrencyCode,
    JackpotId,
    OperatorId,
    Part,
    Parts,
    PlayerId,
    PoolAfter,
    RemainderAfter,
    RoundName,
)

SeedReason = Literal["opened", "refilled", "new_cycle"]
HitKind = Literal["hand", "must_hit_by"]
LiftReason = Literal["corrected", "lifted", "expired"]


@dataclass(frozen=True, slots=True)
class JackpotSettings:
    """What can be changed of a jackpot."""

    seed: Annotated[int, "What the pool starts with, minor units."]
    contribution_ppm: Annotated[int, "What a stake on B adds, in parts per million of it."]
    must_hit_by: Annotated[int | None, "The pool is paid out at a secret size of at most this."] = None
    reseed: Annotated[bool, "Whether a pool below its seed after a hit is filled up to it."] = True
    tables: Annotated[tuple[str, ...], "Tables whose stakes on B contribute."] = ()


@dataclass(frozen=True, slots=True)
class JackpotOpened:
    """A jackpot began; its first seed follows."""

    jackpot: JackpotId
    operator: OperatorId
    currency: CurrencyCode
    settings: JackpotSettings


@dataclass(frozen=True, slots=True)
class JackpotChanged:
    """A jackpot has other settings: the next round of a table, contribution and hit follow them."""

    jackpot: JackpotId
    settings: JackpotSettings


@dataclass(frozen=True, slots=True)
class SecretSize:
    """At which size this cycle's pool is paid out: a secret, to which the house is bound."""

    commitment: Annotated[str, "SHA-256 of a fixed text and the secret, lower-case hex."]
    above: Annotated[int, "The secret size is larger than this, minor units."]
    up_to: Annotated[int, "It is at most this, minor units."]


@dataclass(frozen=True, slots=True)
class JackpotSeeded:
    """The house put money into a pool, or a new cycle began (then the amount may be 0)."""

    jackpot: JackpotId
    operator: OperatorId
    currency: CurrencyCode
    amount: Amount
    pool: PoolAfter
    cycle: Annotated[int, "Counts from 1; a new one begins when the whole pool was paid."]
    why: Annotated[SeedReason, "What it is for."]
    round: Annotated[str | None, "The round whose hit led to it."] = None
    secret_size: Annotated[SecretSize | None, "Of a cycle that begins, if it has one."] = None


@dataclass(frozen=True, slots=True)
class JackpotContributed:
    """A settled round's stakes on B added to a pool; one a round and jackpot."""

    jackpot: JackpotId
    operator: OperatorId
    currency: CurrencyCode
    round: RoundName
    amount: Amount
    staked: Annotated[int, "The round's stakes on B in this currency, minor units."]
    contribution_ppm: Annotated[int, "Parts per million of them."]
    remainder: RemainderAfter
    pool: PoolAfter


@dataclass(frozen=True, slots=True)
class JackpotShare:
    """What one box of a player gets of a hit."""

    player: PlayerId
    box: BoxNumber
    stake: Annotated[int, "Its stake on B, minor units."]
    amount: Amount


@dataclass(frozen=True, slots=True)
class Opening:
    """A secret size made public, with what proves that it was fixed at the cycle's beginning."""

    secret: Annotated[str, "What the size was made from, 64 hex digits (docs/bonus.md says how)."]
    threshold: Annotated[int, "The size, minor units."]
    commitment: Annotated[str, "The commitment that this opens."]


@dataclass(frozen=True, slots=True)
class JackpotHit:
    """A pool pays its winners, who share by their stakes, rounded down; the rest stays in the pool.

    All boxes of a round that win the same share are one hit.
    """

    jackpot: JackpotId
    operator: OperatorId
    currency: CurrencyCode
    round: RoundName
    kind: Annotated[HitKind, "A hand won it, or the pool had reached its secret size."]
    hand: Annotated[str | None, "The hand that won; null where it was the size."]
    share_percent: Annotated[int, "Of the pool as it stood before this hit."]
    prize: Annotated[int, "That part of the pool, rounded down, minor units."]
    stakes: Annotated[int, "All stakes that share it, minor units."]
    paid: Annotated[int, "The sum of the shares of this event, minor units."]
    pool: PoolAfter
    shares: Annotated[tuple[JackpotShare, ...], "In the order of players and boxes."]
    opening: Annotated[Opening | None, "Where this hit ends a cycle that had a secret size."] = None
    part: Part = 1
    parts: Parts = 1


@dataclass(frozen=True, slots=True)
class JackpotFenced:
    """A round is about to be undone: nothing is paid from the pool until that is done, or given up."""

    jackpot: JackpotId
    round: RoundName
    hit_followed: Annotated[bool, "Whether another round's hit has followed the round."]
    expires_at: Annotated[str, "When the fence ends by itself."]


@dataclass(frozen=True, slots=True)
class JackpotFenceLifted:
    """A fence is gone; the rounds that waited for it follow in their order."""

    jackpot: JackpotId
    round: RoundName
    why: Annotated[LiftReason, "The correction came, the round is not undone after all, or time was over."]


@dataclass(frozen=True, slots=True)
class ShareChange:
    """How much more a player gets of a round's hits, or (below zero) less."""

    player: PlayerId
    amount: Annotated[int, "Change of what the player has from the pool, signed, minor units."]


@dataclass(frozen=True, slots=True)
class JackpotCorrected:
    """A round that had contributed was undone or corrected. `pool_change` and all changes sum to `house`.

    Unless another round's hit has followed, the pool is as if the round had always been so. Else
    contributions stay, the pool does not change, and the house funds the difference.
    """

    jackpot: JackpotId
    operator: OperatorId
    currency: CurrencyCode
    round: RoundName
    correction: Annotated[int, "Counts from 1, of this round and jackpot."]
    hit_followed: Annotated[bool, "Whether another round's hit has followed."]
    pool_change: Annotated[int, "Signed, minor units."]
    house: Annotated[int, "What the house pays, or (below zero) gets, minor units."]
    contributed: Annotated[int, "What the round has contributed now, minor units."]
    remainder: RemainderAfter
    pool: PoolAfter
    changes: Annotated[tuple[ShareChange, ...], "Of players whose shares change."] = ()
    part: Part = 1
    parts: Parts = 1


JackpotEvent = (
    JackpotOpened
    | JackpotChanged
    | JackpotSeeded
    | JackpotContributed
    | JackpotHit
    | JackpotFenced
    | JackpotFenceLifted
    | JackpotCorrected
)
