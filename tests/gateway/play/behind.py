"""Behind players' connections in tests: a table whose log a test writes, given answers, real sockets."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from pydantic import BaseModel
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Origin, Subprotocol

from tests.gateway.world import World
from upcard.wallet.v1 import wallet_pb2
from upcard_gateway.app.game_seen import Beginning, Happened, LastRound, Made, Mine, Purse
from upcard_gateway.app.play_watch import Update, WatchBroken, WatchRefused
from upcard_gateway.app.player_sessions import Playing
from upcard_gateway.entrypoints.play.contract import ChatTold, Commands
from upcard_gateway.entrypoints.play.serving import Play, play_on
from upcard_gateway.entrypoints.play.wire import PlayProtocol
from upcard_platform.play import MESSAGE_BYTES_MAX, SUBPROTOCOL

WAIT_S = 60.0
TABLE = "t1"
_numbers = itertools.count(1)


class OpensAccounts:
    """A wallet that opens every account."""

    async def OpenAccount(  # noqa: N802 - the name of the call
        self, request: wallet_pb2.OpenAccountRequest
    ) -> wallet_pb2.OpenAccountResponse:
        """Open it."""
        return wallet_pb2.OpenAccountResponse(account=request.account)


@dataclass
class TableLog:
    """A table's log as the table service serves it to any gateway: tokens are how much of it was told."""

    events: list[Happened] = field(default_factory=list)
    own: dict[str, list[Happened]] = field(default_factory=dict)
    forgotten: int = 0
    """Tokens of before so many events lead nowhere."""
    broken: int = 0
    """Rises when all streams break."""
    streams: int = 0
    asked: list[str] = field(default_factory=list)
    together: int = 2
    """Most events of one update."""
    _changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def happens(self, number: int = 1, *, round_number: int = 1, own: str | None = None) -> None:
        """So many more events; of a player alone where one is named."""
        async with self._changed:
            log = self.events if own is None else self.own.setdefault(own, [])
            for _ in range(number):
                position = max([0, *(one.position for one in log if one.round == round_number)]) + 1
                payload = {"place": "box.1.0", "card": "As"}
                cards = {} if own is None else {"box.1.0": "As"}
                log.append(Happened(round_number, position, "CardScanned", payload, cards))
            self._changed.notify_all()

    async def tells(self, type_: str, payload: dict[str, Any], *, own: str | None = None) -> None:
        """An event of round 1; of a player alone where one is named."""
        async with self._changed:
            log = self.events if own is None else self.own.setdefault(own, [])
            log.append(Happened(1, max([0, *(one.position for one in log)]) + 1, type_, payload))
            self._changed.notify_all()

    async def breaks(self) -> None:
        """Every stream breaks."""
        async with self._changed:
            self.broken += 1
            self._changed.notify_all()

    async def now(self, table: str, player: str = "", currency: str = "") -> Beginning:
        """See `TableWatch`."""
        del currency
        self._known(table)
        return self._beginning(self.own.get(player, []) if player else self.events)

    def public(self, table: str, token: str = "") -> AsyncIterator[Update]:
        """See `TableWatch`."""
        return self._stream(table, lambda: self.events, "p", token, Happened)

    def own_stream(self, table: str, player: str, currency: str, token: str = "") -> AsyncIterator[Update]:
        """See `TableWatch.own`."""
        del currency
        return self._stream(table, lambda: self.own.get(player, []), "o", token, Mine)

    async def _stream(
        self, table: str, log: Callable[[], list[Happened]], name: str, token: str, kind: type
    ) -> AsyncIterator[Update]:
        self._known(table)
        self.asked.append(f"{name}{token}")
        self.streams += 1
        broken = self.broken
        try:
            at = int(token[1:]) if token[1:].isdigit() else -1
            if not (self.forgotten if name == "p" else 0) <= at <= len(log()):
                at = len(log())
                yield Update(f"{name}{at}", self._beginning(log()), expired=bool(token))
            while True:
                async with self._changed:
                    while len(log()) <= at and self.broken == broken:
                        await self._changed.wait()
                if self.broken > broken:
                    raise WatchBroken("it breaks")
                news = tuple(log()[at : at + self.together])
                at += len(news)
                view = {"own": {"boxes": [], "total": 0, "settled": None}, "actions": {}}
                yield Update(f"{name}{at}", news if kind is Happened else Mine(news, view))
        finally:
            self.streams -= 1

    def _beginning(self, log: Sequence[Happened]) -> Beginning:
        number = max([0, *(one.round for one in log)])
        position = max([0, *(one.position for one in log if one.round == number)])
        own = {"currency": "EUR", "total": 0, "boxes": [], "settled": None}
        view = {"round": number, "position": position, "cards": {}, "own": own, "actions": {}}
        table = {"table": TABLE, "name": "One", "ruleset": "none@1", "open": True, "position": 0}
        return Beginning(table, number, position, view if number else None)

    def _known(self, table: str) -> None:
        if table != TABLE:
            raise WatchRefused("table_unknown")


class Watching:
    """`TableWatch` over a log."""

    def __init__(self, log: TableLog) -> None:
        self.public = log.public
        self.own = log.own_stream
        self.now = log.now


