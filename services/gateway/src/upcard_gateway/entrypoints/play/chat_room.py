"""The chat of one table for all connections of this instance."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Final, Protocol

from upcard_gateway.entrypoints.play.contract import Chat, ChatTold
from upcard_gateway.entrypoints.play.frames import message

__all__ = ["ChatRoom", "Talker"]

KEPT: Final = 200
"""Lines that are kept for who comes back."""


class Talker(Protocol):
    """A player's connection."""

    player: str

    def write(self, frames: bytes) -> None:
        """Send frames. Never raises, never waits."""
        ...


class ChatRoom:
    """Made with its table's hub; it begins when the first player comes."""

    def __init__(
        self, table: str, chat: Chat, now: Callable[[], dt.datetime], round_now: Callable[[], int]
    ) -> None:
        """`round_now`: number of the table's latest round."""
        self._table = table
        self._chat = chat
        self._now = now
        self._round_now = round_now
        self._talkers: set[Talker] = set()
        self._kept: deque[ChatTold] = deque(maxlen=KEPT)
        self._start = 0
        """All that is kept is behind this number, and everything behind it is kept, each line as it was told
        last: of one that was taken away the text is not."""
        self._seq = 0
        self._begun = asyncio.Lock()
        self._leave: Callable[[], None] | None = None

    async def join(self, talker: Talker, resume: str | None) -> None:
        """Tell a player the lines that they missed, or the last ones, and every line from now on."""
        await self._begin()
        seq = int(resume) if resume is not None and resume.isdigit() and len(resume) <= 16 else None
        missed: Sequence[ChatTold] | None = None
        if seq is not None and seq >= self._start:
            missed = [one for one in self._kept if one.seq > seq]
        elif seq is not None:
            missed = await self._chat.since(self._table, seq)
        if missed is None:
            missed = list(self._kept)
        # What came during the question is kept, and behind what was answered.
        last = max((one.seq for one in missed), default=seq or 0)
        missed = _told_last([*missed, *(one for one in self._kept if one.seq > last)])
        self._talkers.add(talker)
        talker.write(self._framed(missed, talker.player))

    def leave(self, talker: Talker) -> None:
        """Tell a player nothing more."""
        self._talkers.discard(talker)

    def close(self) -> None:
        """Follow the chat no longer."""
        if self._leave is not None:
            self._leave()
            self._leave = None

    async def _begin(self) -> None:
        async with self._begun:
            if self._leave is not None:
                return
            early: list[ChatTold] = []
            self._leave = self._chat.follow(self._table, lambda told: self._take(told, early))
            try:
                self._seq, latest = await self._chat.latest(self._table)
            except BaseException:
                self.close()
                raise
            self._start = self._seq
            self._keep([*latest, *(one for one in early if one.seq > self._seq)])
            self._seq = max([self._seq, *(one.seq for one in early)])

    def _take(self, told: Sequence[ChatTold], early: list[ChatTold]) -> None:
        if self._begun.locked():
            early.extend(told)
            return
        news = [one for one in told if one.seq > self._seq]
        if not news:
            return
        self._keep(news)
        self._seq = news[-1].seq
        everybody = self._framed(news, "")
        authors = {one.player for one in news}
        for talker in tuple(self._talkers):
            own = talker.player in authors
            talker.write(self._framed(news, talker.player) if own else everybody)

    def _keep(self, news: Sequence[ChatTold]) -> None:
        kept = _told_last([*self._kept, *news])
        for gone in kept[:-KEPT]:
            self._start = max(self._start, gone.seq)
        self._kept = deque(kept[-KEPT:], maxlen=KEPT)

    def _framed(self, told: Iterable[ChatTold], player: str) -> bytes:
        found = list(told)
        lines = [{**one.line, "own": bool(player) and one.player == player} for one in found]
        seq = str(max([self._seq, *(one.seq for one in found)]))
        number = self._round_now()
        return message("chat", self._now(), {"lines": lines}, round_number=number, channel="chat", seq=seq)


def _told_last(told: Iterable[ChatTold]) -> list[ChatTold]:
    """Each line as it was told last, in that order: what it was before is told to nobody any more."""
    found: dict[object, ChatTold] = {}
    for one in told:
        found.pop(one.line["line"], None)
        found[one.line["line"]] = one
    return list(found.values())
