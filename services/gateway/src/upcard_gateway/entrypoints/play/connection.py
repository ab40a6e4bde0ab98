"""One connection of a player's, or of who looks on: what it says is done, one message after another."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import structlog
from pydantic import BaseModel, ValidationError
from starlette.websockets import WebSocket

from upcard_gateway.adapters import play_metrics
from upcard_gateway.adapters.postgres.play_connections import Held
from upcard_gateway.app.play_places import PlaceSeal
from upcard_gateway.app.play_watch import TableWatch
from upcard_gateway.app.player_sessions import PlayerSessions, Playing
from upcard_gateway.entrypoints.http.edge import Edge
from upcard_gateway.entrypoints.play.contract import Commands, Made
from upcard_gateway.entrypoints.play.frames import message
from upcard_gateway.entrypoints.play.hub import TableAway, TableHub
from upcard_gateway.entrypoints.play.own_stream import OwnStream, ended_with
from upcard_gateway.entrypoints.play.shown import own_shown
from upcard_gateway.entrypoints.play.tables import Tables
from upcard_gateway.entrypoints.play.taking_over import Registry
from upcard_gateway.entrypoints.play.texts import RESUMABLE, ended_text, error_text
from upcard_gateway.entrypoints.play.viewing import Doors
from upcard_gateway.entrypoints.play.wire import Wire
from upcard_platform import play

__all__ = ["Connection", "Gone", "Parts"]

QUESTIONS_MAX: Final = 3
"""Most questions of one connection that are being answered at a time."""
_JOIN_S: Final = 15.0
_CODES: Final = {"server_stopping": 1012, "overloaded": 1013, "internal": 1011}
_POLICY: Final = 1008
_ERRORS_SHOWN: Final = 3
_READS: Final = (play.HistoryAsked, play.StatementAsked, play.LobbyAsked)

_log = structlog.get_logger("upcard.gateway.play")


class Gone(Exception):
    """The other side is gone, or was told that it ends."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What connections stand on; one for a gateway."""

    edge: Edge
    watch: TableWatch
    commands: Commands
    tables: Tables
    registry: Registry
    sessions: PlayerSessions
    doors: Doors
    seal: PlaceSeal


