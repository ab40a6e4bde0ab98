"""Everything as processes, two operators with platforms of their own, and a partner's wallet."""

from __future__ import annotations

import asyncio
import contextlib
import json
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from servicekit.grpc import Actor, ActorKind, acting_as, open_channel
from stack import Stack
from stack.folders import folder_for_tests
from stack.ports import free_ports
from tests.end_to_end.gateway.partner_process import DIALECT, PartnerProcess
from tests.end_to_end.gateway.receiver import Receiver
from upcard.gateway.v1 import gateway_pb2 as pb
from upcard.gateway.v1.gateway_pb2_grpc import GatewayServiceStub
from upcard_operate.demo.casino import Casino, entered
from upcard_operate.local.fleet import Fleet
from upcard_platform.client import HmacSigner, Platform, Refused
from upcard_platform.models.sessions import Launch, Launched
from upcard_platform.models.webhooks import AddEndpoint

T = TypeVar("T")

WAIT_S: Final = 60.0
PAUSE_S: Final = 0.1
CALL_S: Final = 20.0
TRANSFER: Final = "casino-t"
SEAMLESS: Final = "casino-s"
CURRENCY: Final = "EUR"
ADMIN: Final = Actor(ActorKind.STAFF, "admin-1", frozenset({"admin"}))
GATEWAY: Final = pb.DESCRIPTOR.services_by_name["GatewayService"]


@dataclass
class Servers:
    """What runs as processes."""

    fleet: Fleet
    partner: PartnerProcess


@dataclass
class Edge:
    """The processes, the house, and both operators' platforms."""

    fleet: Fleet
    partner: PartnerProcess
    casino: Casino
    platforms: Mapping[str, Platform]
    receivers: Mapping[str, Receiver]
    keys: Mapping[str, pb.AddedKey]

    async def launched(self, operator: str, player: str) -> Launched:
        """A player of an operator who is about to play."""
        wish = Launch(
            request_id=fresh(), player=player, nickname="Ann", currency=CURRENCY, country="NL", language="en"
        )
        return await self.platforms[operator].sessions.launch(wish)


@contextlib.contextmanager
def started(folder: Path) -> Iterator[Servers]:
    """Everything as processes."""
    (port,) = free_ports(1)
    partner = PartnerProcess(folder, port)
    more = {
        "wallet": {
            "UPCARD_PARTNERS": json.dumps({SEAMLESS: partner.address}),
            "UPCARD_PARTNER_SECRETS": json.dumps({SEAMLESS: partner.private_pem}),
            "UPCARD_PARTNER_DIALECTS": json.dumps({SEAMLESS: DIALECT}),
            "UPCARD_PARTNER_CIRCUIT_FAILURES": "1",
            "UPCARD_PARTNER_CIRCUIT_PAUSE_S": "1",
        },
        "gateway": {"UPCARD_WEBHOOKS_INSIDE": "true"},
    }
    with Stack(temporary_in=folder_for_tests()) as stack, Fleet(stack, folder, more=more) as fleet:
        partner.start()
        try:
            yield Servers(fleet, partner)
        finally:
            partner.kill()
        assert set(fleet.stop().values()) == {0}, "every service stops in order"


@contextlib.asynccontextmanager
async def opened(servers: Servers) -> AsyncIterator[Edge]:
    """Both operators registered, each with a platform that signs and a receiver of webhooks."""
    async with contextlib.AsyncExitStack() as stack:
        casino = await stack.enter_async_context(entered(servers.fleet))
        platforms: dict[str, Platform] = {}
        receivers: dict[str, Receiver] = {}
        keys: dict[str, pb.AddedKey] = {}
        for operator, wallet in ((TRANSFER, pb.WALLET_KIND_TRANSFER), (SEAMLESS, pb.WALLET_KIND_SEAMLESS)):
            key = await registered(servers.fleet, operator, wallet)
            signer = HmacSigner(key.key.key_id, key.secret)
            platform = await stack.enter_async_context(Platform(servers.fleet.platform_url, signer))
            await until("the new key", partial(known, platform), bool)
            receiver = await stack.enter_async_context(Receiver())
            endpoint = await platform.webhooks.add_endpoint(
                AddEndpoint(request_id=fresh(), url=receiver.url, types=["round_ended", "table_state"])
            )
            receiver.secret = endpoint.secret
            platforms[operator], receivers[operator], keys[operator] = platform, receiver, key
        yield Edge(servers.fleet, servers.partner, casino, platforms, receivers, keys)


async def registered(fleet: Fleet, operator: str, wallet: pb.WalletKind.ValueType) -> pb.AddedKey:
    """Register an operator as staff does, and give it a key."""
    async with open_channel(
        fleet.address("gateway"), audience="gateway", services=[GATEWAY], signer=fleet.gateway.signer()
    ) as channel:
        await channel.wait_serving(WAIT_S)
        stub = GatewayServiceStub(channel)
        with acting_as(ADMIN):
            terms = pb.Terms(name=operator, currencies=[pb.CurrencyLimits(currency=CURRENCY)])
            made = await stub.RegisterOperator(
                pb.RegisterOperatorRequest(
                    request_id=fresh(),
                    operator=operator,
                    environment=pb.ENVIRONMENT_LIVE,
                    wallet=wallet,
                    terms=terms,
                ),
                timeout=CALL_S,
            )
            assert made.operator.operator == operator, made
            key = await stub.AddKey(
                pb.AddKeyRequest(request_id=fresh(), operator=operator, algorithm=pb.ALGORITHM_HMAC_SHA256),
                timeout=CALL_S,
            )
        return key.added


async def known(platform: Platform) -> bool:
    """Whether the key is known already: instances learn of a new one within a second."""
    try:
        await platform.operator()
    except Refused as refused:
        if refused.code != "key_unknown":
            raise
        return False
    return True


def fresh() -> str:
    """A new id."""
    return str(uuid.uuid4())


async def until(what: str, look: Callable[[], Awaitable[T]], right: Callable[[T], bool]) -> T:
    """Look again and again until it is right; what was seen then."""
    seen: T | None = None
    try:
        async with asyncio.timeout(WAIT_S):
            while True:
                seen = await look()
                if right(seen):
                    return seen
                await asyncio.sleep(PAUSE_S)
    except TimeoutError:
        raise AssertionError(f"waited for {what}; at last there was {seen}") from None
