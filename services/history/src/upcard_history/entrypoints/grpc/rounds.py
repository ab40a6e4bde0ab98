"""Calls about rounds: lists, details, timelines, results."""

from __future__ import annotations

import datetime as dt
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any, Final, cast

from rules_core.views.viewers import Operations, Player, viewer_text
from upcard.history.v1 import history_pb2 as pb
from upcard_history.app.reading import (
    PAGE_MAX,
    RESULTS_MAX,
    PlayerRound,
    RoundDetail,
    RoundRow,
    TimelineEntry,
)
from upcard_history.entrypoints.grpc import messages
from upcard_history.entrypoints.grpc.asking import (
    MAY_LOOK,
    Context,
    Desk,
    check_role,
    invalid,
    patiently,
    refusal,
    viewer,
)
from upcard_history.entrypoints.grpc.tokens import round_key, round_name, round_token

_RESULTS_USUAL: Final = 20
_BATCH: Final = 100
_BATCH_BYTES: Final = 128 * 1024
_INSTANT: Final = dt.timedelta(microseconds=1)


class RoundCalls:
    """A part of the history's servicer."""

    _desk: Desk

    async def ListRounds(  # noqa: N802 - the name of the call
        self,
        request: pb.ListRoundsRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.ListRoundsResponse:
        """A page of rounds of all tables."""
        check_role(MAY_LOOK)
        query = messages.rounds_query(request.filter)
        before, limit = round_key(request.after), messages.page_size(request.limit)
        page = await patiently(lambda: self._desk.history.rounds(query, before=before, limit=limit))
        rounds = (messages.round_row(row, for_staff=True) for row in page.rows)
        return pb.ListRoundsResponse(rounds=rounds, next=round_token(page.next))

    async def GetRound(  # noqa: N802 - the name of the call
        self,
        request: pb.GetRoundRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.GetRoundResponse:
        """A round as whoever asks may see it."""
        whose, history = viewer(), self._desk.history
        row: RoundRow | None = None
        own: tuple[PlayerRound, ...] = ()
        detail: RoundDetail | None = None
        if round_name(request.round) is not None:
            row = await patiently(lambda: history.round_row(request.round))
        if row is not None and isinstance(whose, Player):
            own = await own_rounds(self._desk, row, whose.player)
        if own or (row is not None and not isinstance(whose, Player)):
            detail = await patiently(lambda: history.round_detail(request.round, whose))
        if detail is None:
            return pb.GetRoundResponse(refusal=refusal("round_unknown"))
        shown = pb.RoundDetail(
            round=messages.round_row(detail.row, for_staff=isinstance(whose, Operations)),
            viewer=viewer_text(whose),
            view=messages.as_json(detail.view),
            own=map(messages.player_round, own),
            position=detail.position,
        )
        return pb.GetRoundResponse(round=shown)

    async def GetTimeline(  # noqa: N802 - the name of the call
        self,
        request: pb.GetTimelineRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> AsyncIterator[pb.GetTimelineResponse]:
        """What happened in a round, in batches."""
        whose = viewer()
        if request.skip < 0:
            raise invalid("skip is below zero")
        if round_name(request.round) is None:
            return
        if isinstance(whose, Player) and not await has_bet(self._desk, request.round, whose):
            return
        batch, size, number = pb.GetTimelineResponse(), 0, 0
        entries = self._desk.history.timeline(request.round, whose)
        # A generator as it is implemented: closed at once when the reader goes away.
        async with aclosing(cast("Any", entries)) as found:
            entry: TimelineEntry
            async for entry in found:
                number += 1
                if number <= request.skip:
                    continue
                made = messages.timeline_entry(entry)
                batch.entries.append(made)
                size += made.ByteSize()
                if len(batch.entries) >= _BATCH or size >= _BATCH_BYTES:
                    yield batch
                    batch, size = pb.GetTimelineResponse(), 0
        if batch.entries:
            yield batch

    async def ListResults(  # noqa: N802 - the name of the call
        self,
        request: pb.ListResultsRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.ListResultsResponse:
        """The last results of a table."""
        if not request.table:
            raise invalid("table is not said")
        limit = messages.page_size(request.limit, usual=_RESULTS_USUAL, most=RESULTS_MAX)
        found = await patiently(lambda: self._desk.history.table_results(request.table, limit=limit))
        return pb.ListResultsResponse(results=map(messages.table_result, found))


async def own_rounds(desk: Desk, row: RoundRow, player: str) -> tuple[PlayerRound, ...]:
    """The player's part of a round, by currency; none where no bet of theirs is in it."""
    # Rounds are found by when they were opened: of one instant there are a few at the most.
    page = await patiently(
        lambda: desk.history.player_rounds(
            player, before=None, limit=PAGE_MAX, since=row.opened_at, until=row.opened_at + _INSTANT
        )
    )
    return tuple(found for found in page.rows if found.round == row.round)


async def has_bet(desk: Desk, name: str, whose: Player) -> bool:
    """Whether a bet of the player's stands in a round."""
    row = await patiently(lambda: desk.history.round_row(name))
    return row is not None and bool(await own_rounds(desk, row, whose.player))
