"""Opening accounts, paying in and out, balances and statements, over gRPC with a real process."""

from __future__ import annotations

import asyncio
import datetime as dt

import asyncpg
import grpc
import pytest

from servicekit.grpc import Actor, ActorKind, acting_as
from tests.wallet.edges.client import TIMEOUT_S, Client, fresh, refused
from tests.wallet.edges.processes import PLATFORM, staff
from upcard.wallet.v1 import wallet_pb2 as pb
from upcard_wallet.entrypoints.grpc.messages import timestamp


async def test_money_comes_in_and_goes_out(client: Client) -> None:
    await client.open()
    assert (await client.deposit(1_000)).moved.balance == pb.Balance(cash=1_000)
    assert (await client.withdraw(300)).moved.balance == pb.Balance(cash=700)
    assert await client.has() == (700, 0)


async def test_a_refusal_is_a_normal_answer(client: Client) -> None:
    await client.open()
    assert (await client.withdraw(1)).refusal.reason == "funds_refused"
    assert (await client.deposit(0)).refusal.reason == "amount_invalid"
    assert (await client.deposit(-5)).refusal.reason == "amount_invalid"
    other = pb.DepositRequest(request_id=fresh(), account=client.account, amount=5, currency="USD")
    assert (await client.stub.Deposit(other, timeout=TIMEOUT_S)).refusal.reason == "currency_differs"
    other = pb.DepositRequest(request_id=fresh(), account="nobody", amount=5, currency="EUR")
    assert (await client.stub.Deposit(other, timeout=TIMEOUT_S)).refusal.reason == "account_unknown"
    assert await client.has() == (0, 0)


async def test_an_account_is_opened_once(client: Client) -> None:
    first = await client.open()
    assert await client.open() == first
    first.operator = "op2"
    request = pb.OpenAccountRequest(request_id=fresh(), account=first)
    assert (await client.stub.OpenAccount(request, timeout=TIMEOUT_S)).refusal.reason == "account_exists"


async def test_the_same_request_has_one_effect_and_one_answer(client: Client) -> None:
    await client.open()
    first = await client.deposit(100, request_id=(request_id := fresh()))
    await client.deposit(50)
    again = await client.deposit(100, request_id=request_id)
    assert again == first, "the answer of then, not the balance of now"
    assert await client.has() == (150, 0)


async def test_the_same_request_from_many_at_once_has_one_effect(client: Client) -> None:
    await client.open()
    request_id = fresh()
    answers = await asyncio.gather(*(client.deposit(100, request_id=request_id) for _ in range(20)))
    assert len({answer.moved.transaction for answer in answers}) == 1
    assert await client.has() == (100, 0)


async def test_a_request_id_with_another_body_is_refused(client: Client) -> None:
    await client.open()
    await client.deposit(100, request_id=(request_id := fresh()))
    request = pb.DepositRequest(request_id=request_id, account=client.account, amount=101, currency="EUR")
    answer = await refused(client.stub.Deposit(request, timeout=TIMEOUT_S))
    assert answer == (grpc.StatusCode.INVALID_ARGUMENT, "request_id_reused")
    assert await client.has() == (100, 0)


async def test_a_request_id_belongs_to_its_caller_and_call(client: Client) -> None:
    await client.open()
    request_id = fresh()
    await client.deposit(100, request_id=request_id)
    await client.withdraw(30, request_id=request_id)
    with acting_as(staff("cashier")):
        await client.deposit(100, request_id=request_id)
    assert await client.has() == (170, 0)


@pytest.mark.parametrize("request_id", ["", "x" * 201, "line\nfeed"])
async def test_a_request_needs_an_id(client: Client, request_id: str) -> None:
    request = pb.DepositRequest(request_id=request_id, account=client.account, amount=1, currency="EUR")
    answer = await refused(client.stub.Deposit(request, timeout=TIMEOUT_S))
    assert answer == (grpc.StatusCode.INVALID_ARGUMENT, "invalid_argument")


