"""Operators administered over gRPC: each change an event, each call answered once, no secret shown twice."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

import grpc.aio
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from servicekit.answering import Answering
from servicekit.grpc import (
    Actor,
    ActorKind,
    ContextSigner,
    ContextVerifier,
    GrpcServer,
    ServerSettings,
    TrustedKey,
    acting_as,
    failure_of,
    open_channel,
)
from tests.gateway.world import World
from upcard.gateway.v1 import gateway_pb2 as pb
from upcard.gateway.v1.gateway_pb2_grpc import GatewayServiceStub
from upcard_gateway.app.recording import decode
from upcard_gateway.domain.operators import (
    EVENT_TYPES,
    KeyAdded,
    KeyRevoked,
    Operator,
    OperatorChanged,
    OperatorRegistered,
    evolve,
)
from upcard_gateway.entrypoints.grpc import ACCESS, GATEWAY, GATEWAY_ERRORS, Desk, exposed_gateway
from upcard_platform.signing import HmacSigner

KEY = Ed25519PrivateKey.generate()
TIMEOUT_S = 60.0
ADMIN = Actor(ActorKind.STAFF, "s1", frozenset({"admin"}))
TERMS = pb.Terms(
    name="Casino",
    currencies=[pb.CurrencyLimits(currency="EUR", min_bet=100, max_bet=50_000)],
    addresses=["192.0.2.0/24", "198.51.100.0/24"],
    rate_per_s=7,
    rate_burst=9,
    launch_url="https://play.casino.example/upcard",
)


@pytest.fixture
async def stub(world: World) -> AsyncIterator[GatewayServiceStub]:
    """The gateway's calls."""
    async with served(world) as made:
        yield made


@contextlib.asynccontextmanager
async def served(world: World) -> AsyncIterator[GatewayServiceStub]:
    """The gateway's calls over gRPC, in this process."""
    verifier = ContextVerifier("gateway", [TrustedKey("gateway-1", KEY.public_key(), frozenset(ActorKind))])
    desk = Desk(world.admin, Answering("gateway", world.pool, world.edge.store.announce))
    settings = ServerSettings(grace_s=0.2)
    async with GrpcServer(
        settings, [exposed_gateway(desk)], verifier=verifier, known_errors=GATEWAY_ERRORS
    ) as server:
        signer = ContextSigner("gateway-1", KEY)
        channel = open_channel(server.address, audience="gateway", services=[GATEWAY], signer=signer)
        async with channel:
            with acting_as(ADMIN):
                yield GatewayServiceStub(channel)


def wanted(
    request_id: str = "r1", operator: str = "op1", terms: pb.Terms = TERMS
) -> pb.RegisterOperatorRequest:
    """A registration."""
    return pb.RegisterOperatorRequest(
        request_id=request_id,
        operator=operator,
        environment=pb.ENVIRONMENT_SANDBOX,
        wallet=pb.WALLET_KIND_SEAMLESS,
        terms=terms,
    )


async def code_of(call: object) -> str:
    """Why a call failed."""
    with pytest.raises(grpc.aio.AioRpcError) as found:
        await call  # type: ignore[misc]  # a call of the stub
    return failure_of(found.value).reason


async def test_an_operator_has_what_it_was_registered_with(world: World, stub: GatewayServiceStub) -> None:
    answer = await stub.RegisterOperator(wanted(), timeout=TIMEOUT_S)
    assert answer.operator.terms == TERMS
    assert answer.operator.environment == pb.ENVIRONMENT_SANDBOX
    assert answer.operator.registered_at.ToDatetime().year == 2026
    found = await stub.GetOperator(pb.GetOperatorRequest(operator="op1"), timeout=TIMEOUT_S)
    assert found.operator == answer.operator
    assert (await stub.RegisterOperator(wanted(), timeout=TIMEOUT_S)) == answer
    again = await stub.RegisterOperator(wanted("r2"), timeout=TIMEOUT_S)
    assert again.refusal.reason == "operator_exists"
    other = pb.Terms(name="Other", currencies=TERMS.currencies)
    assert await code_of(stub.RegisterOperator(wanted(terms=other), timeout=TIMEOUT_S)) == "request_id_reused"
    assert len(await world.edge.store.read_stream("partner-op1")) == 1


async def test_of_two_that_register_one_id_at_once_one_does(world: World, stub: GatewayServiceStub) -> None:
    answers = await asyncio.gather(
        *(stub.RegisterOperator(wanted(f"r{number}"), timeout=TIMEOUT_S) for number in range(5))
    )
    assert sorted(one.WhichOneof("outcome") or "" for one in answers) == ["operator", *["refusal"] * 4]
    assert len(await world.edge.store.read_stream("partner-op1")) == 1


