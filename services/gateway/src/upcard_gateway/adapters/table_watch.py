"""The table service's streams over gRPC, as players' connections follow them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final

import grpc
import grpc.aio

from servicekit.grpc import failure_of
from upcard.table.v1 import watching_pb2 as pb
from upcard.table.v1.table_pb2_grpc import TableServiceStub
from upcard_gateway.adapters.services import PLATFORM, acting_as
from upcard_gateway.adapters.services import player as acting_player
from upcard_gateway.adapters.table_play import beginning, happened, mine
from upcard_gateway.app.game_seen import Beginning
from upcard_gateway.app.play_watch import Update, WatchBroken, WatchRefused

__all__ = ["GrpcTableWatch"]

STREAM_S: Final = 3_000.0
"""The longest that one stream lasts; the next goes on where it was."""
VIEW_S: Final = 5.0
_FOR_GOOD: Final = frozenset({"table_unknown"})


class GrpcTableWatch:
    """`TableWatch` over gRPC. Metrics and spans of the calls are the channel's."""

    def __init__(self, table: TableServiceStub) -> None:
        self._table = table

    async def public(self, table: str, token: str = "") -> AsyncIterator[Update]:
        """See `TableWatch`."""
        request = pb.WatchTableRequest(table=table, viewer=pb.VIEWER_PUBLIC, resume_token=token)
        with acting_as(PLATFORM):
            call = self._table.WatchTable(request, timeout=STREAM_S)
        async for update in _updates(call):
            yield update

    async def own(self, table: str, player: str, currency: str, token: str = "") -> AsyncIterator[Update]:
        """See `TableWatch`."""
        request = pb.WatchTableRequest(
            table=table, currency=currency, resume_token=token, with_view=True, own_only=True
        )
        with acting_as(acting_player(player)):
            call = self._table.WatchTable(request, timeout=STREAM_S)
        async for update in _updates(call):
            yield update

    async def now(self, table: str, player: str = "", currency: str = "") -> Beginning:
        """See `TableWatch`. The round is asked for second: it never knows less than the table does."""
        wanted = pb.GetRoundRequest(table=table, currency=currency)
        if not player:
            wanted.viewer = pb.VIEWER_PUBLIC
        try:
            with acting_as(acting_player(player) if player else PLATFORM):
                found = await self._table.GetTable(pb.GetTableRequest(table=table), timeout=VIEW_S)
                if found.WhichOneof("result") == "refusal":
                    raise WatchRefused(found.refusal.reason)
                round_ = await self._table.GetRound(wanted, timeout=VIEW_S)
        except grpc.aio.AioRpcError as error:
            raise _broken(error) from error
        snapshot = pb.Snapshot(table=found.table)
        if round_.WhichOneof("result") == "view":
            snapshot.view, snapshot.position = round_.view, round_.position
        made = beginning(snapshot)
        return Beginning(made.table, _round_of(made), made.position, made.view)


async def _updates(
    call: grpc.aio.UnaryStreamCall[pb.WatchTableRequest, pb.WatchTableResponse],
) -> AsyncIterator[Update]:
    try:
        async for told in call:
            match told.WhichOneof("update"):
                case "snapshot":
                    yield Update(told.resume_token, beginning(told.snapshot), expired=told.resume_expired)
                case "shared":
                    shared = pb.SharedUpdate.FromString(told.shared)
                    yield Update(told.resume_token, tuple(map(happened, shared.events)))
                case "own":
                    yield Update(told.resume_token, mine(told.own))
                case _:
                    continue
    except grpc.aio.AioRpcError as error:
        raise _broken(error) from error
    finally:
        call.cancel()
    raise WatchBroken("the stream has come to its end")


def _broken(error: grpc.aio.AioRpcError) -> WatchBroken | WatchRefused:
    failure = failure_of(error)
    if failure.reason in _FOR_GOOD:
        return WatchRefused(failure.reason)
    return WatchBroken(f"{failure.code.name} {failure.reason}")


def _round_of(made: Beginning) -> int:
    number = None if made.view is None else made.view.get("round")
    return number if isinstance(number, int) else 0
