"""What players' messages do: what is done for them, and how it is answered."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Final

import grpc.aio
from pydantic import BaseModel

from servicekit.grpc import failure_of
from upcard_gateway.adapters.lobby import GrpcLobbySources
from upcard_gateway.adapters.player_money import GrpcPlayerMoney
from upcard_gateway.adapters.postgres.session_checks import PostgresChecks
from upcard_gateway.adapters.table_play import GrpcTablePlay
from upcard_gateway.app.chat import Said, Saying
from upcard_gateway.app.game_orders import (
    Bets,
    Done,
    FinalChoice,
    NotDone,
    OptionChoice,
    PurchaseChoice,
    Simple,
    Stake,
    Tipped,
    What,
    Withdrawal,
)
from upcard_gateway.app.game_playing import Game, request_id_of
from upcard_gateway.app.game_purses import Purses
from upcard_gateway.app.lobby import House, Lobby, sees
from upcard_gateway.app.lobby_keeping import NotKnown
from upcard_gateway.app.player_sessions import Playing
from upcard_gateway.entrypoints.http.edge import Edge
from upcard_gateway.entrypoints.pages.english import English
from upcard_gateway.entrypoints.play.commands_chat import TableChat
from upcard_gateway.entrypoints.play.commands_lists import Lists, ListWrong, lobby_tables
from upcard_gateway.entrypoints.play.commands_texts import Texts
from upcard_gateway.entrypoints.play.contract import Json, LastRound, Made, Purse
from upcard_platform import play

__all__ = ["PlayerCommands", "commands_of"]

_TAKES_BACK: Final = ("withdraw", "undo", "clear")
_LISTS_S: Final = 9.0


class PlayerCommands:
    """See `Commands`."""

    def __init__(
        self,
        game: Game,
        purses: Purses,
        lists: Lists,
        lobby: Lobby,
        chat: TableChat,
        *,
        sandbox: frozenset[str],
    ) -> None:
        self._game = game
        self._purses = purses
        self._lists = lists
        self._lobby = lobby
        self._chat = chat
        self._sandbox = sandbox

    async def handle(self, playing: Playing | None, table: str | None, message: BaseModel) -> Made:
        """See `Commands`."""
        currency = "" if playing is None else playing.session.currency
        if isinstance(message, play.LobbyAsked):
            return await self._listed(message, currency, partial(self._tables, playing))
        if playing is None:
            return _not_accepted(message, NotDone("sign_in_needed"), currency)
        if isinstance(message, play.HistoryAsked):
            return await self._listed(message, currency, partial(self._lists.history, playing, message))
        if isinstance(message, play.StatementAsked):
            return await self._listed(message, currency, partial(self._lists.statement, playing, message))
        if table is None:
            return _not_accepted(message, NotDone("table_not_joined"), currency)
        if isinstance(message, play.ChatLine):
            return await self._say(playing, table, message)
        what, number = _wish(message)
        outcome = await self._game.play(playing, table, number, _id(message), what)
        if isinstance(outcome, NotDone):
            return _not_accepted(message, outcome, currency)
        return _accepted(message, outcome)

    async def purse(self, playing: Playing, *, fresh: bool = False) -> Purse:
        """See `Commands`."""
        return await self._purses.purse(playing.session, fresh=fresh)

    def balance(self, purse: Purse) -> Made:
        """See `Commands`."""
        return Made("balance", 0, {"currency": purse.currency, "amount": purse.cash})

    async def last_round(self, playing: Playing) -> LastRound | None:
        """See `Commands`."""
        try:
            return await self._lists.last_round(playing)
        except grpc.aio.AioRpcError as error:
            if failure_of(error).may_pass:
                return None
            raise

    def sees(self, playing: Playing | None, table: str) -> bool:
        """See `Commands`."""
        if playing is None:
            return sees("live", self._sandbox, table)
        only = playing.session.table
        return sees(playing.session.environment, self._sandbox, table) and only in (None, table)

    async def _say(self, playing: Playing, table: str, message: play.ChatLine) -> Made:
        session = playing.session
        request_id = request_id_of(session.id, message.id)
        saying = Saying(table, session.player, request_id, playing.player.nickname, message.text)
        outcome = await self._chat.say(saying)
        if isinstance(outcome, Said):
            return _answer(message, {"accepted": True, "data": {"line": outcome.line}})
        return _not_accepted(message, NotDone(outcome, again=outcome == "chat_too_fast"), session.currency)

    async def _tables(self, playing: Playing | None) -> Json:
        return await lobby_tables(self._lobby, playing, self._sandbox)

    async def _listed(self, message: BaseModel, currency: str, ask: Callable[[], Awaitable[Json]]) -> Made:
        """The answer to a question that changes nothing."""
        try:
            async with asyncio.timeout(_LISTS_S):
                return _answer(message, {"accepted": True, "data": await ask()})
        except ListWrong as error:
            return _not_accepted(message, NotDone(error.reason), currency)
        except (NotKnown, TimeoutError):
            return _not_accepted(message, NotDone("unavailable", again=True), currency)
        except grpc.aio.AioRpcError as error:
            if failure_of(error).may_pass or error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED:
                return _not_accepted(message, NotDone("unavailable", again=True), currency)
            raise


def commands_of(edge: Edge, chat: TableChat) -> PlayerCommands:
    """What messages do at this gateway: one for the whole process."""
    settings = edge.settings
    purses = Purses(GrpcPlayerMoney(edge.services, edge.now))
    game = Game(GrpcTablePlay(edge.services.table), purses, PostgresChecks(edge.pool))
    lobby = Lobby(
        GrpcLobbySources(edge.services, results=settings.lobby_results),
        House(settings.languages, settings.table_languages, edge.dealer_names),
        fresh_s=settings.lobby_fresh_s,
        stale_max_s=settings.lobby_stale_max_s,
    )
    lists = Lists(edge.services, edge.now)
    return PlayerCommands(game, purses, lists, lobby, chat, sandbox=settings.sandbox_tables)


def _wish(message: BaseModel) -> tuple[What, int]:
    """What a message wants of the table, and of which round. Raises TypeError: it wants nothing of it."""
    match message:
        case play.Bet(round=number, placements=placements):
            stakes = tuple(
                Stake(one.box, one.wager, one.amount, one.blind, one.funding or "") for one in placements
            )
            return Bets(stakes), number
        case play.Withdraw(round=number, box=box, wager=wager):
            return Withdrawal(box, wager), number
        case play.Undo() | play.Clear() | play.Double() | play.Rebet():
            return _SIMPLE[message.type], message.round
        case play.Option(round=number, box=box, kind=kind, positions=positions):
            return OptionChoice(box, kind, tuple(positions)), number
        case play.FinalOption(round=number, box=box, choice=choice, insurance=insurance):
            return FinalChoice(box, choice, insurance), number
        case play.Purchase(round=number, box=box, buy=buy):
            return PurchaseChoice(box, buy), number
        case play.Tip(amount=amount):
            return Tipped(amount), 0
        case _:
            raise TypeError(f"{type(message).__name__} is nothing that a table is asked")


_SIMPLE: Final[dict[str, Simple]] = {
    "undo": "undo",
    "clear": "clear",
    "double": "double",
    "rebet": "rebet",
}
_TEXTS: Final = Texts(English.load())


def _id(message: BaseModel) -> str:
    found: str = message.id  # type: ignore[attr-defined]  # every message but hello has one
    return found


def _type(message: BaseModel) -> str:
    found: str = message.type  # type: ignore[attr-defined]  # every message has one
    return found


def _answer(message: BaseModel, body: Json, number: int = 0) -> Made:
    return Made("answer", number, {"id": _id(message), "to": _type(message), **body})


def _accepted(message: BaseModel, done: Done) -> Made:
    taken_back = _type(message) in _TAKES_BACK
    wagers = _stakes(done.wagers)
    moved = bool(wagers) or isinstance(message, play.Tip)
    body: dict[str, object] = {
        "accepted": True,
        "money": "moved" if moved else "none_moved",
        "taken_back" if taken_back else "staked": wagers,
    }
    return _answer(message, body, done.round)


def _not_accepted(message: BaseModel, why: NotDone, currency: str) -> Made:
    body: dict[str, object] = {
        "accepted": False,
        "reason": why.reason,
        "text": _TEXTS.reason(why.reason, why.data, currency),
        "money": why.money,
        "again": why.again,
    }
    return _answer(message, body, why.round)


def _stakes(wagers: Sequence[Stake]) -> list[Json]:
    return [
        {
            "box": one.box,
            "wager": one.wager,
            "amount": one.amount,
            "blind": one.blind,
            "funding": one.funding or None,
        }
        for one in wagers
    ]
