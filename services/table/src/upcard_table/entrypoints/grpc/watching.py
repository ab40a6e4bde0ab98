"""Calls of whoever looks at tables: once, or for as long as they like."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Final

import grpc
import grpc.aio

from rules_core.views.viewers import Dealer, Operations, Player, Public, Viewer
from servicekit.answering import invalid
from servicekit.grpc import ActorKind, CallError, current_call
from servicekit.metrics import counter, gauge
from upcard.call.v1 import refusal_pb2
from upcard.table.v1 import watching_pb2 as pb
from upcard_table.app.watching.following import TableUnknown
from upcard_table.app.watching.hubs import Hubs, TooManyWatchers, database_there
from upcard_table.app.watching.looking import TableNow, table_now
from upcard_table.app.watching.session import Wanted, WatchEnded
from upcard_table.domain.words import is_opaque_id
from upcard_table.entrypoints.grpc.shown import message, table_message

PAGE: Final = 500
LARGEST_PAGE: Final = 1_000
WRITE_WITHIN_S: Final = 10.0
"""How long a reader may leave a message that waits."""
_COME_AGAIN_S: Final = 1.0

_sessions = gauge("upcard_table_watchers", "Sessions of watchers that are served")
_ended = counter(
    "upcard_table_watchers_ended_total", "Sessions that were ended here, by reason; slow readers", ("reason",)
)

Context = grpc.aio.ServicerContext[Any, Any]

_ENDED: Final[dict[str, tuple[grpc.StatusCode, str]]] = {
    "too_slow": (
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        "messages were not taken in time",
    ),
    "server_stopping": (grpc.StatusCode.UNAVAILABLE, "this server stops; go on at another"),
    "table_unreadable": (grpc.StatusCode.UNAVAILABLE, "the table cannot be watched just now"),
}


@dataclass(frozen=True, slots=True)
class WatchDesk:
    """What the calls stand on."""

    hubs: Hubs
    write_within_s: float = WRITE_WITHIN_S


class WatchCalls:
    """A part of the table's servicer. Any instance serves them, whoever owns the table."""

    def __init__(self, desk: WatchDesk) -> None:
        self._watching = desk

    async def GetTable(  # noqa: N802 - the name of the call
        self,
        request: pb.GetTableRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.GetTableResponse:
        """A table as it is now."""
        with database_there():
            found = await table_now(self._watching.hubs.sources, _id(request.table))
        if found is None:
            return pb.GetTableResponse(refusal=_refusal("table_unknown", "no such table was ever opened"))
        return pb.GetTableResponse(table=table_message(found))

    async def ListTables(  # noqa: N802 - the name of the call
        self,
        request: pb.ListTablesRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.ListTablesResponse:
        """Tables by id, a page; as they were a moment ago."""
        limit = request.limit or PAGE
        if not 1 <= limit <= LARGEST_PAGE:
            raise invalid(f"limit: 1 to {LARGEST_PAGE}, or 0")
        if request.after and not is_opaque_id(request.after):
            raise invalid("after: an id is 1 to 64 letters, digits, - and _")
        index = self._watching.hubs.sources.index
        with database_there():
            found = await index.page(after=request.after, limit=limit + 1, open_only=request.open_only)
        tables = [
            table_message(TableNow(one.state, one.position, one.last_round, one.step))
            for one in found[:limit]
        ]
        return pb.ListTablesResponse(tables=tables, more=len(found) > limit)

    async def GetRound(  # noqa: N802 - the name of the call
        self,
        request: pb.GetRoundRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.GetRoundResponse:
        """A round as its asker may see it."""
        wanted = Wanted(_viewer(request.viewer), request.currency or None)
        if request.round < 0:
            raise invalid("round: 1 or more, or 0 for the latest")
        try:
            found = await self._watching.hubs.round_view(_id(request.table), request.round, wanted)
        except TableUnknown:
            return pb.GetRoundResponse(refusal=_refusal("table_unknown", "no such table was ever opened"))
        except TooManyWatchers:
            raise _overloaded() from None
        except WatchEnded as ended:
            raise _over(ended) from None
        if found is None:
            return pb.GetRoundResponse(refusal=_refusal("round_unknown", "no such round was opened"))
        view, position = found
        return pb.GetRoundResponse(view=view, position=position)

    async def WatchTable(  # noqa: N802 - the name of the call
        self, request: pb.WatchTableRequest, context: Context
    ) -> AsyncIterator[pb.WatchTableResponse]:
        """Tell what happens, until the watcher goes or is too slow."""
        # It writes by itself: only so a message that is not taken can be given up.
        await self._watch(request, context)
        for unsent in tuple[pb.WatchTableResponse]():
            yield unsent

    async def _watch(self, request: pb.WatchTableRequest, context: Context) -> None:
        wanted = Wanted(
            _viewer(request.viewer),
            request.currency or None,
            with_view=request.with_view,
            own_only=request.own_only,
        )
        if wanted.own_only and not isinstance(wanted.viewer, Player):
            raise invalid("own_only: a player's updates need a player who acts")
        try:
            await self._tell(_id(request.table), wanted, request.resume_token, context)
        except TableUnknown:
            text = "no such table was ever opened"
            raise CallError(grpc.StatusCode.NOT_FOUND, "table_unknown", text) from None
        except TooManyWatchers:
            raise _overloaded() from None
        except WatchEnded as ended:
            _ended.labels(reason=ended.reason).inc()
            raise _over(ended) from None
        finally:
            _sessions.set(self._watching.hubs.sessions)

    async def _tell(self, table: str, wanted: Wanted, token: str, context: Context) -> None:
        async with self._watching.hubs.watch(table, wanted, token) as session:
            _sessions.set(self._watching.hubs.sessions)
            while True:
                told = message(await session.next())
                limit = asyncio.timeout(self._watching.write_within_s)
                try:
                    async with limit:
                        await context.write(told)
                except TimeoutError:
                    if not limit.expired():
                        raise
                    raise WatchEnded("too_slow") from None


def _id(table: str) -> str:
    if not is_opaque_id(table):
        raise invalid("table: an id is 1 to 64 letters, digits, - and _")
    return table


def _viewer(asked: pb.Viewer.ValueType) -> Viewer:
    """As whom is looked: as the signed actor says, or as everybody."""
    call = current_call()
    actor = None if call is None or call.context is None else call.context.actor
    if actor is None or asked == pb.VIEWER_PUBLIC:
        return Public()
    if asked != pb.VIEWER_UNSPECIFIED:
        raise invalid("viewer: not one that this server knows")
    match actor.kind:
        case ActorKind.PLAYER:
            return Player(actor.id)
        case ActorKind.DEALER:
            return Dealer()
        case ActorKind.STAFF:
            return Operations()
        case _:
            return Public()


def _refusal(reason: str, text: str) -> refusal_pb2.Refusal:
    return refusal_pb2.Refusal(reason=reason, message=text)


def _over(ended: WatchEnded) -> CallError:
    code, text = _ENDED[ended.reason]
    return CallError(code, ended.reason, text, repeat=False)


def _overloaded() -> CallError:
    return CallError(
        grpc.StatusCode.UNAVAILABLE,
        "overloaded",
        "this instance has as many watchers as it may",
        retry_after_s=_COME_AGAIN_S,
    )
