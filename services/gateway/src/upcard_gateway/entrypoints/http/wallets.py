"""Transfer wallets: deposits, withdrawals, balances."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

import grpc.aio
from fastapi import APIRouter, Response

from eventstore import faults
from upcard_gateway.app.money import Balance, Moved, NotMoved, Payment, Refusal, RequestIdReused
from upcard_gateway.app.people import Player
from upcard_gateway.entrypoints.http.edge import (
    Caller,
    Edge,
    OnEdge,
    Problem,
    Signed,
    as_problem,
    bound_to,
    canonical,
    derived_request_id,
    json_answer,
    kept,
    responses,
)
from upcard_gateway.entrypoints.http.players import (
    OfPlayer,
    accounts_on,
    cashier_on,
    checked_currency,
    people_on,
    player_of,
)
from upcard_platform.models import wallets as models

router = APIRouter(tags=["wallets"])

DEPOSIT: Final = "POST /v1/wallets/{player}/deposits"
WITHDRAW: Final = "POST /v1/wallets/{player}/withdrawals"
_ONCE: Final = ("request_id_reused", "request_under_way")
_OF_MONEY: Final = ("player_unknown", "wallet_is_seamless")

Order = models.Deposit | models.Withdrawal


@router.post(
    "/v1/wallets/{player}/deposits",
    response_model=models.Moved,
    responses=responses("currency_refused", *_OF_MONEY, *_ONCE),
)
async def deposit(player: OfPlayer, body: models.Deposit, caller: Signed, edge: OnEdge) -> Response:
    """Put money into a player's account, which is opened where there is none in the currency yet."""

    async def account_of(known: Player) -> str:
        checked_currency(caller, body.currency)
        accounts = accounts_on(edge)
        found = await accounts.account(known.id, caller.operator, body.currency, caller.wallet)
        return found.account

    return await _move(edge, caller, _Kind(DEPOSIT, account_of, cashier_on(edge).deposit), player, body)


@router.post(
    "/v1/wallets/{player}/withdrawals",
    response_model=models.Moved,
    responses=responses("account_unknown", "funds_refused", "debt_open", *_OF_MONEY, *_ONCE),
)
async def withdraw(player: OfPlayer, body: models.Withdrawal, caller: Signed, edge: OnEdge) -> Response:
    """Take money out of a player's account: what is not held, and nothing while the player owes something."""

    async def account_of(known: Player) -> str:
        found = await people_on(edge).account_of(known.id, body.currency)
        if found is None:
            raise Problem("account_unknown", "the player has no account in this currency")
        return found

    return await _move(edge, caller, _Kind(WITHDRAW, account_of, cashier_on(edge).withdraw), player, body)


@dataclass(frozen=True, slots=True)
class _Kind:
    """What a deposit and a withdrawal differ in."""

    route: str
    account_of: Callable[[Player], Awaitable[str]]
    """The player's account. Raises Problem."""
    move: Callable[[Payment], Awaitable[Moved | NotMoved]]


async def _move(edge: Edge, caller: Caller, kind: _Kind, player: str, body: Order) -> Response:
    """Move money once: the wallet knows the payment by an id that follows from the caller's `request_id`.

    A process that dies after the wallet has moved it leaves that to be found: the same request asks the
    wallet for the same payment, and gets the answer that the wallet has kept. That holds also when the player
    was erased meanwhile, or the currency is not taken any more: the account is what the first try found.
    """
    route = kind.route
    _check_transfer(caller)
    same = canonical(body, player=player)

    async def account() -> str:
        return await kind.account_of(await player_of(edge, caller, player))

    stored, account_id = await bound_to(edge, caller, route, body.request_id, same, account)
    if stored is None:
        payment = Payment(
            derived_request_id(caller, route, body.request_id),
            account_id,
            body.currency,
            body.amount,
            body.reference,
        )
        try:
            done = await kind.move(payment)
        except RequestIdReused:
            detail = "this request_id came before, with another body; nothing was done"
            raise Problem("request_id_reused", detail, request_id=body.request_id) from None
        if isinstance(done, NotMoved):
            raise Problem(done.reason, _WHY[done.reason], request_id=body.request_id)
        faults.reach("gateway.money.moved")
        stored = await kept(edge, caller, route, body.request_id, same, _stored(payment, done))
    return json_answer(_told(stored, player))


@router.get("/v1/wallets/{player}/balances", response_model=models.Balances, responses=responses(*_OF_MONEY))
async def balances(player: OfPlayer, caller: Signed, edge: OnEdge) -> Response:
    """What a player has, by currency."""
    _check_transfer(caller)
    known = await player_of(edge, caller, player)
    cashier = cashier_on(edge)
    items: list[models.Balance] = []
    for account in await people_on(edge).accounts_of(known.id):
        try:
            balance = await cashier.balance(account.account)
        except grpc.aio.AioRpcError as error:
            raise as_problem(error, money="none_moved") from error
        items.append(_shown(account.currency, account.account, balance))
    return json_answer(models.Balances(player=player, items=items))


def _check_transfer(caller: Caller) -> None:
    if caller.wallet == "seamless":
        raise Problem("wallet_is_seamless", "your players' money lies with you: there is none here to move")


def _stored(payment: Payment, done: Moved) -> bytes:
    """What is kept of an answer: everything but whose it is."""
    balance = _shown(payment.currency, payment.account, done.balance)
    answer = {
        "transaction": done.transaction,
        "currency": payment.currency,
        "amount": payment.amount,
        "reference": payment.reference,
        "balance": balance.model_dump(mode="json"),
    }
    return json.dumps(answer).encode()


def _told(stored: bytes, player: str) -> models.Moved:
    return models.Moved.model_validate({**json.loads(stored), "player": player})


def _shown(currency: str, account: str, balance: Balance) -> models.Balance:
    return models.Balance(
        currency=currency,
        account=account,
        cash=balance.cash,
        held=balance.held,
        promo=balance.promo,
        owed=balance.owed,
    )


_WHY: Final[dict[Refusal, str]] = {
    "funds_refused": "the player has less than that to withdraw",
    "debt_open": "the player owes something, which a correction has left",
}