async def test_the_events_add_up_to_the_operator(world: World, stub: GatewayServiceStub) -> None:
    await stub.RegisterOperator(wanted(), timeout=TIMEOUT_S)
    terms = pb.Terms(name="Casino 2", currencies=[pb.CurrencyLimits(currency="GBP")], closed=True)
    request = pb.ChangeOperatorRequest(request_id="r2", operator="op1", terms=terms)
    await stub.ChangeOperator(request, timeout=TIMEOUT_S)
    same = pb.ChangeOperatorRequest(request_id="r3", operator="op1", terms=terms)
    await stub.ChangeOperator(same, timeout=TIMEOUT_S)
    added = await stub.AddKey(
        pb.AddKeyRequest(request_id="r4", operator="op1", algorithm=pb.ALGORITHM_HMAC_SHA256),
        timeout=TIMEOUT_S,
    )
    key_id = added.added.key.key_id
    for number in (5, 6):
        revoking = pb.RevokeKeyRequest(request_id=f"r{number}", operator="op1", key_id=key_id)
        revoked = await stub.RevokeKey(revoking, timeout=TIMEOUT_S)
        assert revoked.key.HasField("revoked_at")
    recorded = await world.edge.store.read_stream("partner-op1")
    events = [decode(EVENT_TYPES, one) for one in recorded]
    assert [type(one) for one in events] == [OperatorRegistered, OperatorChanged, KeyAdded, KeyRevoked]
    state: Operator | None = None
    for event in events:
        state = evolve(state, event, world.clock())
    async with world.pool.acquire() as connection:
        assert await world.tables.find(connection, "op1") == state
    assert b'"actor":"staff:s1"' in recorded[0].content


async def test_a_secret_is_in_the_answer_and_nowhere_else(world: World, stub: GatewayServiceStub) -> None:
    await stub.RegisterOperator(wanted(), timeout=TIMEOUT_S)
    request = pb.AddKeyRequest(request_id="r2", operator="op1", algorithm=pb.ALGORITHM_HMAC_SHA256)
    added = (await stub.AddKey(request, timeout=TIMEOUT_S)).added
    assert len(added.secret) == 32
    assert (await stub.AddKey(request, timeout=TIMEOUT_S)).added == added
    casino = await world.client(HmacSigner(added.key.key_id, added.secret), address="192.0.2.9")
    assert (await casino.get("/v1/operator")).status_code == 200
    async with world.pool.acquire() as connection:
        columns = await connection.fetch(
            "SELECT table_schema, table_name FROM information_schema.tables"
            " WHERE table_schema IN ('gateway', 'eventstore') AND table_type = 'BASE TABLE'"
        )
        for schema, table in columns:
            if await connection.fetchval("SELECT has_table_privilege($1, 'SELECT')", f"{schema}.{table}"):
                whole = await connection.fetchval(
                    f"SELECT string_agg(t::text, ' ') FROM {schema}.{table} AS t"  # noqa: S608 - the catalogue's names
                )
                assert added.secret.hex() not in (whole or ""), table
    world.clock.move(601)
    later = (await stub.AddKey(request, timeout=TIMEOUT_S)).added
    assert (later.secret, later.key) == (b"", added.key)


async def test_a_revoked_keys_secret_is_forgotten(world: World, stub: GatewayServiceStub) -> None:
    await stub.RegisterOperator(wanted(), timeout=TIMEOUT_S)
    request = pb.AddKeyRequest(request_id="r2", operator="op1", algorithm=pb.ALGORITHM_HMAC_SHA256)
    key_id = (await stub.AddKey(request, timeout=TIMEOUT_S)).added.key.key_id
    await stub.RevokeKey(
        pb.RevokeKeyRequest(request_id="r3", operator="op1", key_id=key_id), timeout=TIMEOUT_S
    )
    assert (await stub.AddKey(request, timeout=TIMEOUT_S)).added.secret == b""
    async with world.pool.acquire() as connection:
        assert await connection.fetchval("SELECT count(*) FROM gateway.operator_secrets") == 0


