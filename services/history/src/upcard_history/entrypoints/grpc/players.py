"""Calls about a player: rounds, stakes, accounts, statement."""

from __future__ import annotations

import datetime as dt
from functools import partial

from upcard.call.v1.refusal_pb2 import Refusal
from upcard.history.v1 import history_pb2 as pb
from upcard_history.app.reading import PAGE_MAX, BetInPlay, Statement
from upcard_history.entrypoints.grpc import messages
from upcard_history.entrypoints.grpc.asking import (
    Context,
    Desk,
    invalid,
    own_player,
    patiently,
    player_asked_about,
    refusal,
)
from upcard_history.entrypoints.grpc.tokens import position_of, round_key, round_token


class PlayerCalls:
    """A part of the history's servicer."""

    _desk: Desk

    async def ListPlayerRounds(  # noqa: N802 - the name of the call
        self,
        request: pb.ListPlayerRoundsRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.ListPlayerRoundsResponse:
        """A page of a player's rounds."""
        player = player_asked_about(request.player)
        before, limit = round_key(request.after), messages.page_size(request.limit)
        since, until = messages.period_of(request.opened)
        if player is None:
            return pb.ListPlayerRoundsResponse(refusal=refusal("player_unknown"))
        page = await patiently(
            lambda: self._desk.history.player_rounds(
                player,
                before=before,
                limit=limit,
                currency=request.currency or None,
                since=since,
                until=until,
            )
        )
        shown = pb.PlayerRounds(rounds=map(messages.player_round, page.rows), next=round_token(page.next))
        return pb.ListPlayerRoundsResponse(page=shown)

    async def ListBetsInPlay(  # noqa: N802 - the name of the call
        self,
        request: pb.ListBetsInPlayRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.ListBetsInPlayResponse:
        """What is at stake."""
        own = own_player()
        if own is not None and request.player not in {"", own}:
            return pb.ListBetsInPlayResponse(refusal=refusal("player_unknown"))
        found, more = await self._bets(own, request.player, request.table or None)
        bets = pb.BetsInPlay(bets=map(messages.bet_in_play, found), more=more)
        return pb.ListBetsInPlayResponse(bets=bets)

    async def _bets(self, own: str | None, player: str, table: str | None) -> tuple[list[BetInPlay], bool]:
        history = self._desk.history
        whole = await patiently(
            lambda: history.bets_in_play(table=table, player=own or player or None, limit=PAGE_MAX)
        )
        if own is not None or not player:
            return list(whole), len(whole) >= PAGE_MAX
        # What staff see is not what the player sees: a choice of a window that is open is not among it.
        found: list[BetInPlay] = []
        more = len(whole) >= PAGE_MAX
        for one in sorted({bet.table for bet in whole}):
            shown = await patiently(partial(history.bets_in_play, table=one, limit=PAGE_MAX))
            found += [bet for bet in shown if bet.player == player]
            more = more or len(shown) >= PAGE_MAX
        return found, more

    async def ListAccounts(  # noqa: N802 - the name of the call
        self,
        request: pb.ListAccountsRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.ListAccountsResponse:
        """A player's accounts."""
        player = player_asked_about(request.player)
        if player is None:
            return pb.ListAccountsResponse(refusal=refusal("player_unknown"))
        found = await patiently(lambda: self._desk.history.accounts(player))
        return pb.ListAccountsResponse(accounts=pb.Accounts(accounts=map(messages.account, found)))

    async def GetStatement(  # noqa: N802 - the name of the call
        self,
        request: pb.GetStatementRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.GetStatementResponse:
        """A page of a statement."""
        asked = Asked.of(request)
        after, limit = position_of(request.after), messages.page_size(request.limit)
        account = await asked.account(self._desk)
        if isinstance(account, Refusal):
            return pb.GetStatementResponse(refusal=account)
        made = await asked.page(self._desk, account, after, limit)
        if made is None:
            return pb.GetStatementResponse(refusal=refusal("account_unknown"))
        return pb.GetStatementResponse(statement=messages.statement(made))


class Asked:
    """Whose statement of which period is asked for; the same for a page and for an export."""

    def __init__(
        self, which: pb.StatementOf, since: dt.datetime, until: dt.datetime, own: str | None
    ) -> None:
        self._which = which
        self.since, self.until = since, until
        self._own = own
        if which.WhichOneof("which") is None:
            raise invalid("neither account nor player is said")
        if own is None and which.HasField("player") and not which.player.player:
            raise invalid("player is not said")

    @classmethod
    def of(cls, request: pb.GetStatementRequest | pb.ExportStatementRequest) -> Asked:
        """Of a request. Raises CallError for one that nobody could answer, and for staff without a role."""
        if not (request.HasField("since") and request.HasField("until")):
            raise invalid("since or until is not said")
        since = messages.instant_of(request.since, "since")
        until = messages.instant_of(request.until, "until")
        return cls(request.of, since, until, own_player())

    async def account(self, desk: Desk) -> str | Refusal:
        """The account's id; for a player it is one of their own."""
        if self.since >= self.until:
            return refusal("period_invalid")
        asked = self._which
        named = asked.player.player if asked.HasField("player") else ""
        if self._own is not None and named not in {"", self._own}:
            return refusal("account_unknown")
        if self._own is None and asked.HasField("account"):
            return asked.account
        accounts = await patiently(lambda: desk.history.accounts(self._own or named))
        for one in accounts:
            wanted = (
                one.account == asked.account
                if asked.HasField("account")
                else one.currency == asked.player.currency
            )
            if wanted:
                return one.account
        return refusal("account_unknown")

    async def page(self, desk: Desk, account: str, after: int, limit: int) -> Statement | None:
        """A page of it; None where the account is not known."""
        return await patiently(
            lambda: desk.history.statement(account, self.since, self.until, after=after, limit=limit)
        )
