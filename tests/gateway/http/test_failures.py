"""What fails is answered as a problem that says what became of the money, and found in the log by its id."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import asyncpg
import grpc
import pytest
from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from prometheus_client import generate_latest

from servicekit.grpc import acting_as
from servicekit.metrics import registry
from tests.gateway.world import World, open_world
from upcard.wallet.v1 import wallet_pb2
from upcard_gateway.adapters.services import PLATFORM

Fails = Callable[[], Awaitable[Any]]


def failing(world: World, fails: Fails) -> FastAPI:
    """The app with a route that fails so."""

    async def route() -> None:
        await fails()

    world.app.add_api_route("/v1/failing", route, methods=["GET", "POST"])
    return world.app


async def unexpected() -> None:
    """A mistake of ours."""
    raise ZeroDivisionError("secret-word")


async def database_away() -> None:
    """A database that is away."""
    raise asyncpg.CannotConnectNowError("secret-word")


async def late() -> None:
    """Something that takes too long."""
    raise TimeoutError


@pytest.mark.parametrize(
    ("fails", "status", "code"),
    [(unexpected, 500, "internal"), (database_away, 503, "unavailable"), (late, 503, "unavailable")],
)
@pytest.mark.parametrize(("method", "money"), [("GET", "none_moved"), ("POST", "unknown")])
async def test_a_failure_is_told_as_a_problem(  # noqa: PLR0913, PLR0917 - a table of cases
    world: World,
    capsys: pytest.CaptureFixture[str],
    fails: Fails,
    status: int,
    code: str,
    method: str,
    money: str,
) -> None:
    failing(world, fails)
    answer = await (await world.client()).request(method, "/v1/failing")
    body = answer.json()
    assert (answer.status_code, body["code"], body["money"]) == (status, code, money)
    assert answer.headers["content-type"] == "application/problem+json"
    assert body["retry"] == "same_request"
    assert "secret-word" not in answer.text
    assert body["instance"] in capsys.readouterr().out


async def test_a_service_that_is_away_is_unavailable(world: World) -> None:
    async def asks() -> None:
        with acting_as(PLATFORM):
            await world.edge.services.wallet.GetBalance(wallet_pb2.GetBalanceRequest(account="a"))

    failing(world, asks)
    answer = await (await world.client()).get("/v1/failing")
    assert (answer.status_code, answer.json()["code"]) == (503, "unavailable"), answer.text
    assert answer.json()["money"] == "none_moved"
    assert int(answer.headers["retry-after"]) >= 1


async def test_a_call_that_a_service_does_not_take_is_our_mistake(world: World) -> None:
    async def refused() -> None:
        raise grpc.aio.AioRpcError(
            grpc.StatusCode.INVALID_ARGUMENT, grpc.aio.Metadata(), grpc.aio.Metadata(), "x"
        )

    failing(world, refused)
    answer = await (await world.client()).post("/v1/failing")
    assert (answer.status_code, answer.json()["code"], answer.json()["money"]) == (500, "internal", "unknown")


async def test_a_call_has_so_long_and_an_answer_that_has_begun_has_longer(service_database: str) -> None:
    async with open_world(service_database, http_call_max_s=0.2) as world:
        never = asyncio.Event()
        failing(world, never.wait)

        async def streamed() -> StreamingResponse:
            async def parts() -> Any:
                yield b"a"
                await asyncio.sleep(0.5)
                yield b"b"

            return StreamingResponse(parts(), media_type="text/csv")

        world.app.add_api_route("/v1/streamed", streamed)
        client = await world.client()
        answer = await client.get("/v1/failing")
        assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")
        assert (await client.get("/v1/streamed")).text == "ab"


async def test_the_log_knows_a_call_by_its_paths_template(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = await (await world.client()).get("/v1/wallets/ann-of-the-platform/balances")
    assert answer.status_code == 401
    said = capsys.readouterr().out
    assert "/v1/wallets/{player}/balances" in said
    assert "ann-of-the-platform" not in said
    shown = generate_latest(registry()).decode()
    assert 'route="/v1/wallets/{player}/balances"' in shown
    assert "ann-of-the-platform" not in shown
