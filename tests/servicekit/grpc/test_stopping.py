"""Stopping in order, coming back, health, reflection."""

from __future__ import annotations

import asyncio
from typing import Any

import grpc
import grpc.aio
import pytest
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection_pb2

from servicekit.grpc import (
    ClientSettings,
    GrpcServer,
    NotServing,
    ServerDidNotStart,
    ServerSettings,
    failure_of,
    open_channel,
)
from tests.servicekit.grpc.conftest import WAIT_S, Served, serve_echo
from tests.servicekit.grpc.echo import ECHO, NAME, Echo, EchoStub, Text

Health = health_pb2.HealthCheckResponse


class Held(Echo):
    """Answers when it is let."""

    def __init__(self) -> None:
        super().__init__(self.hold)
        self.entered, self.let = asyncio.Event(), asyncio.Event()

    async def hold(self, text: str) -> str:
        self.entered.set()
        await self.let.wait()
        return text


def health(channel: Any, service: str = "") -> Any:
    """One question to the health service, as a balancer asks it: without a deadline of its own."""
    check = channel.unary_unary(
        "/grpc.health.v1.Health/Check",
        health_pb2.HealthCheckRequest.SerializeToString,
        Health.FromString,
    )
    return check(health_pb2.HealthCheckRequest(service=service))


def watch_health(channel: Any, service: str = "") -> Any:
    """The states of a service as they change."""
    watch = channel.unary_stream(
        "/grpc.health.v1.Health/Watch", health_pb2.HealthCheckRequest.SerializeToString, Health.FromString
    )
    return watch(health_pb2.HealthCheckRequest(service=service), timeout=WAIT_S)


async def list_health(channel: Any) -> dict[str, int]:
    """The states of all services."""
    messages: Any = health_pb2
    listing = channel.unary_unary(
        "/grpc.health.v1.Health/List",
        messages.HealthListRequest.SerializeToString,
        messages.HealthListResponse.FromString,
    )
    listed = await listing(messages.HealthListRequest(), timeout=WAIT_S)
    return {name: state.status for name, state in listed.statuses.items()}


async def test_a_call_under_way_is_finished() -> None:
    echo = Held()
    async with serve_echo(echo, settings=ServerSettings(grace_s=WAIT_S)) as served:
        call = asyncio.ensure_future(served.read())
        await asyncio.wait_for(echo.entered.wait(), WAIT_S)
        stopping = asyncio.ensure_future(served.server.stop())
        await asyncio.sleep(0)
        echo.let.set()
        assert await call == "hello"
        await asyncio.wait_for(stopping, WAIT_S)


async def test_a_call_that_does_not_end_is_cut_off() -> None:
    echo = Held()
    async with serve_echo(echo, settings=ServerSettings(grace_s=0.05)) as served:
        call = asyncio.ensure_future(served.stub.Once(Text(value="x"), timeout=WAIT_S))
        await asyncio.wait_for(echo.entered.wait(), WAIT_S)
        await asyncio.wait_for(served.server.stop(), WAIT_S)
        with pytest.raises(grpc.aio.AioRpcError):
            await call


async def test_streams_are_told_and_end_at_once() -> None:
    async with serve_echo(settings=ServerSettings(grace_s=3_600)) as served:
        stream = served.stub.Watch(Text(value="0"), timeout=3_600)
        assert (await stream.read()).value == "first"
        await asyncio.wait_for(served.server.stop(), WAIT_S)
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await asyncio.wait_for(stream.read(), WAIT_S)
    assert failure_of(caught.value).reason == "server_stopping"


async def test_stopping_twice_is_one_stop() -> None:
    async with serve_echo() as served:
        await asyncio.wait_for(asyncio.gather(served.server.stop(), served.server.stop()), WAIT_S)
        await served.server.stop()
        with pytest.raises(ServerDidNotStart, match="before"):
            await served.server.start()
    await GrpcServer(ServerSettings(), []).stop()


async def test_a_stop_that_is_cancelled_goes_on() -> None:
    echo = Held()
    async with serve_echo(echo, settings=ServerSettings(grace_s=0.05)) as served:
        call = asyncio.ensure_future(served.stub.Once(Text(value="x"), timeout=WAIT_S))
        await asyncio.wait_for(echo.entered.wait(), WAIT_S)
        stopping = asyncio.ensure_future(served.server.stop())
        await asyncio.sleep(0)
        stopping.cancel()
        with pytest.raises(asyncio.CancelledError):
            await stopping
        await asyncio.wait_for(served.server.stop(), WAIT_S)
        with pytest.raises(grpc.aio.AioRpcError):
            await call