class Connection:
    """From `welcome` on. Compared by identity: it is a member of its table's hub and chat."""

    __slots__ = (
        "_at_s",
        "_hub",
        "_own",
        "_parts",
        "_questions",
        "_refused",
        "_socket",
        "_tokens",
        "acted",
        "held",
        "player",
        "playing",
        "wire",
    )

    def __init__(
        self, parts: Parts, socket: WebSocket, wire: Wire, playing: Playing | None, held: Held | None
    ) -> None:
        self._parts = parts
        self._socket = socket
        self.wire = wire
        self.playing = playing
        self.player = "" if playing is None else playing.session.player
        self.held = held or Held("", "", "")
        self.acted = playing is not None
        self._hub: TableHub | None = None
        self._own: asyncio.Task[None] | None = None
        self._questions: set[asyncio.Task[None]] = set()
        self._tokens = float(parts.edge.settings.play_messages_burst)
        self._at_s = time.monotonic()
        self._refused = 0

    def write(self, frames: bytes) -> None:
        """Send frames. Never raises, never waits."""
        self.wire.write(frames)

    def leave_for(self, reason: str) -> None:
        """End for this reason."""
        end(self.wire, self._parts.edge, reason, self._round)

    @property
    def _round(self) -> int:
        """Number of the latest round of the table that it is at; 0: none."""
        return 0 if self._hub is None else self._hub.round

    def tell(self, made: Made, seq: str | None = None) -> None:
        """Send a message of this connection's own."""
        channel = "none" if seq is None else "own"
        now = self._parts.edge.now()
        number = made.round or self._round
        self.write(message(made.type, now, made.body, round_number=number, channel=channel, seq=seq))

    async def serve(self, table: str | None, resume: play.Resume | None) -> None:
        """Serve it until it is gone."""
        try:
            await self._begin(table, resume)
            while True:
                await self._message(await self._heard())
        except Gone:
            return
        finally:
            await self._leave()
            for question in self._questions:
                question.cancel()

    async def _begin(self, table: str | None, resume: play.Resume | None) -> None:
        try:
            self._beside(self._tell_balance())
            if table is not None and (refused := await self._join(table, resume)) is not None:
                self._tell_error(refused, "hello")
        except Exception as error:
            _log.error("a connection could not begin", exc_info=error)
            self.leave_for("internal")
            raise Gone from error

    async def _tell_balance(self) -> None:
        playing = self.playing
        if playing is None:
            return
        try:
            purse = await self._parts.commands.purse(playing)
        except Exception as error:  # noqa: BLE001 - it comes with the next answer
            _log.info("a balance is not known", why=type(error).__name__)
            return
        self.tell(self._parts.commands.balance(purse))

    async def _heard(self) -> str | bytes:
        return await heard(
            self._socket, self._parts.edge.settings.play_silence_s, partial(self.leave_for, "silent")
        )

    async def _message(self, text: str | bytes) -> None:
        if self.wire.over:
            # What was said before the end was heard here is not done after it.
            raise Gone
        if not self._may_speak():
            self._refused += 1
            if self._refused > self._parts.edge.settings.play_messages_burst:
                self.leave_for("too_fast")
                raise Gone
            self._tell_error("too_fast", said_id(text))
            return
        try:
            asked = play.ASKED.validate_json(text)
        except ValidationError as error:
            self._tell_error("unreadable", said_id(text), why=wrong_in(error))
            return
        try:
            await self._do(asked)
        except Gone:
            raise
        except Exception as error:  # noqa: BLE001 - whatever is wrong with one message, others can be told
            _log.error("a player's message failed", type=asked.type, exc_info=error)
            self._tell_error("internal", asked.id)

    def _may_speak(self) -> bool:
        settings = self._parts.edge.settings
        now_s = time.monotonic()
        gained = (now_s - self._at_s) * settings.play_messages_per_s
        self._tokens = min(float(settings.play_messages_burst), self._tokens + gained)
        self._at_s = now_s
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True

    async def _do(self, asked: Any) -> None:  # noqa: ANN401 - any message of a player's
        self.acted = self.acted or (self.playing is not None and not isinstance(asked, play.Ping))
        match asked:
            case play.Ping():
                self.tell(Made("pong", 0, {"id": asked.id}))
            case play.Hello():
                self._tell_error("hello_twice", asked.id)
            case play.Join():
                self._answer(asked, await self._join(asked.table, asked.resume))
            case play.Leave():
                await self._leave()
                self._answer(asked, None)
            case play.End():
                await self._end(asked)
            case _ if isinstance(asked, _READS):
                self._question(asked)
            case _:
                await self._handle(asked)

    async def _handle(self, asked: BaseModel) -> None:
        table = None if self._hub is None else self._hub.table
        began_s = time.monotonic()
        self.tell(await self._parts.commands.handle(self.playing, table, asked))
        took = play_metrics.answered_seconds.labels(str(getattr(asked, "type", "")))
        took.observe(time.monotonic() - began_s)

    def _question(self, asked: Any) -> None:  # noqa: ANN401 - one of _READS
        """A list may take long: nobody has to wait with a decision for it."""
        if len(self._questions) >= QUESTIONS_MAX:
            self._tell_error("too_many_questions", asked.id)
            return
        self._beside(self._patiently(asked))

    def _beside(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something beside the messages that come."""
        task = asyncio.create_task(work)
        self._questions.add(task)
        task.add_done_callback(self._questions.discard)

    async def _patiently(self, asked: Any) -> None:  # noqa: ANN401 - one of _READS
        try:
            await self._handle(asked)
        except Exception as error:  # noqa: BLE001 - as for other messages
            _log.error("a player's message failed", type=asked.type, exc_info=error)
            self._tell_error("internal", asked.id)

    async def _end(self, asked: play.End) -> None:
        if self.playing is not None:
            await self._parts.sessions.end(self.playing.session.id, self._parts.edge.now())
        self._answer(asked, None)
        self.leave_for("session_player")
        raise Gone

    def _answer(self, asked: Any, refused: str | None) -> None:  # noqa: ANN401 - any message of a player's
        """What became of a message that the connection itself handles."""
        body: dict[str, object] = {"id": asked.id, "to": asked.type, "accepted": refused is None}
        if refused is not None:
            body |= {"reason": refused, "text": error_text(refused), "again": refused == "table_away"}
        self.tell(Made("answer", 0, body))

    def _tell_error(self, code: str, asked_id: str | None, **values: str) -> None:
        body = {"code": code, "text": error_text(code, **values), "id": asked_id}
        self.tell(Made("error", 0, body))

    async def _join(self, table: str, resume: play.Resume | None) -> str | None:
        """Be at a table. Why not, else None."""
        parts, playing = self._parts, self.playing
        if not parts.commands.sees(playing, table):
            return "table_unknown"
        await self._leave()
        try:
            async with asyncio.timeout(_JOIN_S):
                hub = await parts.tables.hub(table)
                self._hub = hub
                await hub.join(self, None if resume is None else resume.table)
                if playing is not None:
                    await self._join_own(hub, playing, resume)
        except (TableAway, TimeoutError) as away:
            await self._leave()
            await parts.tables.drop_failed(table)
            return away.reason if isinstance(away, TableAway) else "table_away"
        return None

    async def _join_own(self, hub: TableHub, playing: Playing, resume: play.Resume | None) -> None:
        parts = self._parts
        last = await parts.commands.last_round(playing)
        stream = OwnStream(
            parts.watch,
            parts.commands,
            playing,
            hub.table,
            own_shown(playing, hub.shown, last),
            self.tell,
            parts.edge.settings.play_table_away_s,
            lambda: hub.reached,
            parts.seal,
        )
        stream.go_on(None if resume is None else resume.own)
        begun = asyncio.Event()
        stream.begun = begun.set
        self._own = asyncio.create_task(self._follow_own(stream))
        waiting = asyncio.create_task(begun.wait())
        try:
            await asyncio.wait({waiting, self._own}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()
        await parts.tables.chat_of(hub).join(self, None if resume is None else resume.chat)

    async def _follow_own(self, stream: OwnStream) -> None:
        self.leave_for(await ended_with(stream.run()))

    async def _leave(self) -> None:
        hub, self._hub = self._hub, None
        own, self._own = self._own, None
        if hub is not None:
            hub.leave(self)
            if self.playing is not None:
                self._parts.tables.chat_of(hub).leave(self)
        if own is not None:
            own.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait([own], timeout=1.0)


def end(wire: Wire, edge: Edge, reason: str, round_number: int = 0) -> None:
    """Tell the other side that its connection ends, and why; the first reason counts."""
    if wire.over:
        return
    body = {"reason": reason, "text": ended_text(reason), "resumable": reason in RESUMABLE}
    last = message("ended", edge.now(), body, round_number=round_number)
    wire.end(last, _CODES.get(reason, _POLICY))
    play_metrics.ended.labels(reason).inc()


async def heard(socket: WebSocket, within_s: float, silent: Callable[[], None]) -> str | bytes:
    """The next message. Raises Gone; who says nothing for too long is told so."""
    try:
        async with asyncio.timeout(within_s):
            received = await socket.receive()
    except TimeoutError:
        silent()
        raise Gone from None
    if received["type"] != "websocket.receive":
        raise Gone
    text = received.get("text")
    return text if text is not None else received.get("bytes") or b""


def said_id(text: str | bytes) -> str | None:
    """The id of a message that cannot be read, where it can be told."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    said = found.get("id") if isinstance(found, dict) else None
    return said if isinstance(said, str) and len(said) <= 64 and said.isascii() else None


def wrong_in(error: ValidationError) -> str:
    """What is wrong with a message, without anything that was in it."""
    found = error.errors(include_input=False, include_context=False, include_url=False)[:_ERRORS_SHOWN]
    return "; ".join(
        f"{'.'.join(str(step) for step in one['loc'])[:100]}: {one['msg'][:200]}" for one in found
    )
