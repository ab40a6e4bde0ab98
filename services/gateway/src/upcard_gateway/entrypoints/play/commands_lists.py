"""Lists that a player asks for: own rounds and statement, newest first, and the tables of the lobby."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from upcard_gateway.adapters.history_rounds import (
    CursorWrong,
    NoAccount,
    PeriodWrong,
    StatementLine,
    Window,
    player_rounds,
    statement,
)
from upcard_gateway.adapters.services import Services
from upcard_gateway.app.game_seen import Json, LastRound
from upcard_gateway.app.lobby import Lobby, TableShown, Visitor, Wanted
from upcard_gateway.app.player_sessions import Playing
from upcard_gateway.app.rounds import Played
from upcard_platform import play

__all__ = ["ListWrong", "Lists", "lobby_tables"]

LOOKED_BACK: Final = dt.timedelta(days=3_660)
"""How far a player's lists go back."""
LOBBY_MOST: Final = 200
PAGE: Final = 20
"""Lines of a page."""
_FIRST_WIDTH: Final = dt.timedelta(days=1)
_SHORTEST: Final = dt.timedelta(seconds=1)
_WIDER: Final = 6
_LOOKS: Final = 24
"""Most questions for one page of a statement: widths from a second to ten years are between them."""
_READ: Final = 200
_CURSOR: Final = re.compile(r"([0-9]{1,17})\.([0-9]{1,3})")
_EPOCH: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_TICK: Final = dt.timedelta(microseconds=1)
_LAST: Final = 5


class ListWrong(Exception):
    """The question cannot be answered: `reason` is a slug of what is wrong with it."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


@dataclass(frozen=True, slots=True)
class _Place:
    """Up to where a page went: before this moment, but for so many lines of it."""

    at: dt.datetime
    """The moment of the page's last line."""
    told: int
    """Lines of this very moment that were told, the last ones."""


class Lists:
    """A player's own lists, from the history."""

    def __init__(self, services: Services, now: Callable[[], dt.datetime]) -> None:
        self._services = services
        self._now = now

    async def history(self, playing: Playing, asked: play.HistoryAsked) -> Json:
        """A page of the player's rounds. Raises ListWrong, grpc.aio.AioRpcError."""
        now = self._now()
        window = Window(now - LOOKED_BACK, now + _SHORTEST, asked.after or "", PAGE)
        session = playing.session
        try:
            rounds, behind = await player_rounds(self._services, session.player, session.currency, window)
        except CursorWrong:
            raise ListWrong("after_unknown") from None
        return {"rounds": [_round(one) for one in rounds], "next": behind or None}

    async def last_round(self, playing: Playing) -> LastRound | None:
        """The player's last round that has ended, among the latest few."""
        now = self._now()
        window = Window(now - LOOKED_BACK, now + _SHORTEST, "", _LAST)
        session = playing.session
        rounds, _ = await player_rounds(self._services, session.player, session.currency, window)
        for one in rounds:
            if one.state == "settled" and one.returned is not None:
                return LastRound(one.number, one.returned)
        return None

    async def statement(self, playing: Playing, asked: play.StatementAsked) -> Json:
        """A page of what moved on the player's account, newest first. Raises ListWrong, AioRpcError."""
        now = self._now()
        since, until = now - LOOKED_BACK, now + _SHORTEST
        if asked.since is not None:
            since = max(since, _midnight(asked.since))
        if asked.until is not None and _midnight(asked.until) < until:
            until = min(until, _midnight(asked.until) + _FIRST_WIDTH)
        if since >= until:
            raise ListWrong("period_invalid")
        place = _place(asked.after)
        if place is not None:
            until = min(until, place.at + _TICK)
        lines = await self._newest(playing, since, until, place, PAGE + 1)
        page = lines[:PAGE]
        behind = _cursor(page, place) if len(lines) > PAGE else None
        return {"lines": [_line(one) for one in page], "next": behind}

    async def _newest(
        self, playing: Playing, since: dt.datetime, until: dt.datetime, place: _Place | None, wanted: int
    ) -> list[StatementLine]:
        """The latest lines of a period, newest first: looked for in growing parts of it, from its end."""
        found: list[StatementLine] = []
        width, end = _FIRST_WIDTH, until
        for _ in range(_LOOKS):
            if len(found) >= wanted or end <= since:
                break
            start = max(since, end - width)
            lines, more = await self._part(playing, start, end)
            if more and end - start > _SHORTEST:
                width = max(_SHORTEST, (end - start) / _WIDER)
                continue
            newest = list(reversed(lines))
            if place is not None and not found:
                newest = _behind(newest, place)
            found += newest
            end, width = start, width * _WIDER
        return found[:wanted]

    async def _part(
        self, playing: Playing, since: dt.datetime, until: dt.datetime
    ) -> tuple[tuple[StatementLine, ...], bool]:
        window = Window(since, until, "", _READ)
        session = playing.session
        try:
            part = await statement(self._services, session.player, session.currency, window)
        except PeriodWrong:
            raise ListWrong("period_invalid") from None
        except NoAccount:
            return (), False
        return part.lines, bool(part.next)