async def test_while_it_drains_it_serves_but_says_no(served: Served) -> None:
    settings = ServerSettings(drain_s=WAIT_S, grace_s=0.05)
    async with serve_echo(settings=settings) as draining:
        states = watch_health(draining.channel)
        assert (await states.read()).status == Health.SERVING
        stopping = asyncio.ensure_future(draining.server.stop())
        assert (await states.read()).status == Health.NOT_SERVING
        assert await draining.read() == "hello"
        await draining.server.set_serving(True)
        assert (await health(draining.channel)).status == Health.NOT_SERVING
        assert await list_health(draining.channel) == {"": 2, NAME: 2}
        await draining.server.stop_now()
        await asyncio.wait_for(stopping, WAIT_S)
    assert await served.read() == "hello"


async def test_a_server_that_comes_back_is_found_again() -> None:
    client = ClientSettings(first_reconnect_s=0.01, max_reconnect_s=0.05)
    first = GrpcServer(ServerSettings(grace_s=0.05), [Echo().exposed()])
    await first.start()
    settings = ServerSettings(port=first.port, grace_s=1)
    async with open_channel(first.address, audience="echo", services=[ECHO], settings=client) as channel:
        stub = EchoStub(channel)
        assert (await stub.Once(Text(value="one"), timeout=WAIT_S)).value == "one"
        await first.stop()
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await stub.Once(Text(value="two"), timeout=WAIT_S)
        assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
        async with GrpcServer(settings, [Echo().exposed()]):
            answer = await stub.Once(Text(value="three"), timeout=WAIT_S, wait_for_ready=True)
    assert answer.value == "three"


async def test_health_is_asked_by_name_and_for_all(served: Served) -> None:
    assert (await health(served.channel)).status == Health.SERVING
    assert (await health(served.channel, NAME)).status == Health.SERVING
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await health(served.channel, "upcard.other.v1.Other")
    assert caught.value.code() is grpc.StatusCode.NOT_FOUND
    await served.server.set_serving(False)
    assert (await health(served.channel, NAME)).status == Health.NOT_SERVING


async def test_health_needs_no_deadline_and_no_free_place() -> None:
    settings = ServerSettings(max_calls=1, grace_s=0.05)
    async with serve_echo(Held(), settings=settings) as served:
        held = asyncio.ensure_future(served.stub.Once(Text(value="x"), timeout=WAIT_S))
        echo = served.echo
        assert isinstance(echo, Held)
        await asyncio.wait_for(echo.entered.wait(), WAIT_S)
        async with grpc.aio.insecure_channel(served.server.address) as bare:
            assert (await health(bare)).status == Health.SERVING
        echo.let.set()
        await held


async def test_health_can_be_watched_and_listed(served: Served) -> None:
    states = watch_health(served.channel, NAME)
    assert (await states.read()).status == Health.SERVING
    await served.server.set_serving(False)
    assert (await states.read()).status == Health.NOT_SERVING
    assert await list_health(served.channel) == {"": 2, NAME: 2}
    await served.server.set_serving(True)
    assert await list_health(served.channel) == {"": 1, NAME: 1}


async def test_waiting_for_health() -> None:
    server = GrpcServer(ServerSettings(grace_s=0.05), [Echo().exposed()])
    await server.start(serving=False)
    async with open_channel(server.address, audience="echo", services=[ECHO]) as channel:
        with pytest.raises(NotServing, match="NOT_SERVING"):
            await channel.wait_serving(1.0)
        waiting = asyncio.ensure_future(channel.wait_serving(WAIT_S, service=NAME))
        await server.set_serving(True)
        await waiting
        await server.stop()
        with pytest.raises(NotServing):
            await channel.wait_serving(0.1)


async def test_tools_can_ask_what_there_is(served: Served) -> None:
    async def questions() -> Any:
        yield reflection_pb2.ServerReflectionRequest(list_services="")
        yield reflection_pb2.ServerReflectionRequest(file_containing_symbol=NAME)

    async with grpc.aio.insecure_channel(served.server.address) as bare:
        ask: Any = bare.stream_stream(
            "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
            reflection_pb2.ServerReflectionRequest.SerializeToString,
            reflection_pb2.ServerReflectionResponse.FromString,
        )
        listed, file = [answer async for answer in ask(questions())]
    assert NAME in {service.name for service in listed.list_services_response.service}
    assert b"EchoService" in file.file_descriptor_response.file_descriptor_proto[0]


async def test_reflection_can_be_switched_off() -> None:
    async with serve_echo(settings=ServerSettings(reflection=False, grace_s=1)) as served:
        ask: Any = served.channel.stream_stream(
            "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
            reflection_pb2.ServerReflectionRequest.SerializeToString,
            reflection_pb2.ServerReflectionResponse.FromString,
        )
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await ask(iter(()), timeout=WAIT_S).read()
    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED
