from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest

from eventstore import faults
from tests.gateway.sessions.behind import WalletWire, fresh, launched, refused, told
from tests.gateway.world import World
from upcard_gateway.domain.operators import CurrencyLimits, Terms


def pay(amount: int = 500, **more: Any) -> dict[str, Any]:
    """The body of a payment."""
    return {"request_id": fresh(), "currency": "EUR", "amount": amount} | more


async def cash(casino: httpx.AsyncClient, player: str = "anna") -> dict[str, int]:
    """What the platform sees that a player has, by currency."""
    items = told(await casino.get(f"/v1/wallets/{player}/balances"))["items"]
    return {item["currency"]: item["cash"] for item in items}


async def transactions(wallet: WalletWire) -> int:
    """How many the ledger has."""
    return int(await wallet.ledger.pool.fetchval("SELECT count(*) FROM wallet.transactions"))


async def test_money_goes_in_and_out(casino: httpx.AsyncClient, wallet: WalletWire) -> None:
    account = (await launched(casino))["account"]
    put = told(await casino.post("/v1/wallets/anna/deposits", json=pay(500, reference="pay-1")))
    assert (put["player"], put["amount"], put["reference"]) == ("anna", 500, "pay-1")
    assert put["balance"] == {
        "currency": "EUR",
        "account": account,
        "cash": 500,
        "held": 0,
        "promo": 0,
        "owed": 0,
    }
    taken = told(await casino.post("/v1/wallets/anna/withdrawals", json=pay(120)))
    assert taken["balance"]["cash"] == 380
    assert await cash(casino) == {"EUR": 380}
    assert (await wallet.ledger.balance(account)).cash == 380


@pytest.mark.parametrize("way", ["deposits", "withdrawals"])
async def test_a_payment_is_made_once_however_often_it_is_asked_for(
    casino: httpx.AsyncClient, wallet: WalletWire, way: str
) -> None:
    await launched(casino)
    told(await casino.post("/v1/wallets/anna/deposits", json=pay(1_000)))
    body = pay(300)
    path = f"/v1/wallets/anna/{way}"
    answers = await asyncio.gather(*(casino.post(path, json=body) for _ in range(8)))
    assert {answer.content for answer in answers} == {answers[0].content}, answers[0].text
    told(await casino.post("/v1/wallets/anna/deposits", json=pay(5)))
    # The original answer, not today's balance.
    assert (await casino.post(path, json=body)).content == answers[0].content
    assert await cash(casino) == {"EUR": 1_305 if way == "deposits" else 705}
    assert await transactions(wallet) == 3
    for other in ({"amount": 301}, {"currency": "GBP"}, {"reference": "else"}):
        assert refused(await casino.post(path, json=body | other)) == (409, "request_id_reused")
    await launched(casino, "bert")
    elsewhere = await casino.post(f"/v1/wallets/bert/{way}", json=body)
    assert refused(elsewhere) == (409, "request_id_reused")
    assert await transactions(wallet) == 3


@pytest.mark.parametrize("way", ["deposits", "withdrawals"])
@pytest.mark.parametrize("cut", ["cut_before", "cut_after"])
async def test_the_wallet_goes_away_in_the_middle(
    casino: httpx.AsyncClient, wallet: WalletWire, way: str, cut: str
) -> None:
    await launched(casino)
    told(await casino.post("/v1/wallets/anna/deposits", json=pay(1_000)))
    body = pay(300)
    cuts: set[str] = getattr(wallet, cut)
    cuts |= {"Deposit", "Withdraw"}
    answer = await casino.post(f"/v1/wallets/anna/{way}", json=body)
    assert refused(answer) == (503, "unavailable")
    assert (answer.json()["money"], answer.json()["retry"]) == ("unknown", "same_request")
    # Another body under the same id is refused although nothing was answered yet.
    other = await casino.post(f"/v1/wallets/anna/{way}", json=body | {"amount": 1})
    assert refused(other) == (409, "request_id_reused")
    cuts.clear()
    moved = told(await casino.post(f"/v1/wallets/anna/{way}", json=body))
    assert moved["balance"]["cash"] == (1_300 if way == "deposits" else 700)
    assert await transactions(wallet) == 2


class Died(Exception):
    """The process would have died here."""


@pytest.mark.parametrize("way", ["deposits", "withdrawals"])
async def test_the_process_dies_between_the_wallet_and_the_answer(
    casino: httpx.AsyncClient,
    wallet: WalletWire,
    way: str,
) -> None:
    await launched(casino)
    told(await casino.post("/v1/wallets/anna/deposits", json=pay(1_000)))
    body = pay(300)

    def die(point: str) -> None:
        if point == "gateway.money.moved":
            raise Died

    with faults.arm(die):
        answer = await casino.post(f"/v1/wallets/anna/{way}", json=body)
    assert refused(answer) == (500, "internal")
    assert await transactions(wallet) == 2
    told(await casino.post("/v1/wallets/anna/deposits", json=pay(5)))
    moved = told(await casino.post(f"/v1/wallets/anna/{way}", json=body))
    # Exactly what the first try would have answered.
    assert moved["balance"]["cash"] == (1_300 if way == "deposits" else 700)
    assert await transactions(wallet) == 3


