"""The reference wallet, spoken to with bytes written by hand, not by what writes Upcard's requests."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from tests.conformance.world import MONEY, PRIVATE, SECRET, wallet
from upcard_conformance.reference.book import Book
from upcard_conformance.reference.wallet import ReferenceWallet, speakers_of

Answer = tuple[int, dict[str, Any]]


@pytest.fixture
async def running(tmp_path: Path) -> AsyncIterator[ReferenceWallet]:
    async with wallet(tmp_path / "book.db") as running:
        yield running


async def _post(address: str, body: bytes, header: str, signature: str) -> Answer:
    timeout = aiohttp.ClientTimeout(total=60)
    async with (
        aiohttp.ClientSession(timeout=timeout) as session,
        session.post(address, data=body, headers={header: signature}) as response,
    ):
        return response.status, await response.json()


async def plain(running: ReferenceWallet, path: str, value: object) -> Answer:
    body = json.dumps(value).encode()
    signature = hmac.new(SECRET, body, hashlib.sha256).hexdigest()
    return await _post(running.address_of("plain") + path, body, "Upcard-Signature", signature)


async def single(running: ReferenceWallet, path: str, value: object) -> Answer:
    body = json.dumps(value, indent=1).encode()
    key = serialization.load_pem_private_key(PRIVATE, None)
    assert isinstance(key, rsa.RSAPrivateKey)
    signature = base64.b64encode(key.sign(body, padding.PKCS1v15(), hashes.SHA256())).decode()
    return await _post(running.address_of("single") + path, body, "X-Signature", signature)


def of(call: str, transactions: list[dict[str, object]], **others: object) -> dict[str, object]:
    body = {
        "call": call,
        "operator": "op1",
        "player": "p1",
        "currency": "EUR",
        "round": "t1.7",
        "transactions": transactions,
        "total": sum(int(str(one["amount"])) for one in transactions),
        "closes_round": False,
    }
    return body | others


async def test_plain(running: ReferenceWallet) -> None:
    bet = of("c1", [{"id": "a", "amount": 100}, {"id": "b", "amount": 10}])
    taken = {"status": "accepted", "call": "c1", "total": 110, "currency": "EUR", "player": "p1"}
    assert await plain(running, "/bet", bet) == (200, {**taken, "balance": MONEY - 110})
    assert await plain(running, "/bet", bet) == (200, {**taken, "balance": MONEY - 110})
    look = {"call": "c2", "operator": "op1", "player": "p1", "currency": "EUR"}
    told = {"status": "accepted", "call": "c2", "currency": "EUR", "player": "p1", "balance": MONEY - 110}
    assert await plain(running, "/balance", look) == (200, told)
    much = of("c3", [{"id": "c", "amount": MONEY}])
    status, said = await plain(running, "/bet", much)
    assert (status, said["status"], said["reason"]) == (200, "refused", "insufficient_funds")
    never = of("c4", [{"id": "d", "amount": 5}])
    assert (await plain(running, "/rollback", never))[1]["reason"] == "not_found"
    assert (await plain(running, "/bet", of("c5", [{"id": "d", "amount": 5}])))[1]["status"] == "refused"
    back = of("c6", [{"id": "b", "amount": 10}])
    status, said = await plain(running, "/rollback", back)
    assert (said["status"], said["total"], said["balance"]) == ("accepted", 10, MONEY - 100)


async def test_single(running: ReferenceWallet) -> None:
    """Hundred-thousandths of a euro: a cent is 1,000 of them."""
    whose = {"operator_id": "op1", "user": "p1", "currency": "EUR", "round_id": "t1.7", "batch_id": "c"}
    debit = {**whose, "request_id": "r1", "transaction_id": "a", "amount": 110_000}
    taken = {"amount": 110_000, "currency": "EUR", "user": "p1", "balance": (MONEY - 110) * 1_000}
    assert await single(running, "/transaction/debit", debit) == (
        200,
        {"code": "OK", "request_id": "r1", **taken},
    )
    again = {**debit, "request_id": "r2"}
    assert await single(running, "/transaction/debit", again) == (
        200,
        {"code": "ALREADY_PROCESSED", "request_id": "r2", **taken},
    )
    cancel = {**whose, "request_id": "r3", "transaction_id": "x", "reference_transaction_id": "a"}
    status, said = await single(running, "/transaction/cancel", {**cancel, "amount": 110_000})
    assert (status, said["code"], said["balance"]) == (200, "OK", MONEY * 1_000)
    status, said = await single(running, "/transaction/debit", debit)
    assert (status, said["code"]) == (409, "TRANSACTION_CANCELLED")
    part = {**debit, "transaction_id": "b", "amount": 110_500}
    status, said = await single(running, "/transaction/debit", part)
    assert (status, said["code"]) == (400, "REQUEST_INVALID"), "half a cent is no amount"
    credit = {**whose, "request_id": "r4", "transaction_id": "w", "amount": 7_000, "round_over": True}
    status, said = await single(running, "/transaction/credit", {**credit, "user": "p2"})
    assert (status, said["code"]) == (200, "OK"), "signed out or not"
    status, said = await single(running, "/transaction/debit", {**debit, "transaction_id": "s", "user": "p2"})
    assert (status, said["code"]) == (403, "SESSION_EXPIRED")
    status, said = await single(running, "/transaction/debit", {**debit, "transaction_id": "n", "user": "p3"})
    assert (status, said["code"]) == (404, "USER_UNKNOWN")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff",
        b'{"call": "c"}',
        b"[" * 60_000,
        json.dumps(of("c", [])).encode(),
        json.dumps(of("c", [{"id": "a", "amount": -1}])).encode(),
        json.dumps(of("c", [{"id": "a", "amount": 1}] * 2)).encode(),
        json.dumps(of("c", [{"id": "a", "amount": 2**63}])).encode(),
        json.dumps(of("c", [{"id": one, "amount": 2**62} for one in "ab"])).encode(),
        json.dumps(of("c", [{"id": "a", "amount": 1}], player=1)).encode(),
        json.dumps(of("c", [{"id": "a", "amount": 1}], player="\ud800")).encode(),
        json.dumps(of("c", [{"id": "a", "amount": 1}], round=7)).encode(),
        json.dumps(of("c", []) | {"transactions": [{"id": "a", "amount": True}]}).encode(),
        json.dumps(of("c", [{"id": "a", "amount": 1}], total=2)).encode(),
    ],
)
async def test_what_is_no_request_is_answered_and_does_nothing(running: ReferenceWallet, body: bytes) -> None:
    signature = hmac.new(SECRET, body, hashlib.sha256).hexdigest()
    status, said = await _post(running.address_of("plain") + "/bet", body, "Upcard-Signature", signature)
    assert (status, said) == (400, {"error": "invalid"})
    assert await running.on_book(lambda book: book.movements()) == []


async def test_nothing_is_read_before_the_signature_fits(running: ReferenceWallet) -> None:
    body = json.dumps(of("c1", [{"id": "a", "amount": 100}])).encode()
    for said in ("", "00", "no hex", hmac.new(b"another secret", body, hashlib.sha256).hexdigest()):
        status, _ = await _post(running.address_of("plain") + "/bet", body, "Upcard-Signature", said)
        assert status == 401
    assert await running.on_book(lambda book: book.movements()) == []


async def test_more_than_can_wait_is_told_to_come_again(tmp_path: Path) -> None:
    book = Book(tmp_path / "book.db")
    book.open("p1", "EUR", MONEY)
    async with ReferenceWallet(book, speakers_of({"plain": SECRET}), waiting_max=1) as running:
        free, begun = threading.Event(), threading.Event()

        def hold(_: Book) -> None:
            begun.set()
            assert free.wait(60)

        held = asyncio.create_task(running.on_book(hold))
        await asyncio.to_thread(begun.wait, 60)
        bets = [of(f"c{number}", [{"id": f"a{number}", "amount": 10}]) for number in range(2)]
        asked = [asyncio.create_task(plain(running, "/bet", bet)) for bet in bets]
        done, (waits,) = await asyncio.wait(asked, timeout=60, return_when=asyncio.FIRST_COMPLETED)
        assert [one.result() for one in done] == [(503, {"error": "later"})]
        free.set()
        await held
        status, said = await waits
        assert (status, said["status"], said["balance"]) == (200, "accepted", MONEY - 10)


async def test_no_win_is_more_than_the_book_can_hold(running: ReferenceWallet) -> None:
    win = of("c1", [{"id": "a", "amount": 2**63 - 1}])
    status, said = await plain(running, "/win", win)
    assert (status, said["status"], said["balance"]) == (200, "refused", MONEY)


async def test_it_comes_back_where_it_was(running: ReferenceWallet) -> None:
    address = running.address_of("plain")
    await running.down()
    with pytest.raises(aiohttp.ClientConnectorError):
        await plain(running, "/bet", of("c1", [{"id": "a", "amount": 10}]))
    await running.up()
    assert running.address_of("plain") == address
    assert (await plain(running, "/bet", of("c1", [{"id": "a", "amount": 10}])))[0] == 200
