"""What becomes of a free bet: the events of `freebet-<id>`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from upcard_bonus.domain.fields import Amount, BoxNumber, CurrencyCode, FreeBetId, PlayerId, RoundName

FreeBetWager = Literal["ante", "bonus_player", "bonus_dealer"]
ReturnReason = Literal["withdrawn", "returned", "cancelled"]
LapseReason = Literal["time", "revoked", "returned_late"]
Left = Annotated[int, "What of it can be staked after this event, minor units."]


@dataclass(frozen=True, slots=True)
class FreeBetGranted:
    """A player may stake money of the house: whole antes, B or D."""

    free_bet: FreeBetId
    player: PlayerId
    currency: CurrencyCode
    amount: Amount
    wagers: Annotated[tuple[FreeBetWager, ...], "What it may pay."]
    expires_at: Annotated[str, "When what is left of it lapses."]


@dataclass(frozen=True, slots=True)
class FreeBetUsed:
    """A wager was staked with it; with `correction`, one that had come back did not after all."""

    free_bet: FreeBetId
    round: RoundName
    bet_id: Annotated[str, "The command that staked."]
    box: BoxNumber
    wager: Annotated[str, "Which wager."]
    amount: Amount
    left: Left
    correction: Annotated[bool, "Whether a corrected result led to it."] = False


@dataclass(frozen=True, slots=True)
class FreeBetReturned:
    """A wager that it paid came back: it can be staked again."""

    free_bet: FreeBetId
    round: RoundName
    bet_id: Annotated[str, "The command that had staked."]
    box: BoxNumber
    wager: Annotated[str, "Which wager."]
    amount: Amount
    left: Left
    why: Annotated[ReturnReason, "Taken back, returned by the result, or the round was cancelled."]


@dataclass(frozen=True, slots=True)
class FreeBetExpired:
    """What is left of a free bet went back to the house; once more when something came back to it later."""

    free_bet: FreeBetId
    amount: Amount
    why: Annotated[LapseReason, "Its time was over, it was taken back, or a wager came back after that."]


FreeBetEvent = FreeBetGranted | FreeBetUsed | FreeBetReturned | FreeBetExpired