async def test_what_cannot_be_is_refused(stub: GatewayServiceStub) -> None:
    await stub.RegisterOperator(wanted(), timeout=TIMEOUT_S)
    unknown = pb.ChangeOperatorRequest(request_id="r2", operator="op9", terms=TERMS)
    assert (await stub.ChangeOperator(unknown, timeout=TIMEOUT_S)).refusal.reason == "operator_unknown"
    missing = pb.RevokeKeyRequest(request_id="r3", operator="op1", key_id="k-9")
    assert (await stub.RevokeKey(missing, timeout=TIMEOUT_S)).refusal.reason == "key_unknown"
    nobody = pb.GetOperatorRequest(operator="op9")
    assert (await stub.GetOperator(nobody, timeout=TIMEOUT_S)).refusal.reason == "operator_unknown"
    for public_key in ("", "no key", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"):
        rsa = pb.AddKeyRequest(
            request_id=f"k{len(public_key)}",
            operator="op1",
            algorithm=pb.ALGORITHM_RSA_SHA256,
            public_key=public_key,
        )
        assert await code_of(stub.AddKey(rsa, timeout=TIMEOUT_S)) == "invalid_argument"


@pytest.mark.parametrize(
    "terms",
    [
        pb.Terms(),
        pb.Terms(name="a" * 101, currencies=TERMS.currencies),
        pb.Terms(name="a\nb", currencies=TERMS.currencies),
        pb.Terms(name="A"),
        pb.Terms(name="A", currencies=[pb.CurrencyLimits(currency="euro")]),
        pb.Terms(name="A", currencies=[pb.CurrencyLimits(currency="EUR"), pb.CurrencyLimits(currency="EUR")]),
        pb.Terms(name="A", currencies=[pb.CurrencyLimits(currency="EUR", min_bet=0)]),
        pb.Terms(name="A", currencies=[pb.CurrencyLimits(currency="EUR", min_bet=2, max_bet=1)]),
        pb.Terms(name="A", currencies=TERMS.currencies, addresses=["192.0.2.1/24"]),
        pb.Terms(name="A", currencies=TERMS.currencies, rate_per_s=-1),
        pb.Terms(name="A", currencies=TERMS.currencies, rate_burst=100_001),
        pb.Terms(name="A", currencies=TERMS.currencies, launch_url="javascript:alert(1)"),
    ],
    ids=str,
)
async def test_terms_that_nobody_can_have(stub: GatewayServiceStub, terms: pb.Terms) -> None:
    assert await code_of(stub.RegisterOperator(wanted(terms=terms), timeout=TIMEOUT_S)) == "invalid_argument"


async def test_operators_come_by_pages(world: World, stub: GatewayServiceStub) -> None:
    for number in range(5):
        await world.register(f"op{number}")
    await world.hmac_key("op3")
    found, after, more = [], "", True
    while more:
        page = await stub.ListOperators(pb.ListOperatorsRequest(after=after, limit=2), timeout=TIMEOUT_S)
        found += list(page.operators)
        after, more = page.operators[-1].operator, page.more
    assert [one.operator for one in found] == [f"op{number}" for number in range(5)]
    assert [len(one.keys) for one in found] == [0, 0, 0, 1, 0]


def requests() -> dict[str, object]:
    """A request of each call."""
    return {
        "RegisterOperator": wanted("x1", "op8"),
        "ChangeOperator": pb.ChangeOperatorRequest(request_id="x2", operator="op1", terms=TERMS),
        "AddKey": pb.AddKeyRequest(request_id="x3", operator="op1", algorithm=pb.ALGORITHM_HMAC_SHA256),
        "RevokeKey": pb.RevokeKeyRequest(request_id="x4", operator="op1", key_id="k-1"),
        "ListOperators": pb.ListOperatorsRequest(),
        "GetOperator": pb.GetOperatorRequest(operator="op1"),
    }


def test_every_call_says_who_may_make_it() -> None:
    assert set(ACCESS) == set(GATEWAY.methods_by_name) == set(requests())


@pytest.mark.parametrize("call", sorted(ACCESS))
async def test_only_admins_may(world: World, stub: GatewayServiceStub, call: str) -> None:
    others = [
        Actor(ActorKind.PLATFORM),
        Actor(ActorKind.PLAYER, "p1"),
        Actor(ActorKind.DEALER, "d1"),
        Actor(ActorKind.STAFF, "s2"),
        Actor(ActorKind.STAFF, "s2", frozenset({"operations", "support", "auditor", "shift_manager"})),
    ]
    for actor in others:
        with acting_as(actor):
            reason = await code_of(getattr(stub, call)(requests()[call], timeout=TIMEOUT_S))
        assert reason in {"role_missing", "actor_not_allowed"}, (
            actor,
            reason,
        )
    async with world.pool.acquire() as connection:
        assert await connection.fetchval("SELECT count(*) FROM gateway.operators") == 0
