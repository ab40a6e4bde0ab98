"""A player's program: their connection to a gateway, which connects again by itself.

    async with Player("https://play.example", launch_token=token) as player:
        await player.join("t1")
        await player.until(lambda now: now.actions is not None and now.actions.place)
        answer = await player.bet(Placement(box=1, wager="ante", amount=500))

What a lost connection leaves open is said again under the same id, so that nothing is done twice; the
channels go on where they were, so that nothing is missed.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import uuid
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from types import TracebackType
from typing import Any, Final, Literal, Self

from pydantic import ValidationError
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException
from websockets.typing import Origin, Subprotocol

from upcard_platform import play
from upcard_platform.player_state import PlayerState

__all__ = ["PlayEnded", "Player"]

_FIRST_PAUSE_S: Final = 0.1
_LONGEST_PAUSE_S: Final = 5.0
_PING_S: Final = 20.0
_KEPT: Final = 10_000
"""Messages that wait for whoever reads `messages`; the oldest go."""
_LOST: Final = (OSError, WebSocketException, TimeoutError)
Wager = Literal["ante", "bonus_player", "bonus_dealer"]


class PlayEnded(Exception):
    """The connection is over for good. `reason`: a slug of docs/play.md, or `gateway_unreachable`."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(f"{reason}: {text}")
        self.reason = reason


