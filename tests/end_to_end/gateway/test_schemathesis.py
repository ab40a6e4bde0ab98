"""Whatever is sent to the platform API, rightly signed, is answered as documented, and never as our mistake.

Every operation of the OpenAPI is called with values that fit it and with values that do not, half of them
about a player, a session, a table and a round that are there.
"""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from requests.auth import AuthBase
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from servicekit.grpc import acting_as, open_channel
from tests.end_to_end.gateway.dealing import ScriptedTable, ante
from tests.end_to_end.gateway.processes import ADMIN, CALL_S, CURRENCY, GATEWAY, Edge, fresh, known, until
from upcard.gateway.v1 import gateway_pb2 as pb
from upcard.gateway.v1.gateway_pb2_grpc import GatewayServiceStub
from upcard_platform.client import HmacSigner, Platform
from upcard_platform.models.sessions import Launch
from upcard_platform.models.wallets import Deposit
from upcard_platform.models.webhooks import AddEndpoint
from upcard_platform.signing import signed_headers

pytestmark = pytest.mark.asyncio(loop_scope="module")

OPERATOR: Final = "casino-f"
PLAYER: Final = "p1"
TABLE: Final = "t-fuzz"
EXAMPLES: Final = 8
TIMEOUT_S: Final = 60.0
LAST: Final = ("end", "erase", "remove_endpoint")
"""Operations after which what is known is gone."""
CHECKS: Final = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]


class Signed(AuthBase):
    """Signs a request as it is sent."""

    def __init__(self, signer: HmacSigner) -> None:
        self._signer = signer

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        """Put the signature on."""
        body = request.body or b""
        raw = body.encode() if isinstance(body, str) else body
        assert isinstance(raw, bytes)
        now = dt.datetime.now(dt.UTC)
        headers = signed_headers(self._signer, str(request.method), request.path_url, raw, now)
        request.headers.update(headers)
        return request


async def registered(edge: Edge) -> HmacSigner:
    """An operator whose rates are no hindrance, and its key."""
    fleet = edge.fleet
    async with open_channel(
        fleet.address("gateway"), audience="gateway", services=[GATEWAY], signer=fleet.gateway.signer()
    ) as channel:
        stub = GatewayServiceStub(channel)
        with acting_as(ADMIN):
            await stub.RegisterOperator(
                pb.RegisterOperatorRequest(
                    request_id=fresh(),
                    operator=OPERATOR,
                    environment=pb.ENVIRONMENT_LIVE,
                    wallet=pb.WALLET_KIND_TRANSFER,
                    terms=pb.Terms(
                        name="Fuzz",
                        currencies=[pb.CurrencyLimits(currency=CURRENCY)],
                        rate_per_s=100_000,
                        rate_burst=100_000,
                    ),
                ),
                timeout=CALL_S,
            )
            request = pb.AddKeyRequest(
                request_id=fresh(), operator=OPERATOR, algorithm=pb.ALGORITHM_HMAC_SHA256
            )
            added = (await stub.AddKey(request, timeout=CALL_S)).added
    return HmacSigner(added.key.key_id, added.secret)


async def prepared(edge: Edge, platform: Platform) -> dict[str, str]:
    """A player who has played a round; the ids that there are, by the names of paths' parameters."""
    wish = Launch(
        request_id=fresh(), player=PLAYER, nickname="Ann", currency=CURRENCY, country="NL", language="en"
    )
    launched = await platform.sessions.launch(wish)
    deposit = Deposit(request_id=fresh(), currency=CURRENCY, amount=10_000, reference="pay-1")
    await platform.wallets.deposit(PLAYER, deposit)
    endpoint = await platform.webhooks.add_endpoint(
        AddEndpoint(request_id=fresh(), url="http://127.0.0.1:1/hooks", types=["round_ended"])
    )
    table = ScriptedTable(edge.casino, TABLE)
    await table.open()

    async def betting(number: int) -> None:
        assert await table.bet(number, launched.player_ref, ante(1)) == "accepted"

    number = await table.play({"betting": betting})
    round_name = f"{TABLE}.{number}"
    return {
        "player": PLAYER,
        "session": launched.session,
        "table": TABLE,
        "endpoint": endpoint.endpoint.endpoint,
        "round_name": round_name,
    }


def explored(url: str, signer: HmacSigner, there: Mapping[str, str]) -> list[str]:
    """What was answered in a way that it must not be; empty: nothing."""
    answer = requests.get(f"{url}/v1/openapi.json", timeout=TIMEOUT_S)
    schema = schemathesis.openapi.from_dict(answer.json())
    operations: list[Any] = []
    for found in schema.get_all_operations():
        assert isinstance(found, Ok), found
        operations.append(found.ok())
    assert len(operations) > 30, "the API is larger than that"
    operations.sort(
        key=lambda one: (one.definition.raw["operationId"] in LAST, one.method != "get", one.path)
    )
    wrong: list[str] = []
    without: list[str] = []
    with requests.Session() as session:
        for operation in operations:
            for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
                try:
                    _call(operation, mode, session, url, Signed(signer), there)
                except Unsatisfiable:
                    # Where any text may stand, nothing is wrong.
                    without.append(f"{operation.label}, {mode.value}")
                except AssertionError as problem:
                    wrong.append(f"{operation.label}, {mode.value}: {problem}")
                except BaseExceptionGroup as problems:
                    wrong += [f"{operation.label}, {mode.value}: {one}" for one in problems.exceptions]
    assert all(one.endswith("negative") for one in without), without
    assert len(without) < len(operations) / 2, without
    return wrong


def _call(
    operation: Any,
    mode: GenerationMode,
    session: requests.Session,
    url: str,
    auth: Signed,
    there: Mapping[str, str],
) -> None:
    """Call one operation with many values. Raises what schemathesis finds."""

    @given(case=operation.as_strategy(generation_mode=mode), is_known=st.booleans())
    @settings(
        max_examples=EXAMPLES,
        database=None,
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    def check(case: Any, is_known: bool) -> None:  # noqa: FBT001 - hypothesis draws it by its name
        if is_known:
            for name in case.path_parameters or {}:
                case.path_parameters[name] = there.get(name, case.path_parameters[name])
            if isinstance(case.body, dict) and "currency" in case.body:
                case.body["currency"] = CURRENCY
        answer = case.call(base_url=url, session=session, auth=auth, timeout=TIMEOUT_S)
        case.validate_response(answer, checks=CHECKS)

    check()


async def test_every_answer_is_documented_and_none_is_our_mistake(edge: Edge) -> None:
    signer = await registered(edge)
    async with Platform(edge.fleet.platform_url, signer) as platform:
        await until("the new key", partial(known, platform), bool)
        there = await prepared(edge, platform)
    wrong = await asyncio.to_thread(explored, edge.fleet.platform_url, signer, there)
    assert not wrong, "\n\n".join(wrong)
