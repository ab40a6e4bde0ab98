"""Passing a call on to the instance that owns its table: the same bytes, the same signed context, one hop.

Whoever has asked never learns who owns a table, nor that it moves: a call for a table whose owner is being
found is tried again for as long as it has time. That is safe, since every call has a `request_id`.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Final, Self

import grpc
import grpc.aio

from servicekit.answering import serving
from servicekit.grpc import (
    Call,
    CallError,
    ClientChannel,
    ClientSettings,
    Failure,
    failure_of,
    open_channel,
    passing_on,
)
from upcard_table.app.calls import NotOwner, Result, TableCall, Tables
from upcard_table.entrypoints.faults import reach

FORWARDED: Final = "upcard-forwarded"
"""Metadata of a call that another instance has passed on: it goes no further."""
AUDIENCE: Final = "table"

_PEERS_MAX: Final = 64
"""Most instances that connections are kept to."""
_FIRST_PAUSE_S: Final = 0.02
_LONGEST_PAUSE_S: Final = 0.25
_WAY_BACK_S: Final = 0.05
"""What is left of a call's time when no more is tried, so that its caller hears of it."""
_MOVING: Final = frozenset({NotOwner.slug, "unavailable", "server_stopping", "cancelled"})
"""Reasons of an unavailable peer that say that the table is, or will be, elsewhere."""

Context = grpc.aio.ServicerContext[Any, Any]


def was_forwarded(context: Context) -> bool:
    """Whether another instance has passed the call on."""
    return any(key == FORWARDED for key, _ in context.invocation_metadata() or ())


def _same(data: bytes) -> bytes:
    return data


class Peers:
    """Connections to other instances, opened when they are needed; an async context manager."""

    def __init__(self, settings: ClientSettings) -> None:
        self._settings = settings
        self._channels: OrderedDict[str, ClientChannel] = OrderedDict()
        self._closing: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        channels, self._channels = list(self._channels.values()), OrderedDict()
        await asyncio.gather(*(channel.close() for channel in channels), *self._closing)

    async def call(self, address: str, served: Call, request: bytes, timeout_s: float) -> bytes:
        """The answer to the call that is served, as the instance at this address gives it.

        Raises AioRpcError.
        """
        sent = self._channel(address).unary_unary(served.method, _same, _same)
        with passing_on(served.signed):
            call = sent(request, timeout=timeout_s, metadata=((FORWARDED, "1"),))
        return await call

    def _channel(self, address: str) -> ClientChannel:
        channel = self._channels.get(address)
        if channel is None:
            # No call is repeated by gRPC itself: the table may be elsewhere by then.
            channel = open_channel(address, audience=AUDIENCE, services=(), settings=self._settings)
            self._channels[address] = channel
        self._channels.move_to_end(address)
        if len(self._channels) > _PEERS_MAX:
            _, oldest = self._channels.popitem(last=False)
            closing = asyncio.get_running_loop().create_task(oldest.close(grace=1.0))
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)
        return channel


class Router:
    """Brings a call to its table, wherever that is."""

    def __init__(self, peers: Peers) -> None:
        self._peers = peers
        self._tables: Tables | None = None
        self._address = ""

    def begin(self, tables: Tables, address: str) -> None:
        """From now on tables may be owned here. `address`: where other instances reach this one.

        It has to listen before it can own, since owners are looked for at their addresses.
        """
        self._tables, self._address = tables, address

    async def handle(self, call: TableCall, context: Context) -> Sequence[Result] | bytes:
        """What the table's owner answers; bytes: the answer as another instance, or an earlier call, made it.

        Raises CallError (UNAVAILABLE `table_moving`: no owner was found in time; or what the owner's instance
        said), and what `Tables.handle` raises but NotOwner.
        """
        final = was_forwarded(context)
        pause_s = _FIRST_PAUSE_S
        while True:
            try:
                return await self._handle(call)
            except NotOwner as error:
                if final:
                    raise _not_here() from error
                found = await self._pass_on(error.owner_address)
            if found is not None:
                return found
            if serving().remaining_s() <= pause_s + _WAY_BACK_S:
                raise _moving()
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)

    async def _handle(self, call: TableCall) -> Sequence[Result] | bytes:
        if self._tables is None:
            raise NotOwner(call.table, None)
        return await self._tables.handle(call)

    async def _pass_on(self, address: str | None) -> bytes | None:
        """The owner's answer; None: it is not there, ask again who owns the table."""
        served = serving()
        if address is None or address == self._address or served.request is None:
            return None
        left_s = served.remaining_s() - _WAY_BACK_S
        if left_s <= 0:
            return None
        reach("table.forward.before")
        try:
            answer = await self._peers.call(address, served, served.request, left_s)
        except grpc.aio.AioRpcError as error:
            failure = failure_of(error)
            if failure.code is grpc.StatusCode.UNAVAILABLE and failure.reason in _MOVING:
                return None
            raise _as_told(failure) from None
        reach("table.forward.answered")
        return answer


def _as_told(failure: Failure) -> CallError:
    """What another instance has said, said again. An error id finds it in that instance's log."""
    return CallError(
        failure.code,
        failure.reason,
        failure.message,
        details=failure.details,
        retry_after_s=failure.retry_after_s,
    )


def _not_here() -> CallError:
    return CallError(grpc.StatusCode.UNAVAILABLE, NotOwner.slug, "this instance does not own the table")


def _moving() -> CallError:
    return CallError(
        grpc.StatusCode.UNAVAILABLE,
        "table_moving",
        "the table's owner was not found in time; ask again with the same request_id",
        # All of the call's time went into trying.
        repeat=False,
    )