async def test_who_pays_in_has_to_be_vouched_for(client: Client) -> None:
    await client.open()
    request = pb.DepositRequest(request_id=fresh(), account=client.account, amount=1, currency="EUR")
    with acting_as(Actor(ActorKind.PLAYER, client.player)):
        answer = await refused(client.stub.Deposit(request, timeout=TIMEOUT_S))
    assert answer == (grpc.StatusCode.PERMISSION_DENIED, "actor_not_allowed")


async def test_a_player_sees_their_own_account_alone(client: Client) -> None:
    account = await client.funded(100)
    mine = pb.GetBalanceRequest(player=pb.PlayerCurrency(player=client.player, currency="EUR"))
    with acting_as(Actor(ActorKind.PLAYER, client.player)):
        assert (await client.stub.GetBalance(mine, timeout=TIMEOUT_S)).found.balance.cash == 100
    with acting_as(Actor(ActorKind.PLAYER, "somebody-else")):
        balance = await client.stub.GetBalance(pb.GetBalanceRequest(account=account), timeout=TIMEOUT_S)
        assert balance.refusal.reason == "account_unknown"
        assert not balance.HasField("found")
        statement = await client.stub.GetStatement(_statement(account), timeout=TIMEOUT_S)
        assert statement.refusal.reason == "account_unknown"
        assert not statement.HasField("statement")


async def test_a_statement_adds_up_and_each_line_names_its_event(
    client: Client, owners_database: str
) -> None:
    account = await client.funded(500)
    await client.withdraw(120)
    placed = await client.place(client.bet("t9.1", 80))
    assert placed[0].outcome == pb.HOLD_OUTCOME_HELD
    answer = await client.stub.GetStatement(_statement(account), timeout=TIMEOUT_S)
    made = answer.statement
    assert [(line.kind, line.changes.cash, line.changes.held) for line in made.lines] == [
        ("deposit", 500, 0),
        ("withdrawal", -120, 0),
        ("hold", -80, 80),
    ]
    assert made.opening == pb.Balance()
    assert made.closing == pb.Balance(cash=300, held=80)
    assert not made.more
    connection = await asyncpg.connect(owners_database)
    try:
        for line, kind in zip(made.lines, ("Deposited", "Withdrawn", "HoldPlaced"), strict=True):
            found = await connection.fetchrow(
                "SELECT stream, type FROM eventstore.events WHERE event_id = $1::uuid", line.event
            )
            assert found is not None
            assert (found["stream"], found["type"]) == (f"account-{account}", kind)
    finally:
        await connection.close()


async def test_a_statement_comes_in_pages(client: Client) -> None:
    account = await client.funded(100)
    for amount in (1, 2, 3, 4):
        await client.withdraw(amount)
    seen: list[int] = []
    after, more = 0, True
    while more:
        answer = await client.stub.GetStatement(_statement(account, after=after, limit=2), timeout=TIMEOUT_S)
        seen += [line.changes.cash for line in answer.statement.lines]
        more, after = answer.statement.more, answer.statement.lines[-1].position
    assert seen == [100, -1, -2, -3, -4]


async def test_events_say_who_acted(client: Client, owners_database: str) -> None:
    await client.open()
    with acting_as(staff("cashier-7")):
        await client.deposit(100)
    with acting_as(PLATFORM):
        await client.withdraw(10)
    connection = await asyncpg.connect(owners_database)
    try:
        rows = await connection.fetch(
            "SELECT type, convert_from(content, 'UTF8')::jsonb ->> 'actor' AS actor FROM eventstore.events"
            " WHERE stream = $1 ORDER BY stream_position",
            f"account-{client.account}",
        )
    finally:
        await connection.close()
    assert [tuple(row) for row in rows] == [
        ("AccountOpened", "platform"),
        ("Deposited", "staff:cashier-7"),
        ("Withdrawn", "platform"),
    ]


def _statement(account: str, *, after: int = 0, limit: int = 0) -> pb.GetStatementRequest:
    now = dt.datetime.now(dt.UTC)
    return pb.GetStatementRequest(
        account=account,
        since=timestamp(now - dt.timedelta(hours=1)),
        until=timestamp(now + dt.timedelta(hours=1)),
        after=after,
        limit=limit,
    )
