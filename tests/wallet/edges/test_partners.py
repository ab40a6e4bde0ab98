"""Operators' wallets as people and platforms see them: balances there, and how things stand with each."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import grpc
import pytest

from eventstore.postgres import Pool, PostgresEventStore, open_pool
from servicekit.grpc import Actor, ActorKind, acting_as
from servicekit.settings import WrongSettings, load_settings
from stack import Stack
from tests.wallet.edges.client import TIMEOUT_S, Client, refused
from tests.wallet.edges.processes import environment, staff
from tests.wallet.edges.serving import served
from tests.wallet.ledger.world import ROUND_CANCELLED, bet, states
from tests.wallet.partner import Trick
from tests.wallet.seamless.world import SeamlessWorld, seamless_world
from upcard.wallet.v1 import partners_pb2 as partners
from upcard.wallet.v1 import wallet_pb2 as pb
from upcard_seamless.signing import new_rsa_key
from upcard_wallet.adapters.seamless.partner import Accepted, NotSent
from upcard_wallet.settings import WalletSettings


@pytest.fixture
async def pool(service_database: str) -> AsyncIterator[Pool]:
    async with await open_pool(service_database, application_name="wallet", max_size=12) as opened:
        yield opened


@pytest.fixture
async def world(pool: Pool) -> AsyncIterator[SeamlessWorld]:
    async with PostgresEventStore(pool) as store, seamless_world(pool, store, "op1", "op2") as world:
        yield world


@pytest.fixture
async def client(world: SeamlessWorld) -> AsyncIterator[Client]:
    async with served(world.wallet, world.pool, partners=world.seamless) as client:
        yield client


async def asked(client: Client, account: str, *, ask_partner: bool = True) -> pb.AccountBalance:
    """What an account has, the partner asked."""
    request = pb.GetBalanceRequest(account=account, ask_partner=ask_partner)
    return (await client.stub.GetBalance(request, timeout=TIMEOUT_S)).found


async def test_a_seamless_balance_is_the_partners_if_it_is_wanted(
    client: Client, world: SeamlessWorld
) -> None:
    account = await world.guest(money=100)
    await world.place(bet((1, "ante", 30)))
    found = await asked(client, account)
    assert (found.balance.cash, found.balance.held, found.partner.cash) == (0, 30, 70)
    assert not (await asked(client, account, ask_partner=False)).HasField("partner")
    with acting_as(Actor(ActorKind.PLAYER, "p1")):
        assert (await asked(client, account)).partner.cash == 70


async def test_an_internal_balance_asks_nobody(client: Client, world: SeamlessWorld) -> None:
    account = await world.player("p7", 50)
    found = await asked(client, account)
    assert found.balance.cash == 50
    assert not found.HasField("partner")


async def test_what_a_partner_does_not_tell_is_said(client: Client, world: SeamlessWorld) -> None:
    account = await world.guest(money=100)
    del world.server.balances["p1", "EUR"]
    assert (await asked(client, account)).partner.unknown == "balance_refused"
    await world.server.crash()
    assert (await asked(client, account)).partner.unknown == "balance_unknown"
    for _ in range(world.settings.failures_before_pause):
        world.seamless.circuits["op1"].answered(NotSent())
    assert (await asked(client, account)).partner.unknown == "partner_unavailable"
    other = await world.guest("p2", 5, operator="op2")
    assert (await asked(client, other)).partner.cash == 5
    lost = await world.guest("p3", 5, operator="op2")
    del world.servers["op2"].balances["p3", "EUR"]
    assert (await asked(client, lost)).partner.unknown == "balance_refused"
    assert not world.seamless.circuits["op2"].down, "balances leave the circuit as it is"


async def listed(client: Client, *roles: str) -> list[partners.Partner]:
    with acting_as(staff("anna", *roles)):
        answer = await client.stub.ListPartners(partners.ListPartnersRequest(), timeout=TIMEOUT_S)
    return list(answer.partners)


async def test_people_see_how_things_stand_with_each_partner(client: Client, world: SeamlessWorld) -> None:
    await world.guest(money=100)
    assert states(await world.place(bet((1, "ante", 30)))) == ["held"]
    await world.hear(("t1.1", ROUND_CANCELLED))
    world.server.always("bet", Trick.BROKEN)
    for number in range(world.settings.failures_before_pause):
        await world.place(bet((1, "ante", 1), bet_id=f"f{number}", round_name="t1.2"))
    one, two = await listed(client, "operations")
    assert (one.operator, one.dialect, one.circuit, one.failures) == (
        "op1",
        "plain",
        partners.CIRCUIT_OPEN,
        8,
    )
    assert (one.waiting, one.parked, one.bets_under_way) == (2, 0, 0)
    assert one.HasField("answered_at")
    assert one.since.ToDatetime() >= one.answered_at.ToDatetime()
    assert (two.operator, two.circuit, two.failures) == ("op2", partners.CIRCUIT_CLOSED, 0)
    assert not two.HasField("answered_at")
    world.seamless.circuits["op1"].answered(Accepted())
    one, _ = await listed(client, "auditor")
    assert one.circuit == partners.CIRCUIT_CLOSED


async def test_who_may_not_look_is_told_so(client: Client) -> None:
    with acting_as(staff("anna", "dealer")):
        answer = await refused(client.stub.ListPartners(partners.ListPartnersRequest(), timeout=TIMEOUT_S))
    assert answer == (grpc.StatusCode.PERMISSION_DENIED, "role_missing")
    answer = await refused(client.stub.ListPartners(partners.ListPartnersRequest(), timeout=TIMEOUT_S))
    assert answer == (grpc.StatusCode.PERMISSION_DENIED, "actor_not_allowed")


@pytest.mark.parametrize(
    ("dialects", "said"),
    [
        ({"op2": "plain"}, "name operators of UPCARD_PARTNERS only"),
        ({"op1": "none-such"}, "there are plain, single"),
        ({"op1": "/nowhere/at-all.json"}, "cannot be read"),
        ({"op1": "single"}, "RSA private key as PEM"),
    ],
)
def test_a_wrong_dialect_is_named(
    stack: Stack, monkeypatch: pytest.MonkeyPatch, dialects: dict[str, str], said: str
) -> None:
    with pytest.raises(WrongSettings) as caught:
        settings_with(stack, monkeypatch, "a secret of tests", dialects)
    (problem,) = caught.value.problems
    assert "UPCARD_PARTNER_DIALECTS" in problem
    assert said in problem
    assert "a secret of tests" not in problem


def test_a_dialect_with_its_key_is_taken(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    private, _ = new_rsa_key()
    settings = settings_with(stack, monkeypatch, private.decode(), {"op1": "single"})
    assert settings.partner_dialects == {"op1": "single"}


def settings_with(
    stack: Stack, monkeypatch: pytest.MonkeyPatch, secret: str, dialects: dict[str, str]
) -> WalletSettings:
    """A wallet's settings with one partner."""
    partners = {
        "UPCARD_PARTNERS": '{"op1": "https://x"}',
        "UPCARD_PARTNER_SECRETS": json.dumps({"op1": secret}),
        "UPCARD_PARTNER_DIALECTS": json.dumps(dialects),
    }
    for name, value in environment(stack, "postgresql://nobody@127.0.0.1:1/none", **partners).items():
        monkeypatch.setenv(name, value)
    return load_settings(WalletSettings)
