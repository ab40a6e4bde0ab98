"""What becomes of a player's wish at a table: the session's limits first, then the table.

Whatever the table is asked carries an id that follows from the session and the message's own id, so the
same message again, at whatever gateway, is the same wish: nothing is done twice, and its answer is the one of
then.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from weakref import WeakValueDictionary

from upcard_gateway.app.game_limits import Limited, Placed, Room
from upcard_gateway.app.game_orders import (
    Bets,
    Done,
    FinalChoice,
    NotDone,
    OptionChoice,
    Order,
    PurchaseChoice,
    SessionChecks,
    TableAway,
    TablePlay,
    Verdict,
    What,
    of_wish,
)
from upcard_gateway.app.game_purses import Purses
from upcard_gateway.app.player_sessions import Playing
from upcard_gateway.domain.sessions import Session

__all__ = ["Game", "request_id_of"]

_WALLET_AWAY: Final = "wallet_unavailable"
_PARTNER_AWAY: Final = "partner_unavailable"
_STAKES: Final = frozenset({"double", "rebet"})
_TOLD_MOST: Final = 20_000
TURN_S: Final = 0.8
"""So long a wish waits for the one before it."""


@dataclass(frozen=True, slots=True)
class Told:
    """Up to where a round's events were told to a player."""

    table: str
    round: int
    position: int


def request_id_of(session: str, message_id: str) -> str:
    """The id under which services know a message of a session."""
    digest = hashlib.sha256(f"{session}\n{message_id}".encode())
    return f"p-{digest.hexdigest()[:48]}"


class Game:
    """The use cases of playing."""

    def __init__(self, table: TablePlay, purses: Purses, checks: SessionChecks) -> None:
        self._table = table
        self._purses = purses
        self._checks = checks
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._told: dict[str, Told] = {}
        """By session what was accepted last; the longest unheard of goes first."""

    async def play(
        self, playing: Playing, table: str, number: int, message_id: str, what: What
    ) -> Done | NotDone:
        """Have it done, or say why not."""
        session = playing.session
        request_id = request_id_of(session.id, message_id)
        order = Order(table, number, session.player, session.currency, request_id, what)
        if _is_limited(session, order.what):
            outcome = await self._in_turn(session, order)
        else:
            outcome = await self._ask(session, order)
        if isinstance(outcome, NotDone) and outcome.reason == _WALLET_AWAY:
            return await self._whose_wallet(playing, outcome)
        return outcome

    async def _whose_wallet(self, playing: Playing, outcome: NotDone) -> NotDone:
        """Whose wallet did not answer: of a partner that fails again and again the player is told so."""
        if playing.session.wallet != "seamless":
            return outcome
        purse = await self._purses.purse(playing.session)
        if purse.unknown != _PARTNER_AWAY:
            return outcome
        return NotDone(_PARTNER_AWAY, outcome.round, outcome.data, outcome.money, outcome.again)

    async def _ask(self, session: Session, order: Order) -> Done | NotDone:
        outcome = await self._table.ask(order)
        self._purses.forget(order.player)
        if isinstance(outcome, Done) and outcome.position and _has_limits(session):
            self._note(session.id, Told(order.table, outcome.round, outcome.position))
        return outcome

    def _note(self, session: str, told: Told) -> None:
        """What the next wish's limits are judged by has to know of this one."""
        before = self._told.pop(session, None)
        if before is not None and (before.table, before.round) == (told.table, told.round):
            told = max(before, told, key=lambda one: one.position)
        self._told[session] = told
        if len(self._told) > _TOLD_MOST:
            del self._told[next(iter(self._told))]

    async def _in_turn(self, session: Session, order: Order) -> Done | NotDone:
        """One wish of a session after another.

        Of two connections that the player may have here for a moment, neither stakes what the other one has
        not been seen to stake yet.
        """
        turn = self._turns.setdefault(session.id, asyncio.Lock())
        try:
            async with asyncio.timeout(TURN_S):
                await turn.acquire()
        except TimeoutError:
            return NotDone(_TRY_AGAIN, order.round, again=True)
        try:
            verdict = await self._allowed(session, order)
            if verdict.reason is None:
                return await self._ask(session, order)
        finally:
            turn.release()
        data = {} if verdict.maximum is None else {"maximum": str(verdict.maximum)}
        return NotDone(verdict.reason, order.round, data, again=verdict.reason == _TRY_AGAIN)

    async def _allowed(self, session: Session, order: Order) -> Verdict:
        """What the session's limits say, the same to the same wish."""
        if order.round < 1:
            # The round that runs may be the next one by the time that the table hears of it: no stakes of a
            # round that is not named can be looked at.
            return Verdict(_ROUND_MISSING)
        key = _key_of(order)
        known = await self._checks.known(session.id, key)
        if known is not None:
            return known
        try:
            limited = await self._limited(session, order)
        except TableAway:
            return Verdict(_TRY_AGAIN)
        found = _NOTHING_AGAINST if limited is None else Verdict(limited.reason, limited.maximum)
        return await self._checks.keep(session.id, key, found)

    async def _limited(self, session: Session, order: Order) -> Limited | None:
        told = self._told.get(session.id)
        here = told is not None and (told.table, told.round) == (order.table, order.round)
        at_least = told.position if told is not None and here else 0
        own = await self._table.own(order.table, order.round, session.player, session.currency, at_least)
        room = Room.of(session.limits, own)
        match order.what:
            case Bets(placements=placements):
                return room.placing(Placed(one.box, one.wager, one.amount, one.blind) for one in placements)
            case "double":
                return room.doubling()
            case "rebet":
                before = await self._table.own(order.table, order.round - 1, session.player, session.currency)
                return room.placing(Room.of(session.limits, before).standing())
            case FinalChoice(insurance=insurance) if insurance:
                return room.adding(insurance)
            case OptionChoice(box=box) | PurchaseChoice(box=box):
                return room.adding(_ante(own, box))
            case _:
                return None


def _key_of(order: Order) -> str:
    """The key of the word about a wish, all of it: what was said to one is never the word about another."""
    wish = f"{order.request_id}\n{order.table}\n{order.round}\n{order.what!r}"
    return hashlib.sha256(wish.encode()).hexdigest()


_ROUND_MISSING: Final = "round_missing"
_TRY_AGAIN: Final = "table_unavailable"
_NOTHING_AGAINST: Final = Verdict(None)


def _is_limited(session: Session, what: What) -> bool:
    """Whether the session's limits have a say."""
    return _stakes(what) and _has_limits(session)


def _has_limits(session: Session) -> bool:
    return not (session.limits.wager_max is None and session.limits.round_max is None)


def _stakes(what: What) -> bool:
    """Whether it may pass a limit. A bet after its ante never does: the room for it was kept."""
    match what:
        case OptionChoice(kind=kind):
            return kind in ("sixth", "exchange")
        case PurchaseChoice(buy=buy):
            return buy
        case FinalChoice(insurance=insurance):
            return insurance > 0
        case Bets():
            return True
        case str():
            return what in _STAKES
        case _:
            return False


def _ante(own: Mapping[str, Any] | None, box: int) -> int:
    """What an option and the dealer's card cost: one ante."""
    found = None if own is None else of_wish(own["boxes"], box)
    return 0 if found is None else int(found["wagers"].get("ante", 0))
