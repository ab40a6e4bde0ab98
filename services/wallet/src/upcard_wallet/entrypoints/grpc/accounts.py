"""Calls about accounts: opening, paying in and out, balance, statement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import grpc.aio

from eventstore import StreamAppend
from eventstore.postgres import Connection
from servicekit.answering import answer_once, business_key_of, invalid, read, serving
from servicekit.grpc import ActorKind
from upcard.wallet.v1 import wallet_pb2 as pb
from upcard_wallet.app.balance import Balance, balance, balance_of, find_account
from upcard_wallet.app.deposit import Deposit, deposit
from upcard_wallet.app.moving import Moved
from upcard_wallet.app.open_account import OpenAccount, open_account
from upcard_wallet.app.purse import AccountRef, PartnerCash
from upcard_wallet.app.statement import Statement, statement
from upcard_wallet.app.wallet import Done, Refused
from upcard_wallet.app.withdraw import Withdraw, withdraw
from upcard_wallet.entrypoints.grpc import messages
from upcard_wallet.entrypoints.grpc.answering import Desk, origin

Context = grpc.aio.ServicerContext[Any, Any]

_UNKNOWN: Final = Refused("account_unknown")
_OF_THE_DEADLINE: Final = 0.7
"""How much of a call's time a partner may take, so that the call itself is answered in any case."""


class AccountCalls:
    """A part of the wallet's servicer."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def OpenAccount(  # noqa: N802 - the name of the call
        self,
        request: pb.OpenAccountRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.OpenAccountResponse:
        """Open an account."""
        wanted = request.account
        purse = messages.PURSES.get(wanted.purse)
        if purse is None:
            raise invalid("purse is not said")
        command = OpenAccount(wanted.account, wanted.player, wanted.operator, wanted.currency, purse)

        async def work(connection: Connection) -> tuple[pb.OpenAccountResponse, Sequence[StreamAppend]]:
            done = await open_account(self._desk.wallet, connection, command, origin())
            if isinstance(done.answer, Refused):
                return pb.OpenAccountResponse(refusal=messages.refusal(done.answer)), done.appends
            return pb.OpenAccountResponse(account=messages.account(done.answer)), done.appends

        return await answer_once(self._desk.answering, request, pb.OpenAccountResponse, work)

    async def Deposit(  # noqa: N802 - the name of the call
        self,
        request: pb.DepositRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.DepositResponse:
        """Put money in."""
        command = Deposit(
            request.account,
            request.amount,
            business_key_of(request),
            _said(request.currency, "currency"),
            request.reference or None,
        )

        async def work(connection: Connection) -> tuple[pb.DepositResponse, Sequence[StreamAppend]]:
            done = await deposit(self._desk.wallet, connection, command, origin())
            return pb.DepositResponse(**moved_or_refused(done)), done.appends

        return await answer_once(self._desk.answering, request, pb.DepositResponse, work)

    async def Withdraw(  # noqa: N802 - the name of the call
        self,
        request: pb.WithdrawRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.WithdrawResponse:
        """Take money out."""
        command = Withdraw(
            request.account,
            request.amount,
            business_key_of(request),
            _said(request.currency, "currency"),
            request.reference or None,
        )

        async def work(connection: Connection) -> tuple[pb.WithdrawResponse, Sequence[StreamAppend]]:
            done = await withdraw(self._desk.wallet, connection, command, origin())
            return pb.WithdrawResponse(**moved_or_refused(done)), done.appends

        return await answer_once(self._desk.answering, request, pb.WithdrawResponse, work)

    async def GetBalance(  # noqa: N802 - the name of the call
        self,
        request: pb.GetBalanceRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.GetBalanceResponse:
        """What an account has."""
        wallet = self._desk.wallet
        which = request.WhichOneof("which")
        if which is None:
            raise invalid("neither account nor player is said")

        async def work(connection: Connection) -> Balance | Refused:
            if which == "account":
                return await balance(wallet, connection, request.account)
            asked = request.player
            found = await find_account(wallet, connection, asked.player, asked.currency)
            return _UNKNOWN if found is None else await balance_of(wallet, connection, found)

        found = await read(self._desk.answering, work)
        if isinstance(found, Refused) or not _may_see(found.account):
            return pb.GetBalanceResponse(refusal=messages.refusal(_UNKNOWN))
        shown = pb.AccountBalance(account=messages.account(found.account), balance=messages.balance(found))
        if request.ask_partner:
            outside = await self._outside(found.account)
            if outside is not None:
                shown.partner.CopyFrom(messages.partner_balance(outside))
        return pb.GetBalanceResponse(found=shown)

    async def _outside(self, account: AccountRef) -> PartnerCash | None:
        """What a seamless player has with the operator, before the call's own deadline."""
        within_s = serving().remaining_s() * _OF_THE_DEADLINE
        return await self._desk.wallet.purses[account.purse].cash_outside(account, within_s)

    async def GetStatement(  # noqa: N802 - the name of the call
        self,
        request: pb.GetStatementRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.GetStatementResponse:
        """A page of a statement."""
        since = messages.instant(request.since, "since")
        until = messages.instant(request.until, "until")
        limit = messages.page_size(request.limit)
        if request.after < 0:
            raise invalid("after is below zero")

        async def work(connection: Connection) -> Statement | Refused:
            return await statement(
                self._desk.wallet, connection, request.account, since, until, after=request.after, limit=limit
            )

        made = await read(self._desk.answering, work)
        if isinstance(made, Statement) and not _may_see(made.opening.account):
            made = _UNKNOWN
        if isinstance(made, Refused):
            return pb.GetStatementResponse(refusal=messages.refusal(made))
        return pb.GetStatementResponse(statement=messages.statement(made))


def moved_or_refused(done: Done[Moved | Refused]) -> dict[str, Any]:
    """The field of an answer that a moved amount, or its refusal, belongs into."""
    if isinstance(done.answer, Refused):
        return {"refusal": messages.refusal(done.answer)}
    return {"moved": messages.moved(done.answer)}


def _said(text: str, name: str) -> str:
    if not text:
        raise invalid(f"{name} is not said")
    return text


def _may_see(account: AccountRef) -> bool:
    """A player sees his own accounts alone; services and staff see all."""
    context = serving().context
    if context is None or context.actor.kind is not ActorKind.PLAYER:
        return True
    return account.player == context.actor.id
