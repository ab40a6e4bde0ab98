"""The players' connections as a part of the service."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import Final

import structlog
from fastapi import APIRouter, FastAPI
from starlette.websockets import WebSocket

from servicekit.lifecycle import Service
from upcard_gateway.adapters import play_metrics
from upcard_gateway.adapters.postgres.play_connections import PlayConnections
from upcard_gateway.adapters.table_watch import GrpcTableWatch
from upcard_gateway.app.play_places import PlaceSeal
from upcard_gateway.app.play_watch import TableWatch
from upcard_gateway.entrypoints.http.edge import Edge
from upcard_gateway.entrypoints.http.limits import RateLimit
from upcard_gateway.entrypoints.http.players import player_sessions_on
from upcard_gateway.entrypoints.play.chat_room import ChatRoom
from upcard_gateway.entrypoints.play.commands import commands_of
from upcard_gateway.entrypoints.play.commands_chat import chat_of
from upcard_gateway.entrypoints.play.connection import Parts
from upcard_gateway.entrypoints.play.contract import Chat, Commands
from upcard_gateway.entrypoints.play.hub import HubBounds, TableHub
from upcard_gateway.entrypoints.play.shown import table_shown
from upcard_gateway.entrypoints.play.socket import Socket
from upcard_gateway.entrypoints.play.tables import Tables
from upcard_gateway.entrypoints.play.taking_over import Registry
from upcard_gateway.entrypoints.play.viewing import Doors
from upcard_gateway.settings import GatewaySettings

__all__ = ["Play", "play_on", "router", "start_play"]

PATH: Final = "/play/ws"
_SWEPT_S: Final = 1.0
_BACKLOG_SHARE: Final = 2
"""Who comes back is told one by one what fits into this part of what may wait for them."""

_log = structlog.get_logger("upcard.gateway.play")

router = APIRouter()


async def _socket(socket: WebSocket) -> None:
    play: Play = socket.app.state.play
    await play.socket.serve(socket)


router.add_websocket_route(PATH, _socket, name="play")


class Play:
    """All connections of one gateway."""

    def __init__(self, parts: Parts, socket: Socket) -> None:
        self.parts = parts
        self.socket = socket

    async def run(self, ending: asyncio.Event) -> None:
        """What goes on beside the connections, until `ending` is set."""
        sweeping = asyncio.create_task(self._sweep())
        try:
            await self.parts.registry.run(ending)
        finally:
            sweeping.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await sweeping
            await self.parts.tables.close()

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(_SWEPT_S)
            try:
                await self.parts.tables.sweep()
                self.bound_waiting()
            except Exception as error:  # noqa: BLE001 - a defect of ours; it is tried again
                _log.error("connections cannot be looked through", exc_info=error)

    def bound_waiting(self) -> None:
        """Drop the slowest connections where too much waits for all of them together."""
        most = self.parts.edge.settings.play_write_total_bytes
        waiting = sorted(((one.wire.waiting, one) for one in self.socket.live), key=lambda pair: pair[0])
        total = sum(size for size, _ in waiting)
        play_metrics.waiting_bytes.set(total)
        play_metrics.connections.set(self.parts.doors.connections)
        play_metrics.viewers.set(self.parts.doors.viewers)
        while total > most and waiting:
            size, slowest = waiting.pop()
            slowest.leave_for("too_slow")
            slowest.wire.drop()
            total -= size


def play_on(edge: Edge, chat: Chat, commands: Commands, watch: TableWatch | None = None) -> Play:
    """The players' connections over the edge. `watch`: the table service; None: the edge's."""
    settings = edge.settings
    following = watch or GrpcTableWatch(edge.services.table)
    bounds = HubBounds(
        settings.play_buffer_messages,
        settings.play_buffer_bytes,
        settings.play_table_away_s,
        settings.play_write_buffer_bytes // _BACKLOG_SHARE,
    )
    seal = PlaceSeal(settings.raw_secret_keys(), settings.secret_key)
    tables = Tables(
        lambda table: TableHub(table, following, lambda: table_shown(edge, table), edge.now, bounds, seal),
        lambda hub: ChatRoom(hub.table, chat, edge.now, lambda: hub.round),
        settings.play_tables_kept_s,
    )
    rows = PlayConnections(edge.pool, settings.instance)
    registry = Registry(rows, edge.now, time.monotonic, settings.play_checked_s)
    doors = Doors(settings, time.monotonic)
    parts = Parts(edge, following, commands, tables, registry, player_sessions_on(edge), doors, seal)
    return Play(parts, Socket(parts, RateLimit(time.monotonic)))


async def start_play(service: Service[GatewaySettings], edge: Edge, app: FastAPI) -> None:
    """Serve players' connections over this app, as the next stages."""
    chat = chat_of(edge)
    await service.run("chat", chat.run)
    play = play_on(edge, chat, commands_of(edge, chat))
    app.state.play = play
    app.state.table_chat = chat  # for whoever moderates it
    await service.run("players' connections", play.run)
