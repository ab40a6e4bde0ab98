"""The tables that this instance follows for its connections, as long as somebody is there, or was lately."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from upcard_gateway.adapters import play_metrics
from upcard_gateway.entrypoints.play.chat_room import ChatRoom
from upcard_gateway.entrypoints.play.hub import TableAway, TableHub

__all__ = ["TABLES_MAX", "Tables"]

TABLES_MAX: Final = 1_000


class Tables:
    """Hubs by table, with their chats."""

    def __init__(
        self, make: Callable[[str], TableHub], room: Callable[[TableHub], ChatRoom], kept_s: float
    ) -> None:
        self._make = make
        self._room = room
        self._kept_s = kept_s
        self._hubs: dict[str, TableHub] = {}
        self._rooms: dict[str, ChatRoom] = {}

    async def hub(self, table: str) -> TableHub:
        """The hub of a table. Raises TableAway: as many tables as may be are watched."""
        found = self._hubs.get(table)
        if found is not None and found.is_over:
            await self._close(table)
            found = None
        if found is None:
            if len(self._hubs) >= TABLES_MAX:
                raise TableAway("table_away")
            found = self._hubs[table] = self._make(table)
            play_metrics.tables.set(len(self._hubs))
        return found

    def chat_of(self, hub: TableHub) -> ChatRoom:
        """The chat of a hub's table."""
        room = self._rooms.get(hub.table)
        if room is None:
            room = self._rooms[hub.table] = self._room(hub)
        return room

    async def drop_failed(self, table: str) -> None:
        """Forget a table that cannot be shown: whoever names tables that are none takes nobody's place."""
        found = self._hubs.get(table)
        if found is not None and found.is_over:
            await self._close(table)

    async def sweep(self) -> None:
        """Forget tables that nobody has watched for a while, and those that have failed."""
        now_s = time.monotonic()
        for table, hub in tuple(self._hubs.items()):
            since_s = hub.empty_since_s
            if hub.is_over or (since_s is not None and now_s - since_s > self._kept_s):
                await self._close(table)

    async def close(self) -> None:
        """Forget all."""
        for table in tuple(self._hubs):
            await self._close(table)

    async def _close(self, table: str) -> None:
        hub = self._hubs.pop(table)
        room = self._rooms.pop(table, None)
        if room is not None:
            room.close()
        await hub.close()
        play_metrics.tables.set(len(self._hubs))
