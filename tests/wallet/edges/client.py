"""Calls to a wallet in few words."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field

import grpc
import grpc.aio
import pytest

from servicekit.grpc import failure_of
from upcard.wallet.v1 import wallet_pb2 as pb
from upcard.wallet.v1.wallet_pb2_grpc import WalletServiceStub

TIMEOUT_S = 20.0
_rounds = itertools.count(1)


def fresh() -> str:
    """An id that nobody has."""
    return uuid.uuid4().hex


def new_round() -> str:
    """A round that nobody has."""
    return f"t{fresh()[:8]}.{next(_rounds)}"


@dataclass
class Client:
    """What the gateway and the table do."""

    stub: WalletServiceStub
    player: str = field(default_factory=fresh)

    @property
    def account(self) -> str:
        """The player's account in euros."""
        return f"{self.player}-EUR"

    async def open(
        self, *, currency: str = "EUR", purse: pb.Purse.ValueType = pb.PURSE_INTERNAL, operator: str = "op1"
    ) -> pb.Account:
        """Open the player's account."""
        wanted = pb.Account(
            account=f"{self.player}-{currency}",
            player=self.player,
            operator=operator,
            currency=currency,
            purse=purse,
        )
        answer = await self.stub.OpenAccount(
            pb.OpenAccountRequest(request_id=fresh(), account=wanted), timeout=TIMEOUT_S
        )
        assert answer.account == wanted, answer
        return answer.account

    async def funded(self, amount: int) -> str:
        """Open the account and put money in; its id."""
        await self.open()
        answer = await self.deposit(amount)
        assert answer.moved.balance.cash == amount, answer
        return self.account

    async def deposit(self, amount: int, *, request_id: str | None = None) -> pb.DepositResponse:
        """Put money in."""
        request = pb.DepositRequest(
            request_id=request_id or fresh(), account=self.account, amount=amount, currency="EUR"
        )
        return await self.stub.Deposit(request, timeout=TIMEOUT_S)

    async def withdraw(self, amount: int, *, request_id: str | None = None) -> pb.WithdrawResponse:
        """Take money out."""
        request = pb.WithdrawRequest(
            request_id=request_id or fresh(), account=self.account, amount=amount, currency="EUR"
        )
        return await self.stub.Withdraw(request, timeout=TIMEOUT_S)

    async def has(self) -> tuple[int, int]:
        """Cash and held."""
        answer = await self.stub.GetBalance(pb.GetBalanceRequest(account=self.account), timeout=TIMEOUT_S)
        assert answer.found.account.player == self.player, answer
        return answer.found.balance.cash, answer.found.balance.held

    async def place(
        self, *commands: pb.HoldCommand, request_id: str | None = None
    ) -> Sequence[pb.PlacedHolds]:
        """Ask for the money of commands."""
        request = pb.PlaceHoldsRequest(request_id=request_id or fresh(), commands=commands)
        answer = await self.stub.PlaceHolds(request, timeout=TIMEOUT_S)
        assert len(answer.commands) == len(commands)
        return answer.commands

    def bet(
        self, round_name: str, *amounts: int, bet_id: str | None = None, player: str | None = None
    ) -> pb.HoldCommand:
        """A command with an ante a box."""
        return pb.HoldCommand(
            round=round_name,
            player=player or self.player,
            currency="EUR",
            bet_id=bet_id or fresh(),
            wagers=[
                pb.HoldWager(box=box, wager="ante", amount=amount)
                for box, amount in enumerate(amounts, start=1)
            ],
        )


async def refused(call: Awaitable[object]) -> tuple[grpc.StatusCode, str]:
    """Code and reason of a call that is not carried out."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    failure = failure_of(caught.value)
    return failure.code, failure.reason
