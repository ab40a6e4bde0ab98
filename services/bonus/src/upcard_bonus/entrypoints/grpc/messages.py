"""Values of the bonus service as messages, and back."""

from __future__ import annotations

import datetime as dt
from typing import Final

from google.protobuf.timestamp_pb2 import Timestamp

from servicekit.answering import invalid
from upcard.bonus.v1 import bonus_pb2 as pb
from upcard.call.v1.refusal_pb2 import Refusal
from upcard_bonus.app.fencing import FencedJackpot
from upcard_bonus.app.recording import instant_text, moment_of
from upcard_bonus.domain import free_bet as free_bets
from upcard_bonus.domain import jackpot as jackpots
from upcard_bonus.domain.free_bet_events import FreeBetWager
from upcard_bonus.domain.jackpot_events import JackpotSettings
from upcard_bonus.domain.refusal import Refused

USUAL_PAGE: Final = 100
MOST_A_PAGE: Final = 500

WAGERS: Final[dict[pb.FreeBetWager.ValueType, FreeBetWager]] = {
    pb.FREE_BET_WAGER_ANTE: "ante",
    pb.FREE_BET_WAGER_BONUS_PLAYER: "bonus_player",
    pb.FREE_BET_WAGER_BONUS_DEALER: "bonus_dealer",
}
_WAGERS: Final = {wager: value for value, wager in WAGERS.items()}

_STATES: Final[dict[free_bets.State, pb.FreeBetState.ValueType]] = {
    "granted": pb.FREE_BET_STATE_GRANTED,
    "spent": pb.FREE_BET_STATE_SPENT,
    "expired": pb.FREE_BET_STATE_EXPIRED,
}

_SENTENCES: Final = {
    "jackpot_unknown": "there is no such jackpot",
    "jackpot_exists": "the id is taken by a jackpot with other values",
    "table_has_jackpot": "a table contributes to another jackpot of this currency",
    "must_hit_by_reached": "the pool is that large already",
    "must_hit_by_needs_reseeding": "a jackpot with a largest size has to be filled up after it was paid",
    "free_bet_unknown": "there is no such free bet",
    "free_bet_exists": "the id is taken by a free bet with other values",
    "expiry_invalid": "it has to lapse later than now, and within 400 days",
}


def refusal(refused: Refused) -> Refusal:
    """A refusal as a part of an answer."""
    return Refusal(reason=refused.reason, message=_SENTENCES.get(refused.reason, refused.reason))


def settings_of(message: pb.JackpotSettings) -> JackpotSettings:
    """The settings of a request; 0 means that there is no largest size."""
    return JackpotSettings(
        message.seed,
        message.contribution_ppm,
        message.must_hit_by or None,
        message.reseed,
        tuple(message.tables),
    )


def jackpot(state: jackpots.Jackpot, waiting: int = 0) -> pb.Jackpot:
    """A jackpot as it is now."""
    settings = state.settings
    return pb.Jackpot(
        jackpot=state.jackpot,
        operator=state.operator,
        currency=state.currency,
        settings=pb.JackpotSettings(
            seed=settings.seed,
            contribution_ppm=settings.contribution_ppm,
            must_hit_by=settings.must_hit_by or 0,
            reseed=settings.reseed,
            tables=settings.tables,
        ),
        pool=state.pool,
        remainder=state.remainder,
        cycle=state.cycle,
        commitment="" if state.size is None else state.size.commitment,
        fenced=sorted(state.fences),
        waiting=waiting,
    )


def fenced(one: FencedJackpot) -> pb.FencedJackpot:
    """A fence."""
    return pb.FencedJackpot(
        jackpot=one.jackpot, hit_followed=one.hit_followed, expires_at=timestamp(one.expires_at)
    )


def free_bet(state: free_bets.FreeBet) -> pb.FreeBet:
    """A free bet as it is now."""
    return pb.FreeBet(
        free_bet=state.free_bet,
        player=state.player,
        currency=state.currency,
        amount=state.amount,
        wagers=[_WAGERS[wager] for wager in state.wagers],
        expires_at=timestamp(moment_of(state.expires_at)),
        left=0 if state.expired else state.left,
        used=state.used,
        state=_STATES[state.state],
    )


def timestamp(moment: dt.datetime) -> Timestamp:
    """A moment; the database's have microseconds."""
    made = Timestamp()
    made.FromDatetime(moment)
    return made


def instant(message: Timestamp, name: str) -> str:
    """A moment of a request as events write it, to the microsecond. Raises CallError."""
    try:
        return instant_text(message.ToDatetime(dt.UTC))
    except (ValueError, OverflowError):
        raise invalid(f"{name} is no instant") from None


def page_size(limit: int) -> int:
    """The size of a page. Raises CallError."""
    if not 0 <= limit <= MOST_A_PAGE:
        raise invalid(f"limit is 0 to {MOST_A_PAGE}")
    return limit or USUAL_PAGE
