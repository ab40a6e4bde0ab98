from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, cast

import grpc.aio
import pytest

from servicekit.grpc.signing import acting
from upcard.call.v1.refusal_pb2 import Refusal
from upcard.wallet.v1 import wallet_pb2 as pb
from upcard.wallet.v1.wallet_pb2_grpc import WalletServiceStub
from upcard_gateway.adapters.cashier import GrpcCashier, UnexpectedRefusal
from upcard_gateway.app.money import Balance, Moved, NotMoved, Payment

PAYMENT = Payment("r-1", "a1", "EUR", 500)


class SaidWallet:
    """Answers every call with the same, and remembers who asked."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.asked: list[tuple[str, str, Any]] = []

    def __getattr__(self, name: str) -> Callable[[Any], Awaitable[Any]]:
        async def call(request: Any) -> Any:
            self.asked.append((name, str(acting()), request))
            if isinstance(self.answer, Exception):
                raise self.answer
            return self.answer

        return call


def cashier(wallet: SaidWallet) -> GrpcCashier:
    """Over a wallet that says what it is told to."""
    return GrpcCashier(cast("WalletServiceStub", wallet))


async def test_a_payment_is_asked_for_in_the_platforms_name() -> None:
    moved = pb.Moved(transaction="t1", balance=pb.Balance(cash=700, held=1, promo=2, owed=3))
    wallet = SaidWallet(pb.DepositResponse(moved=moved))
    assert await cashier(wallet).deposit(PAYMENT) == Moved("t1", Balance(700, 1, 2, 3))
    ((name, who, request),) = wallet.asked
    assert (name, who) == ("Deposit", "platform")
    assert request == pb.DepositRequest(request_id="r-1", account="a1", amount=500, currency="EUR")


@pytest.mark.parametrize("reason", ["funds_refused", "debt_open"])
async def test_what_a_player_can_be_refused_is_told(reason: str) -> None:
    wallet = SaidWallet(pb.WithdrawResponse(refusal=Refusal(reason=reason)))
    assert await cashier(wallet).withdraw(PAYMENT) == NotMoved(cast("Any", reason))


async def test_whatever_else_the_wallet_refuses_is_our_defect() -> None:
    """Such as an account that it does not have: no platform can do anything about it."""
    refusal = Refusal(reason="account_unknown")
    with pytest.raises(UnexpectedRefusal, match="Deposit: account_unknown"):
        await cashier(SaidWallet(pb.DepositResponse(refusal=refusal))).deposit(PAYMENT)
    with pytest.raises(UnexpectedRefusal, match="Withdraw: account_unknown"):
        await cashier(SaidWallet(pb.WithdrawResponse(refusal=refusal))).withdraw(PAYMENT)
    with pytest.raises(UnexpectedRefusal, match="GetBalance: account_unknown"):
        await cashier(SaidWallet(pb.GetBalanceResponse(refusal=refusal))).balance("a1")
    wallet = SaidWallet(pb.OpenAccountResponse(refusal=refusal))
    with pytest.raises(UnexpectedRefusal, match="OpenAccount: account_unknown"):
        await cashier(wallet).open_account("a1", "p1", "op1", "EUR", "seamless")


async def test_a_failed_call_is_raised_as_it_is() -> None:
    failure = grpc.aio.AioRpcError(
        grpc.StatusCode.UNAVAILABLE, grpc.aio.Metadata(), grpc.aio.Metadata(), "away"
    )
    for call in (cashier(SaidWallet(failure)).deposit, cashier(SaidWallet(failure)).withdraw):
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await call(PAYMENT)
        assert raised.value is failure
