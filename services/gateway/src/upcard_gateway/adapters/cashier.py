"""The wallet over gRPC, as operators' calls need it."""

from __future__ import annotations

from typing import Final, cast, get_args

import grpc.aio

from servicekit.grpc import failure_of
from upcard.call.v1 import refusal_pb2
from upcard.wallet.v1 import wallet_pb2 as pb
from upcard.wallet.v1.wallet_pb2_grpc import WalletServiceStub
from upcard_gateway.adapters.services import PLATFORM, acting_as
from upcard_gateway.app.money import Balance, Moved, NotMoved, Payment, Refusal, RequestIdReused
from upcard_gateway.domain.sessions import WalletKind

__all__ = ["GrpcCashier", "UnexpectedRefusal"]

_PURSES: Final = {"transfer": pb.PURSE_INTERNAL, "seamless": pb.PURSE_SEAMLESS}
_REFUSALS: Final = frozenset(get_args(Refusal))


class UnexpectedRefusal(Exception):
    """The wallet refused what it never should: accounts here and there differ, or a program is too old."""

    def __init__(self, call: str, reason: str) -> None:
        super().__init__(f"the wallet refuses {call}: {reason}")


class GrpcCashier:
    """A `Cashier` over the wallet's calls. Their failures are raised as gRPC has them."""

    def __init__(self, wallet: WalletServiceStub) -> None:
        self._wallet = wallet

    async def open_account(
        self, account: str, player: str, operator: str, currency: str, wallet: WalletKind
    ) -> None:
        """See `Cashier`. The account's id is random, so it is the request's too."""
        wanted = pb.Account(
            account=account, player=player, operator=operator, currency=currency, purse=_PURSES[wallet]
        )
        with acting_as(PLATFORM):
            answer = await self._wallet.OpenAccount(pb.OpenAccountRequest(request_id=account, account=wanted))
        if answer.WhichOneof("result") != "account":
            raise UnexpectedRefusal("OpenAccount", answer.refusal.reason)

    async def deposit(self, payment: Payment) -> Moved | NotMoved:
        """See `Cashier`."""
        request = pb.DepositRequest(
            request_id=payment.request_id,
            account=payment.account,
            amount=payment.amount,
            currency=payment.currency,
            reference=payment.reference or "",
        )
        try:
            with acting_as(PLATFORM):
                answer = await self._wallet.Deposit(request)
        except grpc.aio.AioRpcError as error:
            raise _reused(error) from error
        if answer.WhichOneof("result") == "moved":
            return _moved(answer.moved)
        return _not_moved("Deposit", answer.refusal)

    async def withdraw(self, payment: Payment) -> Moved | NotMoved:
        """See `Cashier`."""
        request = pb.WithdrawRequest(
            request_id=payment.request_id,
            account=payment.account,
            amount=payment.amount,
            currency=payment.currency,
            reference=payment.reference or "",
        )
        try:
            with acting_as(PLATFORM):
                answer = await self._wallet.Withdraw(request)
        except grpc.aio.AioRpcError as error:
            raise _reused(error) from error
        if answer.WhichOneof("result") == "moved":
            return _moved(answer.moved)
        return _not_moved("Withdraw", answer.refusal)

    async def balance(self, account: str) -> Balance:
        """See `Cashier`."""
        with acting_as(PLATFORM):
            answer = await self._wallet.GetBalance(pb.GetBalanceRequest(account=account))
        if answer.WhichOneof("result") != "found":
            raise UnexpectedRefusal("GetBalance", answer.refusal.reason)
        return _balance(answer.found.balance)


def _reused(error: grpc.aio.AioRpcError) -> Exception:
    """What a failed payment's call is raised as."""
    return RequestIdReused() if failure_of(error).reason == "request_id_reused" else error


def _moved(moved: pb.Moved) -> Moved:
    return Moved(moved.transaction, _balance(moved.balance))


def _not_moved(call: str, refusal: refusal_pb2.Refusal) -> NotMoved:
    if refusal.reason == "business_key_reused":
        raise RequestIdReused  # its answer is not kept any more, but the payment is
    if refusal.reason not in _REFUSALS:
        raise UnexpectedRefusal(call, refusal.reason)
    return NotMoved(cast("Refusal", refusal.reason))


def _balance(balance: pb.Balance) -> Balance:
    return Balance(balance.cash, balance.held, balance.promo, balance.owed)