async def test_a_refusal_stays_one(casino: httpx.AsyncClient) -> None:
    await launched(casino)
    told(await casino.post("/v1/wallets/anna/deposits", json=pay(100)))
    body = pay(101)
    for _ in range(2):
        answer = await casino.post("/v1/wallets/anna/withdrawals", json=body)
        assert refused(answer) == (409, "funds_refused")
        assert (answer.json()["money"], answer.json()["request_id"]) == ("none_moved", body["request_id"])
    told(await casino.post("/v1/wallets/anna/deposits", json=pay(100)))
    # The answer to that request is given already; a new wish has a new request_id.
    again = await casino.post("/v1/wallets/anna/withdrawals", json=body)
    assert refused(again) == (409, "funds_refused")
    told(await casino.post("/v1/wallets/anna/withdrawals", json=pay(101)))
    assert await cash(casino) == {"EUR": 99}


async def test_a_deposit_opens_an_account_in_another_currency(casino: httpx.AsyncClient) -> None:
    await launched(casino)
    told(await casino.post("/v1/wallets/anna/deposits", json=pay(7, currency="GBP")))
    assert await cash(casino) == {"EUR": 0, "GBP": 7}
    assert refused(await casino.post("/v1/wallets/anna/deposits", json=pay(7, currency="USD"))) == (
        409,
        "currency_refused",
    )


async def test_a_withdrawal_opens_none(casino: httpx.AsyncClient) -> None:
    await launched(casino)
    answer = await casino.post("/v1/wallets/anna/withdrawals", json=pay(7, currency="GBP"))
    assert refused(answer) == (404, "account_unknown")
    assert await cash(casino) == {"EUR": 0}


async def test_a_seamless_operators_money_is_not_here(world: World, wallet: WalletWire) -> None:
    casino = await world.casino("op2", wallet="seamless")
    await launched(casino)
    for answer in (
        await casino.post("/v1/wallets/anna/deposits", json=pay()),
        await casino.post("/v1/wallets/anna/withdrawals", json=pay()),
        await casino.get("/v1/wallets/anna/balances"),
    ):
        assert refused(answer) == (409, "wallet_is_seamless")
    assert await transactions(wallet) == 0


WRONG: list[dict[str, Any]] = [
    {"amount": 0},
    {"amount": -5},
    {"amount": 2**53},
    {"amount": 1.5},
    {"amount": 5.0},
    {"amount": "5"},
    {"amount": True},
    {"currency": "eur"},
    {"reference": "a b"},
    {"request_id": "a b"},
    {"note": "x"},
]


async def test_what_is_no_payment(casino: httpx.AsyncClient, wallet: WalletWire) -> None:
    await launched(casino)
    for wrong in WRONG:
        for way in ("deposits", "withdrawals"):
            answer = await casino.post(f"/v1/wallets/anna/{way}", json=pay() | wrong)
            assert refused(answer) == (400, "request_invalid"), wrong
            assert answer.json()["errors"][0]["place"] == f"body.{next(iter(wrong))}"
    assert await transactions(wallet) == 0


async def test_the_largest_amount_is_exact(casino: httpx.AsyncClient) -> None:
    await launched(casino)
    put = told(await casino.post("/v1/wallets/anna/deposits", json=pay(2**53 - 1)))
    assert put["balance"]["cash"] == 2**53 - 1


@pytest.mark.parametrize("change", ["erased", "currency gone"])
async def test_what_was_begun_is_ended_whatever_has_changed_since(
    world: World, casino: httpx.AsyncClient, wallet: WalletWire, change: str
) -> None:
    await launched(casino)
    told(await casino.post("/v1/wallets/anna/deposits", json=pay(300)))
    way, body = ("withdrawals", pay(300)) if change == "erased" else ("deposits", pay(7))

    def die(point: str) -> None:
        if point == "gateway.money.moved":
            raise Died

    with faults.arm(die):
        answer = await casino.post(f"/v1/wallets/anna/{way}", json=body)
    assert (refused(answer), answer.json()["money"]) == ((500, "internal"), "unknown")
    if change == "erased":
        told(await casino.post("/v1/players/anna/erase", json={"request_id": fresh()}))
    else:
        await world.change("op1", Terms("Casino", (CurrencyLimits("GBP", None, None),)))
    moved = told(await casino.post(f"/v1/wallets/anna/{way}", json=body))
    assert moved["balance"]["cash"] == (0 if change == "erased" else 307)
    assert await transactions(wallet) == 2
    # A new wish meets what holds now.
    assert refused(await casino.post(f"/v1/wallets/anna/{way}", json=body | {"request_id": fresh()})) in (
        (404, "player_unknown"),
        (409, "currency_refused"),
    )