@dataclass
class Answering:
    """`Commands` that accepts everything once, and remembers it."""

    done: dict[str, Made] = field(default_factory=dict)
    hold: asyncio.Event | None = None
    fails: bool = False
    hidden: frozenset[str] = frozenset()

    async def handle(self, playing: Playing | None, table: str | None, message: BaseModel) -> Made:
        """See `Commands`."""
        if self.hold is not None:
            await self.hold.wait()
        if self.fails:
            raise RuntimeError("a defect")
        said: Any = message
        key = f"{playing.session.id if playing else ''}/{said.id}"
        if key not in self.done:
            body = {"id": said.id, "to": said.type, "accepted": True, "data": {"number": len(self.done)}}
            self.done[key] = Made("answer", 1, {**body, "data": {"number": len(self.done), "table": table}})
        return self.done[key]

    async def purse(self, playing: Playing, *, fresh: bool = False) -> Purse:
        """See `Commands`."""
        del fresh
        return Purse(playing.session.currency, 1_000)

    def balance(self, purse: Purse) -> Made:
        """See `Commands`."""
        return Made("balance", 0, {"currency": purse.currency, "amount": purse.cash})

    async def last_round(self, playing: Playing) -> LastRound | None:
        """See `Commands`."""
        del playing
        return None

    def sees(self, playing: Playing | None, table: str) -> bool:
        """See `Commands`."""
        del playing
        return table not in self.hidden


@dataclass
class Talking:
    """`Chat` that a test writes."""

    lines: list[ChatTold] = field(default_factory=list)
    told: list[Callable[[Sequence[ChatTold]], None]] = field(default_factory=list)

    def says(self, text: str, player: str = "") -> None:
        """A new line."""
        number = len(self.lines) + 1
        said = {"line": number, "nickname": "Ann", "who": "player", "own": False, "text": text}
        line = ChatTold(number, {**said, "said_at": "2026-01-31T12:00:00.000000Z"}, player)
        self.lines.append(line)
        for one in tuple(self.told):
            one([line])

    async def latest(self, table: str) -> tuple[int, Sequence[ChatTold]]:
        """See `Chat`."""
        del table
        return len(self.lines), tuple(self.lines[-50:])

    async def since(self, table: str, seq: int) -> Sequence[ChatTold] | None:
        """See `Chat`."""
        del table
        return self.lines[seq:]

    def follow(self, table: str, told: Callable[[Sequence[ChatTold]], None]) -> Callable[[], None]:
        """See `Chat`."""
        del table
        self.told.append(told)
        return lambda: self.told.remove(told)


@dataclass
class Gateway:
    """A gateway that serves players' connections."""

    world: World
    play: Play
    log: TableLog
    commands: Answering
    chat: Talking
    url: str

    async def connected(self, origin: str | None = None) -> ClientConnection:
        """A connection that has said nothing yet, for as long as the world lasts."""
        said = None if origin is None else Origin(origin)
        opening = connect(
            f"{self.url.replace('http', 'ws')}/play/ws",
            subprotocols=[Subprotocol(SUBPROTOCOL)],
            origin=said,
            compression=None,
            ping_interval=None,
        )
        return await self.world.stack.enter_async_context(opening)

    async def opened(self, **hello: Any) -> Talk:
        """A connection that has said hello."""
        talk = Talk(await self.connected())
        with contextlib.suppress(ConnectionClosed):  # it may have been told already that it ends
            await talk.say("hello", **hello)
        return talk


class Talk:
    """A connection, message by message."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.heard: list[dict[str, Any]] = []

    async def say(self, type_: str, **more: Any) -> str:
        """Say something; its id."""
        said = more.setdefault("id", f"m{next(_numbers)}")
        await self.socket.send(json.dumps({"type": type_, **more}))
        return str(said)

    async def hears(self, *types: str) -> dict[str, Any]:
        """The next message of one of these types; what comes before is kept in `heard`."""
        async with asyncio.timeout(WAIT_S):
            while True:
                told: dict[str, Any] = json.loads(await self.socket.recv())
                self.heard.append(told)
                if told["type"] in types:
                    return told

    async def events(self, number: int, type_: str = "table") -> list[tuple[int, int]]:
        """So many events more, by round and position."""
        found: list[tuple[int, int]] = []
        while len(found) < number:
            told = await self.hears(type_)
            found += [(one["round"], one["position"]) for one in told.get("events", ())]
        return found

    async def asked(self, type_: str, **more: Any) -> dict[str, Any]:
        """Say something; its answer."""
        said = await self.say(type_, **more)
        while True:
            told = await self.hears("answer", "pong", "error", "ended")
            if told["type"] == "ended" or told["id"] == said:
                return told

    def resume(self) -> dict[str, str]:
        """Where each channel is."""
        return {one["channel"]: one["seq"] for one in self.heard if "seq" in one}


@contextlib.asynccontextmanager
async def served(
    world: World, log: TableLog, chat: Talking | None = None, doing: Commands | None = None
) -> AsyncIterator[Gateway]:
    """A gateway's app on a real socket, over a table's log. `doing`: what messages do, else `Answering`."""
    commands, talking = Answering(), chat or Talking()
    watching: Any = Watching(log)
    play = play_on(world.edge, talking, doing or commands, watching)
    world.app.state.play = play
    config = uvicorn.Config(
        world.app,
        port=0,
        log_config=None,
        lifespan="off",
        ws=PlayProtocol,
        ws_max_size=MESSAGE_BYTES_MAX,
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=5,
    )
    server = uvicorn.Server(config)
    ending = asyncio.Event()
    running = asyncio.create_task(play.run(ending))
    serving = asyncio.create_task(server.serve())
    try:
        async with asyncio.timeout(WAIT_S):
            while not server.started:  # noqa: ASYNC110 - uvicorn tells it by this alone
                await asyncio.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield Gateway(world, play, log, commands, talking, f"http://127.0.0.1:{port}")
    finally:
        server.should_exit = True
        ending.set()
        await asyncio.wait([serving, running], timeout=WAIT_S)
