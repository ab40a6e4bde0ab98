"""What the HTTP client makes of everything that a partner may do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from uuid import UUID

import pytest

from tests.wallet.partner import SECRET, PartnerServer, Trick
from upcard_seamless.dialects import load_dialect
from upcard_seamless.reading import verdict_of
from upcard_seamless.requests import request_of
from upcard_seamless.signing import signer_of
from upcard_wallet.adapters.seamless.http_partner import HttpPartner
from upcard_wallet.adapters.seamless.partner import (
    Accepted,
    Call,
    NotSent,
    Refused,
    Transaction,
    Unclear,
    Verdict,
)

ENOUGH_S = 20.0
SHORT_S = 2.0
BET = Call(
    UUID(int=1),
    "bet",
    "op1",
    "acc1",
    "p1",
    "EUR",
    "t1.7",
    (Transaction(UUID(int=11), 100), Transaction(UUID(int=12), 10)),
)


@pytest.fixture
async def server() -> AsyncIterator[PartnerServer]:
    async with PartnerServer() as server:
        server.give("p1", 1_000)
        yield server
        assert server.complaints == []


@pytest.fixture
async def partner(server: PartnerServer) -> AsyncIterator[HttpPartner]:
    async with HttpPartner(server.address, SECRET) as partner:
        yield partner


async def test_a_bet_is_taken_once_however_often_it_is_asked(
    server: PartnerServer, partner: HttpPartner
) -> None:
    assert await partner.ask(BET, timeout_s=ENOUGH_S) == Accepted()
    assert await partner.ask(BET, timeout_s=ENOUGH_S) == Accepted()
    assert server.balances["p1", "EUR"] == 890


async def test_funds_are_refused(server: PartnerServer, partner: HttpPartner) -> None:
    server.give("p1", -900)
    assert await partner.ask(BET, timeout_s=ENOUGH_S) == Refused("funds", "insufficient_funds")
    assert server.balances["p1", "EUR"] == 100


async def test_a_refused_player_is_refused(server: PartnerServer, partner: HttpPartner) -> None:
    server.script("bet", Trick.REFUSES)
    assert await partner.ask(BET, timeout_s=ENOUGH_S) == Refused("player", "player_refused")


@pytest.mark.parametrize(
    "trick",
    [Trick.CUT, Trick.LOST, Trick.BROKEN, Trick.BROKEN_DONE, Trick.GARBAGE, Trick.ENDLESS, Trick.AWAY],
)
async def test_what_says_nothing_for_certain_is_unclear(
    server: PartnerServer, partner: HttpPartner, trick: Trick
) -> None:
    server.script("bet", trick)
    verdict = await partner.ask(BET, timeout_s=ENOUGH_S)
    assert isinstance(verdict, Unclear)
    assert not verdict.contradicts
    assert len(server.calls) == 1, "it was asked once, and followed nowhere"


@pytest.mark.parametrize("trick", [Trick.OTHER_TOTAL, Trick.OTHER_CURRENCY, Trick.OTHER_CALL])
async def test_an_answer_about_something_else_contradicts(
    server: PartnerServer, partner: HttpPartner, trick: Trick
) -> None:
    server.script("bet", trick)
    verdict = await partner.ask(BET, timeout_s=ENOUGH_S)
    assert isinstance(verdict, Unclear)
    assert verdict.contradicts


@pytest.mark.parametrize("trick", [Trick.LATE, Trick.HANGS])
async def test_no_answer_in_time_is_unclear(
    server: PartnerServer, partner: HttpPartner, trick: Trick
) -> None:
    server.script("bet", trick)
    assert isinstance(await partner.ask(BET, timeout_s=SHORT_S), Unclear)
    server.release_late()
    assert server.balances["p1", "EUR"] == 890, "it was taken all the same"


async def test_a_partner_that_is_gone_was_not_asked(server: PartnerServer, partner: HttpPartner) -> None:
    await server.crash()
    assert isinstance(await partner.ask(BET, timeout_s=ENOUGH_S), NotSent)
    await server.start()
    assert await partner.ask(BET, timeout_s=ENOUGH_S) == Accepted()


async def test_a_partner_that_dies_while_it_is_asked_leaves_it_unclear(
    server: PartnerServer, partner: HttpPartner
) -> None:
    server.script("bet", Trick.LATE)
    asking = asyncio.create_task(partner.ask(BET, timeout_s=ENOUGH_S))
    await server.called("bet")
    await server.crash()
    assert isinstance(await asking, Unclear)


@pytest.mark.parametrize(
    ("data", "verdict"),
    [
        (b"[]", Unclear("the answer is no object")),
        (b"[" * 100_000, Unclear("the answer is no JSON")),
        (b'{"call":"%s"}' % str(BET.call).encode(), Unclear("no status that is known: None")),
        (
            b'{"call":"%s","status":"accepted","total":110.0,"currency":"EUR","player":"p1"}'
            % str(BET.call).encode(),
            Unclear("accepted with another total: 110.0", contradicts=True),
        ),
        (
            b'{"call":"%s","status":"accepted","total":true,"currency":"EUR","player":"p1"}'
            % str(BET.call).encode(),
            Unclear("accepted with another total: True", contradicts=True),
        ),
        (
            b'{"call":"%s","status":"refused","reason":{"a":1}}' % str(BET.call).encode(),
            Refused("other", "{'a': 1}"),
        ),
        (None, Unclear("the answer is too long")),
    ],
)
def test_no_more_is_believed_than_has_to_be(data: bytes | None, verdict: Verdict) -> None:
    plain = load_dialect("plain")
    request = request_of(plain, BET, UUID(int=5), signer_of(plain.signature, SECRET))
    assert verdict_of(plain, request, 200, data) == verdict
