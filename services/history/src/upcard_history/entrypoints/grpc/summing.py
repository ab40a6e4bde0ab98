"""Sums for screens that refresh themselves: tables in play, a player's totals."""

from __future__ import annotations

from upcard.history.v1 import history_pb2 as pb
from upcard_history.app.sums import TOTALS_MAX, PlayerTotal, TableInPlay
from upcard_history.entrypoints.grpc import messages
from upcard_history.entrypoints.grpc.asking import (
    MAY_LOOK,
    Context,
    Desk,
    check_role,
    invalid,
    patiently,
    player_asked_about,
    refusal,
)
from upcard_history.entrypoints.grpc.tokens import name_after


class SummingCalls:
    """A part of the history's servicer."""

    _desk: Desk

    async def ListTablesInPlay(  # noqa: N802 - the name of the call
        self,
        request: pb.ListTablesInPlayRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.ListTablesInPlayResponse:
        """A page of rounds that have not ended."""
        check_role(MAY_LOOK)
        after, limit = name_after(request.after), messages.page_size(request.limit)
        # One more than the page tells whether there is another one.
        found = await patiently(lambda: self._desk.sums.tables_in_play(after=after, limit=limit + 1))
        page = found[:limit]
        following = page[-1].round if len(found) > limit else ""
        return pb.ListTablesInPlayResponse(rounds=map(_in_play, page), next=following)

    async def GetPlayerTotals(  # noqa: N802 - the name of the call
        self,
        request: pb.GetPlayerTotalsRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.GetPlayerTotalsResponse:
        """What a player has staked, won and lost."""
        player = player_asked_about(request.player)
        if not (request.HasField("since") and request.HasField("until")):
            raise invalid("since or until is not said")
        since = messages.instant_of(request.since, "since")
        until = messages.instant_of(request.until, "until")
        if player is None:
            return pb.GetPlayerTotalsResponse(refusal=refusal("player_unknown"))
        if since >= until or until - since > TOTALS_MAX:
            why = f"the period has to have a beginning before its end, {TOTALS_MAX.days} days at the most"
            return pb.GetPlayerTotalsResponse(refusal=refusal("period_invalid", why))
        found = await patiently(lambda: self._desk.sums.player_totals(player, since, until))
        return pb.GetPlayerTotalsResponse(totals=pb.PlayerTotals(totals=map(_total, found)))


def _in_play(found: TableInPlay) -> pb.TableInPlay:
    return pb.TableInPlay(
        round=found.round,
        table=found.table,
        number=found.number,
        ruleset=found.ruleset,
        opened_at=messages.timestamp(found.opened_at),
        window=found.window or "",
        box=found.box or 0,
        window_opened_at=messages.optional_timestamp(found.window_opened_at),
        at_stake=[
            pb.AtStake(currency=one.currency, players=one.players, amount=one.amount)
            for one in found.at_stake
        ],
    )


def _total(found: PlayerTotal) -> pb.PlayerTotal:
    return pb.PlayerTotal(
        currency=found.currency,
        rounds=found.rounds,
        won=found.won,
        staked=found.staked,
        returned=found.returned,
        net=found.net,
        cancelled=found.cancelled,
        open=found.open,
    )
