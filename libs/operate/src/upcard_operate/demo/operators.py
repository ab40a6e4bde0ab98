"""The casinos of the demonstration: the house, one that pays in beforehand, one with its own wallet."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Final

from servicekit.grpc import acting_as, open_channel
from upcard.gateway.v1 import gateway_pb2
from upcard.gateway.v1.gateway_pb2_grpc import GatewayServiceStub
from upcard_operate.demo.casino import READY_S, new_id, staff
from upcard_operate.demo.house import DemoFailed, accepted
from upcard_operate.demo.tables import CURRENCY
from upcard_operate.local.fleet import Fleet
from upcard_platform.client import HmacSigner, Platform, Refused

_CALL_S: Final = 30.0
_KNOWN_S: Final = 15.0
_PAUSE_S: Final = 0.1
_RATE_PER_S: Final = 1_000
"""Far above what a demonstration needs: a hundred players are launched at once."""
_GATEWAY: Final = gateway_pb2.DESCRIPTOR.services_by_name["GatewayService"]


@dataclass(frozen=True, slots=True)
class DemoOperator:
    """A casino that sends players."""

    operator: str
    name: str
    seamless: bool = False
    """Whether its players' money lies in its own wallet."""


HOUSE: Final = DemoOperator("house", "House")
TRANSFER: Final = DemoOperator("demo-transfer", "Pay-in Casino")
SEAMLESS: Final = DemoOperator("demo-seamless", "Own-wallet Casino", seamless=True)
OPERATORS: Final = (HOUSE, TRANSFER, SEAMLESS)


@contextlib.asynccontextmanager
async def open_for_business(fleet: Fleet) -> AsyncIterator[Mapping[str, Platform]]:
    """Register all operators, each with a key, as staff does; their platforms' clients by operator."""
    async with contextlib.AsyncExitStack() as stack:
        channel = open_channel(
            fleet.address("gateway"), audience="gateway", services=[_GATEWAY], signer=fleet.gateway.signer()
        )
        await stack.enter_async_context(channel)
        await channel.wait_serving(READY_S)
        stub = GatewayServiceStub(channel)
        platforms = {}
        for one in OPERATORS:
            signer = await _registered(stub, one)
            platform = await stack.enter_async_context(Platform(fleet.platform_url, signer))
            await _until_known(platform, one)
            platforms[one.operator] = platform
        yield platforms


async def _registered(stub: GatewayServiceStub, one: DemoOperator) -> HmacSigner:
    terms = gateway_pb2.Terms(
        name=one.name,
        currencies=[gateway_pb2.CurrencyLimits(currency=CURRENCY)],
        rate_per_s=_RATE_PER_S,
        rate_burst=_RATE_PER_S,
    )
    register = gateway_pb2.RegisterOperatorRequest(
        request_id=new_id(),
        operator=one.operator,
        environment=gateway_pb2.ENVIRONMENT_LIVE,
        wallet=gateway_pb2.WALLET_KIND_SEAMLESS if one.seamless else gateway_pb2.WALLET_KIND_TRANSFER,
        terms=terms,
    )
    add = gateway_pb2.AddKeyRequest(
        request_id=new_id(), operator=one.operator, algorithm=gateway_pb2.ALGORITHM_HMAC_SHA256
    )
    with acting_as(staff("admin-1")):
        accepted(f"register {one.operator}", await stub.RegisterOperator(register, timeout=_CALL_S))
        key = accepted(f"give {one.operator} a key", await stub.AddKey(add, timeout=_CALL_S))
    return HmacSigner(key.added.key.key_id, key.added.secret)


async def _until_known(platform: Platform, one: DemoOperator) -> None:
    # Each instance of the gateway hears of a new key within a second.
    deadline = asyncio.get_running_loop().time() + _KNOWN_S
    while True:
        try:
            await platform.operator()
        except Refused as refused:
            if refused.code != "key_unknown":
                raise
            if asyncio.get_running_loop().time() > deadline:
                raise DemoFailed(f"the key of {one.operator} is not known after {_KNOWN_S:.0f} s") from None
            await asyncio.sleep(_PAUSE_S)
        else:
            return
