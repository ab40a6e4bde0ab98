"""A player's connection as it is: frames out, frames in, nothing repeated or mended behind one's back."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any, Final

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from tests.end_to_end.gateway.processes import WAIT_S, fresh
from upcard_platform.play import SUBPROTOCOL

Told = dict[str, Any]
CHANNELS: Final = ("table", "own", "chat")


@dataclass
class Record:
    """What came over one connection, or over several of one player, in its order."""

    told: list[Told] = field(default_factory=list)

    def events(self, channel: str, number: int) -> list[tuple[int, int, str]]:
        """Round, position and type of each event of a round that was told in a channel, in order."""
        return [
            (number, event["position"], event["type"])
            for one in self.told
            if one["type"] == channel
            for event in one.get("events", ())
            if event["round"] == number
        ]

    def seqs(self, channel: str) -> list[str]:
        """The places in a channel, in the order in which they came."""
        return [one["seq"] for one in self.told if one["channel"] == channel and one.get("seq") is not None]

    def resume(self) -> dict[str, str]:
        """Where to go on: the last place in each channel."""
        return {channel: seqs[-1] for channel in CHANNELS if (seqs := self.seqs(channel))}


def merged(parts: list[Wire]) -> Record:
    """What came over connections that followed each other."""
    return Record([message for one in parts for message in one.told])


@dataclass
class Wire(Record):
    """One connection."""

    socket: ClientConnection = field(kw_only=True)
    answered_s: list[float] = field(default_factory=list)
    """How long each answer took."""
    _news: asyncio.Condition = field(default_factory=asyncio.Condition)
    _over: bool = False

    async def read(self) -> None:
        """Take everything in until the connection is closed."""
        try:
            async for frame in self.socket:
                message = json.loads(frame)
                async with self._news:
                    self.told.append(message)
                    self._news.notify_all()
        except ConnectionClosed:
            pass
        finally:
            async with self._news:
                self._over = True
                self._news.notify_all()

    async def until(self, what: str, right: Callable[[Told], bool]) -> Told:
        """The first message, from the first on, that is right; waited for. AssertionError: it never came."""
        looked = 0
        try:
            async with asyncio.timeout(WAIT_S), self._news:
                while True:
                    for message in self.told[looked:]:
                        if right(message):
                            return message
                    looked = len(self.told)
                    assert not self._over, f"closed before {what}; the last messages: {self.told[-3:]}"
                    await self._news.wait()
        except TimeoutError:
            seen = [(one["type"], one["round"]) for one in self.told[-12:]]
            raise AssertionError(f"waited for {what}; at last there were {seen}") from None

    async def closed(self) -> Told:
        """Wait for the end; the last message."""
        async with asyncio.timeout(WAIT_S), self._news:
            await self._news.wait_for(lambda: self._over)
        return self.told[-1]

    async def say(self, message_type: str, /, **fields: object) -> Told:
        """Say something and wait for its answer."""
        number = str(fields.pop("id", fresh()))
        began = time.perf_counter()
        await self.socket.send(json.dumps({"type": message_type, "id": number, **fields}))
        found = await self.until(
            f"an answer to {message_type}", lambda told: told["type"] == "answer" and told["id"] == number
        )
        self.answered_s.append(time.perf_counter() - began)
        return found


@contextlib.asynccontextmanager
async def connected(url: str, **hello: object) -> AsyncIterator[Wire]:
    """A connection that has said `hello` with these fields; `url` is the gateway's, without a path."""
    address = url.replace("http://", "ws://") + "/play/ws"
    async with connect(
        address, subprotocols=[Subprotocol(SUBPROTOCOL)], max_size=2**22, open_timeout=WAIT_S, proxy=None
    ) as socket:
        wire = Wire(socket=socket)
        reading = asyncio.create_task(wire.read())
        try:
            await socket.send(json.dumps({"type": "hello", **hello}))
            yield wire
        finally:
            await socket.close()
            await asyncio.wait_for(reading, WAIT_S)


async def welcomed(wire: Wire) -> Told:
    """The answer to `hello`."""
    return await wire.until("welcome", lambda told: told["type"] == "welcome")


async def at_table(wire: Wire) -> Told:
    """The table as it is at first."""
    return await wire.until("a snapshot", lambda told: told["type"] == "snapshot")


async def window(wire: Wire, number: int, kind: str) -> Told:
    """Wait until a window of a round is open."""
    return await wire.until(
        f"the {kind} window of round {number}",
        lambda told: told["type"] == "window" and told["round"] == number and told["kind"] == kind,
    )


async def happened(wire: Wire, number: int, kind: str, channel: str = "table") -> Told:
    """Wait until an event of a round was told."""
    return await wire.until(
        f"{kind} of round {number}",
        lambda told: (
            told["type"] == channel
            and any(one["round"] == number and one["type"] == kind for one in told.get("events", ()))
        ),
    )
