"""Giving reserves back: the money held for the bet of an ante that does not stand (any more).

The wallet frees what an event names, and no event names a reserve. What is not given back here goes back with
the end of the round, so a failure costs the player time and nothing else.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Any, Final, NamedTuple

import structlog

from rules_core.round import events as e
from upcard_table.adapters.wallet.observing import AskObserver, Unheard
from upcard_table.adapters.wallet.settings import AskingSettings
from upcard_table.app.ports import FundsUnavailable, WantedHolds

_log = structlog.get_logger("upcard_table")

_ENDS: Final = (e.RoundSettled, e.RoundCancelled)


class Reserve(NamedTuple):
    """What a reserve is known by."""

    round: str
    player: str
    bet_id: str
    box: int


Find = Callable[[str], Coroutine[Any, Any, Iterable[tuple[Reserve, str]]]]
"""The open holds of a round that are of bets, with their ids. Raises FundsUnavailable."""
Release = Callable[[Sequence[str]], Coroutine[Any, Any, None]]
"""Give these holds back. Raises FundsUnavailable."""


class Freeing:
    """What is to be given back, and the ids of reserves that were made here. Worked on while `run` runs."""

    def __init__(
        self,
        find: Find,
        release: Release,
        settings: AskingSettings | None = None,
        observer: AskObserver | None = None,
    ) -> None:
        self._find = find
        self._release = release
        self._settings = settings or AskingSettings()
        self._observer = observer or Unheard()
        self._ids: OrderedDict[str, dict[Reserve, str]] = OrderedDict()
        self._known = 0
        self._wanted: dict[Reserve, int] = {}
        """With the tries that were made."""
        self._wake = asyncio.Event()

    @property
    def remembered(self) -> int:
        """Reserves whose ids are known here."""
        return sum(map(len, self._ids.values()))

    def held(self, wanted: WantedHolds, holds: Sequence[str]) -> None:
        """A command's money is held: note its reserves, a bet beside an ante of an open box."""
        antes = {one.box for one in wanted.wagers if one.wager == "ante" and not one.blind}
        reserves = {
            Reserve(wanted.round, wanted.player, wanted.bet_id, one.box): hold
            for one, hold in zip(wanted.wagers, holds, strict=False)
            if one.wager == "bet" and not one.blind and one.box in antes
        }
        if reserves:
            ids = self._ids.setdefault(wanted.round, {})
            self._known -= len(ids)
            ids.update(reserves)
            self._known += len(ids)
        while self._known > self._settings.reserves_known_max:
            _, oldest = self._ids.popitem(last=False)
            self._known -= len(oldest)

    def note(self, round_name: str, events: Iterable[e.RoundEvent]) -> None:
        """See `app.ports.Funds.free_reserves`."""
        for event in events:
            if isinstance(event, _ENDS):
                self._forget(round_name)
            else:
                self._want(reserves_gone(round_name, event))

    async def run(self, ending: asyncio.Event) -> None:
        """Give back what is noted, until `ending` is set."""
        stopping = asyncio.ensure_future(ending.wait())
        try:
            while not ending.is_set():
                waiting = asyncio.ensure_future(self._wake.wait())
                await asyncio.wait([waiting, stopping], return_when=asyncio.FIRST_COMPLETED)
                waiting.cancel()
                self._wake.clear()
                if self._wanted and not ending.is_set():
                    await self._free()
        finally:
            stopping.cancel()

    def _want(self, reserves: Iterable[Reserve]) -> None:
        for reserve in reserves:
            if len(self._wanted) >= self._settings.freeing_max:
                self._observer.not_freed(1)
                continue
            self._wanted.setdefault(reserve, 0)
            self._wake.set()

    def _forget(self, round_name: str) -> None:
        self._known -= len(self._ids.pop(round_name, {}))
        for reserve in [one for one in self._wanted if one.round == round_name]:
            del self._wanted[reserve]

    async def _free(self) -> None:
        """One try for all that is wanted."""
        batch = list(self._wanted)
        try:
            ids = [hold for reserve in batch if (hold := self._id(reserve)) is not None]
            missing = {reserve.round for reserve in batch if self._id(reserve) is None}
            for round_name in missing:
                found = dict(await self._find(round_name))
                ids += [found[reserve] for reserve in batch if reserve in found and self._id(reserve) is None]
            for start in range(0, len(ids), self._settings.releases_max):
                await self._release(ids[start : start + self._settings.releases_max])
        except FundsUnavailable:
            await self._later(batch)
            return
        for reserve in batch:
            self._wanted.pop(reserve, None)
            if self._ids.get(reserve.round, {}).pop(reserve, None) is not None:
                self._known -= 1

    async def _later(self, batch: Sequence[Reserve]) -> None:
        given_up = 0
        for reserve in batch:
            tries = self._wanted.get(reserve)
            if tries is None:
                continue
            if tries + 1 >= self._settings.tries:
                del self._wanted[reserve]
                given_up += 1
            else:
                self._wanted[reserve] = tries + 1
        if given_up:
            self._observer.not_freed(given_up)
            _log.warning("reserves are not given back before the end of their rounds", reserves=given_up)
        await asyncio.sleep(self._settings.first_pause_s)
        if self._wanted:
            self._wake.set()

    def _id(self, reserve: Reserve) -> str | None:
        return self._ids.get(reserve.round, {}).get(reserve)


def reserves_gone(round_name: str, event: e.RoundEvent) -> list[Reserve]:
    """The reserves of the open boxes' antes that an event takes back or declines."""
    if isinstance(event, e.BetWithdrawn):
        blind = {(one.bet_id, one.box) for one in event.stakes if one.wager == "bet"}
        return [
            Reserve(round_name, event.player, one.bet_id, one.box)
            for one in event.stakes
            if one.wager == "ante" and (one.bet_id, one.box) not in blind
        ]
    if isinstance(event, e.BetDeclined):
        named = {one.box for one in event.stakes if one.wager == "bet"}
        return [
            Reserve(round_name, event.player, event.bet_id, one.box)
            for one in event.stakes
            if one.wager == "ante" and one.box not in named
        ]
    return []
