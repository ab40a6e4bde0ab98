"""A call reaches its table's owner wherever it came in: the same bytes, the same signed context, one hop."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import grpc
import pytest

from servicekit.grpc import ClientSettings, acting_as, open_channel
from tests.messaging.waiting import until
from tests.servicekit.grpc.keys import Authority
from tests.table.edges.test_calls import answers, bets
from tests.table.edges.world import (
    DEALER,
    PLAYER,
    SIGNER,
    TIMEOUT_S,
    Certificates,
    Instance,
    Played,
    PlayedTips,
    failed,
    no_database,
    open_instance,
)
from upcard.table.v1 import shoe_pb2
from upcard.table.v1.shoe_pb2_grpc import ShoeServiceStub
from upcard_table.app.calls import RoundWork
from upcard_table.entrypoints.grpc.access import SHOE


@dataclass
class Pair:
    """Two instances: the first one owns nothing, the second one table t1."""

    first: Instance
    owner: Instance


@pytest.fixture
async def pair() -> AsyncIterator[Pair]:
    """Two instances that reach each other."""
    async with contextlib.AsyncExitStack() as exits:
        enter = exits.enter_async_context
        owner = await enter(open_instance(no_database(), Played(answers, {"t1"}), PlayedTips()))
        first = await enter(open_instance(no_database(), Played(answers), PlayedTips()))
        first.tables.elsewhere = owner.server.address
        yield Pair(first, owner)


async def test_any_instance_takes_a_call(pair: Pair) -> None:
    with acting_as(PLAYER):
        answer = await pair.first.table.PlaceBets(bets(5, 1), timeout=TIMEOUT_S)
        again = await pair.owner.table.PlaceBets(bets(5, 1), timeout=TIMEOUT_S)
    assert [one.WhichOneof("result") for one in answer.items] == ["accepted", "refusal"]
    assert again == answer, "it is the same call, whoever passed it on"
    assert (len(pair.first.tables.calls), len(pair.owner.tables.calls)) == (0, 1)
    work = pair.owner.tables.calls[0].works[0]
    assert isinstance(work, RoundWork)
    assert work.by.actor == "player:p1"


async def test_what_the_owner_says_is_said_again(pair: Pair) -> None:
    with acting_as(PLAYER):
        await pair.first.table.PlaceBets(bets(5), timeout=TIMEOUT_S)
        reused = await failed(pair.first.table.PlaceBets(bets(6), timeout=TIMEOUT_S))
        denied = await failed(
            pair.first.table.PlaceBets(bets(5, who="p2", request_id="r2"), timeout=TIMEOUT_S)
        )
    assert reused == (grpc.StatusCode.INVALID_ARGUMENT, "request_id_reused")
    assert denied == (grpc.StatusCode.PERMISSION_DENIED, "player_not_actor")


async def test_a_call_waits_for_a_table_that_moves(pair: Pair) -> None:
    pair.owner.tables.owned.clear()
    with acting_as(PLAYER):
        call = asyncio.ensure_future(pair.first.table.PlaceBets(bets(5), timeout=TIMEOUT_S))
        await until(lambda: pair.owner.tables.asked >= 3)
        pair.first.tables.owned.add("t1")
        answer = await call
    assert answer.items[0].HasField("accepted")
    assert len(pair.first.tables.calls) == 1


async def test_a_call_is_passed_on_once_at_the_most(pair: Pair) -> None:
    pair.owner.tables.owned.clear()
    pair.owner.tables.elsewhere = pair.first.server.address
    with acting_as(PLAYER):
        moving = await failed(pair.first.table.PlaceBets(bets(5), timeout=0.6))
    assert moving == (grpc.StatusCode.UNAVAILABLE, "table_moving")
    assert pair.owner.tables.asked <= pair.first.tables.asked


async def test_an_owner_that_is_gone_is_not_asked_for_ever(pair: Pair) -> None:
    pair.first.tables.elsewhere = "127.0.0.1:1"
    with acting_as(PLAYER):
        call = asyncio.ensure_future(pair.first.table.PlaceBets(bets(5), timeout=TIMEOUT_S))
        await until(lambda: pair.first.tables.asked >= 2)
        pair.first.tables.elsewhere = pair.owner.server.address
        answer = await call
    assert answer.items[0].HasField("accepted")


async def test_a_call_ends_in_time_when_nobody_owns_the_table(pair: Pair) -> None:
    pair.first.tables.elsewhere = None
    with acting_as(PLAYER):
        moving = await failed(pair.first.table.PlaceBets(bets(5), timeout=0.4))
    assert moving == (grpc.StatusCode.UNAVAILABLE, "table_moving")


async def test_with_certificates_a_call_is_passed_on_and_a_card_comes_from_a_reader_alone(
    tmp_path: Path,
) -> None:
    authority = Authority(tmp_path)
    certificates = Certificates(
        authority.issue("table", "spiffe://upcard/service/table"),
        authority.issue("gateway", "spiffe://upcard/service/gateway"),
    )
    async with contextlib.AsyncExitStack() as exits:
        enter = exits.enter_async_context
        owner = await enter(open_instance(no_database(), Played(answers, {"t1"}), PlayedTips(), certificates))
        first = await enter(open_instance(no_database(), Played(answers), PlayedTips(), certificates))
        first.tables.elsewhere = owner.server.address
        with acting_as(PLAYER):
            answer = await first.table.PlaceBets(bets(5), timeout=TIMEOUT_S)
        assert answer.items[0].HasField("accepted")
        scan = shoe_pb2.ScanCardRequest(request_id="r1", table="t1", scan_id="s1", card="Ah")
        with acting_as(DEALER):
            refused = await failed(owner.shoe.ScanCard(scan, timeout=TIMEOUT_S))
        assert refused == (grpc.StatusCode.PERMISSION_DENIED, "caller_not_allowed")
        reader = ClientSettings(tls=authority.issue("shoe", "spiffe://upcard/service/shoe"))
        for instance in (owner, first):
            channel = open_channel(
                instance.server.address, audience="table", services=[SHOE], settings=reader, signer=SIGNER
            )
            async with channel:
                with acting_as(DEALER):
                    laid = await ShoeServiceStub(channel).ScanCard(scan, timeout=TIMEOUT_S)
            assert laid.laid.place == "box.1.0"