async def lobby_tables(lobby: Lobby, playing: Playing | None, sandbox: frozenset[str]) -> Json:
    """The tables that a player may join, by id. Raises NotKnown."""
    if playing is None:
        page = await lobby.page(Visitor("live", None, sandbox), Wanted(limit=LOBBY_MOST))
        return {"tables": [_table(one, None) for one in page.tables]}
    session = playing.session
    visitor = Visitor(session.environment, frozenset({session.currency}), sandbox)
    page = await lobby.page(visitor, Wanted(limit=LOBBY_MOST, currency=session.currency))
    tables = [_table(one, session.currency) for one in page.tables if session.table in (None, one.now.table)]
    return {"tables": tables}


def _midnight(day: dt.date) -> dt.datetime:
    return dt.datetime(day.year, day.month, day.day, tzinfo=dt.UTC)


def _behind(newest: list[StatementLine], place: _Place) -> list[StatementLine]:
    """Without the lines of that moment that were told."""
    same = [one for one in newest if one.at == place.at]
    return same[place.told :] + [one for one in newest if one.at != place.at]


def _cursor(page: list[StatementLine], before: _Place | None) -> str:
    at = page[-1].at
    told = sum(1 for one in page if one.at == at)
    if before is not None and before.at == at:
        told += before.told
    return f"{(at - _EPOCH) // _TICK}.{told}"


def _place(after: str | None) -> _Place | None:
    if after is None:
        return None
    match = _CURSOR.fullmatch(after)
    if match is None:
        raise ListWrong("after_unknown")
    return _Place(_EPOCH + int(match[1]) * _TICK, int(match[2]))


def _round(one: Played) -> Json:
    dealer = one.dealer
    return {
        "round": one.round,
        "table": one.table,
        "number": one.number,
        "ruleset": one.ruleset,
        "currency": one.currency,
        "state": one.state,
        "reason": one.reason,
        "opened_at": _text(one.opened_at),
        "ended_at": None if one.ended_at is None else _text(one.ended_at),
        "staked": one.staked,
        "returned": one.returned,
        "net": one.net,
        "corrections": max(0, one.revision - 1),
        "dealer": None if dealer is None else {"hand": dealer.final, "cards": list(dealer.cards)},
    }


def _line(one: StatementLine) -> Json:
    return {
        "at": _text(one.at),
        "kind": one.kind,
        "cash": one.change.cash,
        "held": one.change.held,
        "owed": one.change.owed,
        "promo": one.promo,
        "balance": one.balance.cash,
        "round": one.round,
        "reason": one.reason,
        "transaction": one.transaction,
    }


def _table(shown: TableShown, currency: str | None) -> Json:
    now = shown.now
    seats = shown.seats
    return {
        "table": now.table,
        "name": now.name,
        "ruleset": now.ruleset.id,
        "title": now.ruleset.title,
        "state": now.phase,
        "round": now.round,
        "languages": list(shown.languages),
        "dealer": shown.dealer_name,
        "seats": None
        if seats is None
        else {"boxes": seats.boxes, "shared": seats.shared, "free": list(seats.free)},
        "limits": [
            {"currency": one.currency, "ante_min": one.ante.min, "ante_max": one.ante.max}
            for one in now.limits
            if currency in (None, one.currency)
        ],
        "last_results": [
            {"round": one.number, "end": one.end, "dealer": None if one.dealer is None else one.dealer.final}
            for one in shown.results or ()
        ],
    }


def _text(moment: dt.datetime) -> str:
    return moment.astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
