"""Calls that check rounds: replays, what did not agree, bundles."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final

from servicekit.answering import serving
from upcard.history.v1 import history_pb2 as pb
from upcard_history.app.reading import ReplayRun, RoundNotEnded, RulesetUnknown
from upcard_history.entrypoints.grpc import messages
from upcard_history.entrypoints.grpc.asking import (
    MAY_LOOK,
    Context,
    Desk,
    check_role,
    own_player,
    patiently,
    refusal,
)
from upcard_history.entrypoints.grpc.rounds import own_rounds
from upcard_history.entrypoints.grpc.tokens import round_name

_PIECE_BYTES: Final = 256 * 1024


class CheckingCalls:
    """A part of the history's servicer."""

    _desk: Desk

    async def ReplayRound(  # noqa: N802 - the name of the call
        self,
        request: pb.ReplayRoundRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.ReplayRoundResponse:
        """Decide a round again, and compare."""
        check_role(MAY_LOOK)
        run: ReplayRun | None = None
        if round_name(request.round) is not None:
            run = await patiently(lambda: self._desk.history.replay(request.round))
        if run is None:
            return pb.ReplayRoundResponse(refusal=refusal("round_unknown"))
        return pb.ReplayRoundResponse(replay=messages.replay(run))

    async def ListDifferences(  # noqa: N802 - the name of the call
        self,
        request: pb.ListDifferencesRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.ListDifferencesResponse:
        """Rounds whose replay did not agree."""
        check_role(MAY_LOOK)
        limit = messages.page_size(request.limit)
        found = await patiently(lambda: self._desk.history.replays_that_disagree(limit=limit))
        return pb.ListDifferencesResponse(replays=map(messages.replay, found))

    async def GetStanding(  # noqa: N802 - the name of the call
        self,
        request: pb.GetStandingRequest,  # noqa: ARG002 - it asks for nothing in particular
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.GetStandingResponse:
        """How far behind what is shown may be."""
        check_role(MAY_LOOK)
        return messages.standing(await patiently(self._desk.standing))

    async def GetBundle(  # noqa: N802 - the name of the call
        self,
        request: pb.GetBundleRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> AsyncIterator[pb.GetBundleResponse]:
        """A round that has ended as one file, in pieces."""
        own = own_player()
        player = own or request.player or None
        refused = await self._why_not(request.round, player)
        if refused is not None:
            yield pb.GetBundleResponse(refusal=refusal(refused))
            return
        # The whole file is in memory while its reader takes it: so there are not many at once.
        with self._desk.exports.taken(serving().asker):
            data = await self._bundle(request.round, player)
            if isinstance(data, str):
                yield pb.GetBundleResponse(refusal=refusal(data))
                return
            for begin in range(0, len(data), _PIECE_BYTES):
                yield pb.GetBundleResponse(data=data[begin : begin + _PIECE_BYTES])

    async def _bundle(self, name: str, player: str | None) -> bytes | str:
        """The file, or the reason why there is none."""
        try:
            data = await patiently(lambda: self._desk.history.bundle(name, player))
        except RoundNotEnded:
            return "round_open"
        except RulesetUnknown:
            return "ruleset_unknown"
        return "round_unknown" if data is None else data

    async def _why_not(self, name: str, player: str | None) -> str | None:
        """Why nobody may be given it: while a round is open, its events tell what is hidden still."""
        if round_name(name) is None:
            return "round_unknown"
        row = await patiently(lambda: self._desk.history.round_row(name))
        if row is None:
            return "round_unknown"
        if player is not None and not await own_rounds(self._desk, row, player):
            return "round_unknown"
        return "round_open" if row.state == "open" else None