class Player(PlayerState):
    """A context: connected within, for as long as the session lasts. Attributes have what was told last."""

    def __init__(  # noqa: PLR0913 - each by name
        self,
        url: str,
        *,
        launch_token: str | None = None,
        session_token: str | None = None,
        view: bool = False,
        table: str | None = None,
        origin: str | None = None,
        answer_within_s: float = 20.0,
        away_max_s: float = 60.0,
    ) -> None:
        """`url`: the gateway's. Exactly one of the tokens, or `view`. `table`: joined at once."""
        super().__init__()
        scheme, _, rest = url.rstrip("/").partition("://")
        self._address = f"{'wss' if scheme in {'https', 'wss'} else 'ws'}://{rest}/play/ws"
        self._launch_token = launch_token
        self.session_token = session_token
        self._view = view
        self.table = table
        self._origin = origin
        self._answer_within_s = answer_within_s
        self._away_max_s = away_max_s
        self._socket: ClientConnection | None = None
        self._open: dict[str, tuple[play.Message, asyncio.Future[play.Told]]] = {}
        self._waiting: deque[play.Told] = deque(maxlen=_KEPT)
        self._changed = asyncio.Condition()
        self._ended: PlayEnded | None = None
        self._task: asyncio.Task[None] | None = None
        self.connections = 0
        """How often it has connected."""

    async def __aenter__(self) -> Self:
        """Connect. Raises PlayEnded."""
        self._task = asyncio.create_task(self._run(), name="player")
        await self.until(lambda now: now.welcome is not None, within_s=self._away_max_s)
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        """Disconnect; the session goes on."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task], timeout=5.0)

    async def until(self, reached: Callable[[Self], Any], within_s: float = 30.0) -> None:
        """Wait until something is so. Raises TimeoutError, PlayEnded."""
        async with asyncio.timeout(within_s), self._changed:
            while not reached(self):
                if self._ended is not None:
                    raise self._ended
                await self._changed.wait()

    async def messages(self) -> AsyncIterator[play.Told]:
        """Everything that is told, from the first message on. Raises PlayEnded at its end."""
        while True:
            while self._waiting:
                yield self._waiting.popleft()
            async with self._changed:
                if self._waiting:
                    continue
                if self._ended is not None:
                    raise self._ended
                await self._changed.wait()

    async def say(self, message: play.Message) -> play.Answer:
        """Say something and wait for its answer. Raises TimeoutError: it is not known; PlayEnded."""
        told = await self._asked(message)
        if isinstance(told, play.Answer):
            return told
        if isinstance(told, play.Error):
            return play.Answer(
                channel="none",
                round=told.round,
                at=told.at,
                id=message.id,
                to=str(getattr(message, "type", "")),
                accepted=False,
                reason=told.code,
                text=told.text,
            )
        raise TypeError(f"{type(told).__name__} is no answer")

    async def ping(self) -> None:
        """Ask whether the gateway is there. Raises TimeoutError, PlayEnded."""
        await self._asked(play.Ping(id=_new_id()))

    async def join(self, table: str) -> play.Answer:
        """Be at a table: told of it from now on, again after a lost connection."""
        self.left()
        answer = await self.say(play.Join(id=_new_id(), table=table))
        self.table = table if answer.accepted else None
        return answer

    async def leave(self) -> play.Answer:
        """Be at no table."""
        self.table = None
        return await self.say(play.Leave(id=_new_id()))

    async def bet(self, *placements: play.Placement, round_number: int = 0) -> play.Answer:
        """Add to wagers, all or none."""
        wanted = list(placements)
        return await self.say(play.Bet(id=_new_id(), round=round_number, placements=wanted))

    async def withdraw(self, box: int, wager: Wager, round_number: int = 0) -> play.Answer:
        """Take a wager back."""
        return await self.say(play.Withdraw(id=_new_id(), round=round_number, box=box, wager=wager))

    async def undo(self, round_number: int = 0) -> play.Answer:
        """Take the latest placement back."""
        return await self.say(play.Undo(id=_new_id(), round=round_number))

    async def clear(self, round_number: int = 0) -> play.Answer:
        """Take all bets back."""
        return await self.say(play.Clear(id=_new_id(), round=round_number))

    async def double(self, round_number: int = 0) -> play.Answer:
        """Double all wagers."""
        return await self.say(play.Double(id=_new_id(), round=round_number))

    async def rebet(self, round_number: int = 0) -> play.Answer:
        """Place the bets of the previous round again."""
        return await self.say(play.Rebet(id=_new_id(), round=round_number))

    async def option(
        self,
        box: int,
        kind: Literal["bet", "sixth", "exchange", "fold"],
        positions: Sequence[int] = (),
        round_number: int = 0,
    ) -> play.Answer:
        """Choose a box's option."""
        chosen = list(positions)
        return await self.say(
            play.Option(id=_new_id(), round=round_number, box=box, kind=kind, positions=chosen)
        )

    async def final(
        self,
        box: int,
        choice: Literal["bet", "stand", "fold"],
        insurance: int = 0,
        round_number: int = 0,
    ) -> play.Answer:
        """Choose a box's final option."""
        return await self.say(
            play.FinalOption(id=_new_id(), round=round_number, box=box, choice=choice, insurance=insurance)
        )

    async def purchase(self, box: int, *, buy: bool, round_number: int = 0) -> play.Answer:
        """Buy the dealer's exchange, or do not."""
        return await self.say(play.Purchase(id=_new_id(), round=round_number, box=box, buy=buy))

    async def tip(self, amount: int) -> play.Answer:
        """Give the dealer something."""
        return await self.say(play.Tip(id=_new_id(), amount=amount))

    async def chat(self, text: str) -> play.Answer:
        """Say something at the table."""
        return await self.say(play.ChatLine(id=_new_id(), text=text))

    async def lobby(self) -> play.Answer:
        """The tables that may be joined, in the answer's `data`."""
        return await self.say(play.LobbyAsked(id=_new_id()))

    async def history(self, after: str | None = None) -> play.Answer:
        """The player's own rounds, the newest first, in the answer's `data`."""
        return await self.say(play.HistoryAsked(id=_new_id(), after=after))

    async def statement(self, after: str | None = None) -> play.Answer:
        """What moved on the player's account, the newest first, in the answer's `data`."""
        return await self.say(play.StatementAsked(id=_new_id(), after=after))

    async def end(self) -> None:
        """End the session."""
        with contextlib.suppress(PlayEnded):
            await self.say(play.End(id=_new_id()))

    async def _asked(self, message: play.Message) -> play.Told:
        if self._ended is not None:
            raise self._ended
        answer: asyncio.Future[play.Told] = asyncio.get_running_loop().create_future()
        self._open[message.id] = (message, answer)
        try:
            await self._send(message)
            async with asyncio.timeout(self._answer_within_s):
                return await answer
        finally:
            self._open.pop(message.id, None)

    async def _send(self, message: play.Message | play.Hello) -> None:
        if self._socket is not None:
            with contextlib.suppress(*_LOST):  # it is said again on the next connection
                await self._socket.send(message.model_dump_json(exclude_none=True))

    async def _run(self) -> None:
        """Be connected, again and again, until it is over."""
        loop = asyncio.get_running_loop()
        pause_s, since_s = _FIRST_PAUSE_S, loop.time()
        try:
            while self._ended is None:
                before = self.connections
                with contextlib.suppress(*_LOST):
                    await self._connected()
                if self.connections > before:
                    pause_s, since_s = _FIRST_PAUSE_S, loop.time()
                if loop.time() - since_s > self._away_max_s:
                    self._ended = PlayEnded("gateway_unreachable", "no gateway answers")
                    break
                await asyncio.sleep(pause_s * random.uniform(0.5, 1.0))  # noqa: S311 - spreads reconnections
                pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
        except ValidationError as error:
            found = error.errors(include_input=False)[0]
            self._ended = PlayEnded("gateway_unreachable", f"it does not speak our protocol: {found['msg']}")
        finally:
            await self._over()

    async def _over(self) -> None:
        ended = self._ended or PlayEnded("left", "this program has disconnected")
        self._ended = ended
        for _, answer in self._open.values():
            if not answer.done():
                answer.set_exception(ended)
        async with self._changed:
            self._changed.notify_all()

    async def _connected(self) -> None:
        protocols = [Subprotocol(play.SUBPROTOCOL)]
        origin = None if self._origin is None else Origin(self._origin)
        async with connect(
            self._address, subprotocols=protocols, origin=origin, compression=None, max_size=2**23
        ) as socket:
            self._socket = socket
            pinging = asyncio.create_task(self._ping())
            try:
                await self._send(self._hello())
                async for text in socket:
                    await self._told(play.TOLD.validate_json(text))
            finally:
                self._socket = None
                pinging.cancel()

    def _hello(self) -> play.Hello:
        if self._view:
            return play.Hello(view=True, table=self.table, resume=self.resume if self.table else None)
        if self.session_token is None:
            return play.Hello(launch_token=self._launch_token, table=self.table)
        return play.Hello(
            session_token=self.session_token, table=self.table, resume=self.resume if self.table else None
        )

    async def _ping(self) -> None:
        while True:
            await asyncio.sleep(_PING_S)
            await self._send(play.Ping(id=_new_id()))

    async def _told(self, told: play.Told) -> None:
        if isinstance(told, play.Welcome):
            self.connections += 1
            self.session_token = told.session_token or self.session_token
        self.take(told)
        if isinstance(told, play.Welcome):
            for message, _ in tuple(self._open.values()):
                await self._send(message)
        if isinstance(told, play.Answer | play.Pong | play.Error) and told.id in self._open:
            answer = self._open[told.id][1]
            if not answer.done():
                answer.set_result(told)
        if isinstance(told, play.Ended) and not told.resumable:
            self._ended = PlayEnded(told.reason, told.text)
        self._waiting.append(told)
        async with self._changed:
            self._changed.notify_all()


def _new_id() -> str:
    return uuid.uuid4().hex
