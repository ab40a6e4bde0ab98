"""What is asked of the wallet, and what it answers, as messages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from rules_core.round.events import DeclinedStake
from upcard.wallet.v1 import wallet_pb2 as pb
from upcard_table.app.ports import HoldsAnswer, OpenHold, WantedHolds

NOT_SAID: Final = HoldsAnswer("unknown", "no_answer")
"""Nobody can say: the call failed, or broke off before this answer."""
LATE: Final = HoldsAnswer("unknown", "deadline")
"""The time was over before the answer."""
OVERLOADED: Final = HoldsAnswer("overloaded", "overloaded")

_OPEN: Final = frozenset({pb.HOLD_STATE_REQUESTED, pb.HOLD_STATE_HELD, pb.HOLD_STATE_UNKNOWN})


def hold_command(wanted: WantedHolds) -> pb.HoldCommand:
    """One command."""
    return pb.HoldCommand(
        round=wanted.round,
        player=wanted.player,
        currency=wanted.currency,
        bet_id=wanted.bet_id,
        wagers=[
            pb.HoldWager(box=one.box, wager=one.wager, amount=one.amount, funding=one.funding or "")
            for one in wanted.wagers
        ],
        by_platform=wanted.by_platform,
        correlation_id=wanted.correlation_id,
    )


def answer_of(placed: pb.PlacedHolds) -> HoldsAnswer:
    """What became of a command's money. An outcome that is not known here is not known at all."""
    if placed.outcome == pb.HOLD_OUTCOME_HELD:
        return HoldsAnswer("held")
    if placed.outcome == pb.HOLD_OUTCOME_REFUSED:
        return HoldsAnswer("refused", placed.reason)
    return HoldsAnswer("unknown", placed.reason or "no_answer")


def open_holds(holds: Iterable[pb.Hold]) -> tuple[OpenHold, ...]:
    """Holds that may still change, by command, in the order of their first holds."""
    commands: dict[tuple[str, str], list[DeclinedStake]] = {}
    for hold in holds:
        if hold.state in _OPEN:
            wager = hold.wager
            stake = DeclinedStake(wager.box, wager.wager, wager.amount, funding=wager.funding or None)  # type: ignore[arg-type]  # a wager's name that only the table can have given
            commands.setdefault((hold.player, hold.bet_id), []).append(stake)
    return tuple(OpenHold(player, bet_id, tuple(stakes)) for (player, bet_id), stakes in commands.items())
