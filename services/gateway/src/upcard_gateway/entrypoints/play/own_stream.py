"""What a table tells one player alone, followed for their connection and told to it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

import structlog

from upcard_gateway.app.game_seen import Mine
from upcard_gateway.app.play_places import Place, PlaceSeal
from upcard_gateway.app.play_watch import TableWatch, Update, WatchBroken, WatchRefused
from upcard_gateway.app.player_sessions import Playing
from upcard_gateway.entrypoints.play.contract import Beginning, Commands, Json, Made, OwnShown, Purse

__all__ = ["OwnStream", "Tell"]

_FIRST_PAUSE_S: Final = 0.1
PURSE_S: Final = 1.0
CATCH_UP_S: Final = 0.4
"""Own updates may overtake what everybody is told by a quarter of a second: then the state is told again."""
LATER_S: Final = (1.0, 2.0, 5.0, 15.0, 30.0)
"""Wallets hear of releases and settlements a moment after the table has told them: then the balance is asked
for once more, and on and on while money is held."""
_LONGEST_PAUSE_S: Final = 2.0

_log = structlog.get_logger("upcard.gateway.play")

Tell = Callable[[Made, str | None], None]
"""Tells the player a message; with a place, in the channel `own`."""


@dataclass
class OwnStream:
    """One player at one table. `run` goes on until it is cancelled, or the table cannot be shown."""

    watch: TableWatch
    commands: Commands
    playing: Playing
    table: str
    shown: OwnShown
    tell: Tell
    away_s: float
    reached: Callable[[], Place]
    """How far the table, as everybody sees it, is known here."""
    seal: PlaceSeal
    place: Place = Place()  # noqa: RUF009 - it is frozen
    token: str = ""
    begun: Callable[[], None] | None = None
    """Called once everything of the player's own was told that was known at the beginning."""
    _purse: Purse | None = None
    _view: Json | None = None
    _asking: asyncio.Task[None] | None = None
    _asked_again: bool = False
    _expired: bool = False
    _again: asyncio.TimerHandle | None = None
    _later: asyncio.TimerHandle | None = None

    def go_on(self, resume: str | None) -> None:
        """Go on at a place that was told before; what is none of ours is as one that is too long ago."""
        found = None if resume is None else self.seal.read(self._whose, resume)
        if found is not None:
            self.place, self.token = found
        self._expired = resume is not None and found is None

    @property
    def _whose(self) -> str:
        return f"own {self.playing.session.player} {self.playing.session.currency} {self.table}"

    def _seq(self) -> str:
        return self.seal.text(self._whose, self.place, self.token)

    async def run(self) -> str:
        """Tell what happens. Why it ended: `table_unknown`, `table_away`."""
        try:
            return await self._follow()
        finally:
            for one in (self._again, self._asking, self._later):
                if one is not None:
                    one.cancel()

    async def _follow(self) -> str:
        pause_s, since_s = _FIRST_PAUSE_S, time.monotonic()
        if self.token:
            await self._picture()
        session = self.playing.session
        while True:
            try:
                updates = self.watch.own(self.table, session.player, session.currency, self.token)
                async for update in updates:
                    pause_s, since_s = _FIRST_PAUSE_S, time.monotonic()
                    await self._take(update)
            except WatchRefused as refused:
                return refused.reason
            except WatchBroken as broken:
                _log.info("a player's table is followed anew", table=self.table, why=str(broken))
            if time.monotonic() - since_s > self.away_s:
                return "table_away"
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)

    async def _picture(self) -> None:
        """Who goes on where they were is told at once how everything of theirs is: it is no event."""
        session = self.playing.session
        try:
            now = await self.watch.now(self.table, session.player, session.currency)
        except (WatchRefused, WatchBroken):
            self._has_begun()
            return  # it comes with the next window
        self.shown.begin(now)
        if now.view is not None:
            await self._first_purse()
            self._tell_state(now.view, None)
        self._has_begun()

    async def _take(self, update: Update) -> None:
        what = update.what
        if isinstance(what, Beginning):
            await self._begin(what, update.token, expired=update.expired)
        elif isinstance(what, Mine):
            self._happened(what, update.token)

    async def _begin(self, beginning: Beginning, token: str, *, expired: bool) -> None:
        position = beginning.table.get("position", 0)
        self.place = Place(position if isinstance(position, int) else 0)
        if beginning.round:
            self.place = self.place.after(beginning.round, beginning.position)
        self.token = token
        self.shown.begin(beginning)
        self._expired, self._view = expired or self._expired, None
        await self._first_purse()
        self._tell_state(beginning.view or {}, self._seq())
        self._has_begun()

    def _happened(self, mine: Mine, token: str) -> None:
        news = [one for one in mine.events if not self.place.had(one.round, one.position)]
        for one in news:
            self.place = self.place.after(one.round, one.position)
        self.token = token
        if news:
            number = next((one.round for one in reversed(news) if one.round), 0)
            body: Json = {"events": [self.shown.event(one) for one in news]}
            self.tell(Made("own", number, body), self._seq())
            for notice in filter(None, map(self.shown.notice, news)):
                self.tell(notice, None)
            self._ask_purse()
            self._look_later(0)
        if mine.view is not None:
            self._tell_state(mine.view, None)

    def _tell_state(self, view: Json, seq: str | None) -> None:
        self._tell_now(view, seq)
        if self._again is not None:
            self._again.cancel()
        known = self.reached()
        self._again = asyncio.get_running_loop().call_later(CATCH_UP_S, self._tell_again, view, known)

    def _tell_again(self, view: Json, known: Place) -> None:
        """Boxes are drawn with everybody's cards: those that have come since belong to the same state."""
        if self.reached() != known:
            self._tell_now(view, None)

    def _tell_now(self, view: Json, seq: str | None) -> None:
        self._view = view
        bets = self.shown.bets(view)
        state = self.shown.state(view, self._purse)
        if self._expired:
            state, self._expired = {**state, "because": "resume_expired"}, False
        self.tell(Made("own", bets.round, state), seq)
        self.tell(bets, None)

    async def _first_purse(self) -> None:
        """What the player has; where that takes long, the rest does not wait for it."""
        self._ask_purse()
        if self._asking is not None:
            await asyncio.wait([self._asking], timeout=PURSE_S)

    def _ask_purse(self) -> None:
        """Ask what the player has, once more after a question that is on its way."""
        self._asked_again = True
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._purse_now())

    def _look_later(self, step: int) -> None:
        """Ask what the player has once more, a little later."""
        if self._later is not None:
            self._later.cancel()
        if step < len(LATER_S):
            loop = asyncio.get_running_loop()
            self._later = loop.call_later(LATER_S[step], self._look_again, step)

    def _look_again(self, step: int) -> None:
        self._ask_purse()
        purse = self._purse
        if step == 0 or purse is None or purse.held or purse.cash is None:
            self._look_later(step + 1)

    async def _purse_now(self) -> None:
        """Where a wallet is away chips are offered as before; what is staked is decided there anyway."""
        while self._asked_again:
            self._asked_again = False
            try:
                purse = await self.commands.purse(self.playing, fresh=True)
            except Exception as error:  # noqa: BLE001 - it is asked again with the next event
                _log.info("a balance is not known", why=type(error).__name__)
                return
            if purse == self._purse:
                continue
            self._purse = purse
            self.tell(self.commands.balance(purse), None)
            if self._view is not None:
                self._tell_now(self._view, None)

    def _has_begun(self) -> None:
        if self.begun is not None:
            self.begun()
            self.begun = None


async def ended_with(work: Awaitable[str]) -> str:
    """Why a stream ended; a defect of ours is told as one."""
    try:
        return await work
    except Exception as error:  # noqa: BLE001 - the connection is told, and connects again
        _log.error("a player's table cannot be shown", exc_info=error)
        return "internal"
