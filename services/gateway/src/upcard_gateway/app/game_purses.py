"""What players have to play with: asked of the wallet seldom, however often it is wanted.

Of a seamless wallet the partner is asked, whose answer may take two seconds; while it fails nobody waits for
it in vain, since the wallet leaves it alone then.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final, Protocol

from upcard_gateway.app.game_seen import Purse
from upcard_gateway.domain.sessions import Session

__all__ = ["PURSES_KEPT", "PlayerMoney", "Purses"]

FRESH_S: Final = 1.0
"""For so long nobody is asked again."""
PURSES_KEPT: Final = 20_000


class PlayerMoney(Protocol):
    """The wallet and the bonus service, as players need them."""

    async def purse(self, session: Session) -> Purse:
        """What the session's account has. Never raises for a service that is away: it says `unknown`."""
        ...


class Purses:
    """The purses of one process."""

    def __init__(self, money: PlayerMoney, clock: Callable[[], float] = time.monotonic) -> None:
        self._money = money
        self._clock = clock
        self._known: OrderedDict[str, tuple[float, str, Purse]] = OrderedDict()
        self._asking: dict[str, asyncio.Task[Purse]] = {}

    async def purse(self, session: Session, *, fresh: bool = False) -> Purse:
        """What the player has, at most a second old; `fresh`: asked now."""
        known = self._known.get(session.player)
        if not fresh and known is not None and known[1] == session.id and self._clock() - known[0] < FRESH_S:
            return known[2]
        task = self._asking.get(session.id)
        if task is None or fresh:
            task = asyncio.ensure_future(self._ask(session))
            self._asking[session.id] = task
            task.add_done_callback(lambda done: self._asked(session.id, done))
        return await asyncio.shield(task)

    def forget(self, player: str) -> None:
        """The player's money may have moved."""
        self._known.pop(player, None)

    async def _ask(self, session: Session) -> Purse:
        asked_at = self._clock()
        purse = await self._money.purse(session)
        self._known[session.player] = (asked_at, session.id, purse)
        self._known.move_to_end(session.player)
        while len(self._known) > PURSES_KEPT:
            self._known.popitem(last=False)
        return purse

    def _asked(self, session: str, task: asyncio.Task[Purse]) -> None:
        if self._asking.get(session) is task:
            del self._asking[session]
        if not task.cancelled():
            task.exception()  # whoever waits is told; where nobody does it is not lost on the loop
