"""Servers that freeze, handlers that misbehave, more calls than there are places."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest

from servicekit.grpc import (
    CallError,
    ClientSettings,
    GrpcServer,
    ServerSettings,
    failure_of,
    open_channel,
)
from servicekit.metrics import registry
from tests.servicekit.grpc.conftest import WAIT_S, Served, serve_echo
from tests.servicekit.grpc.echo import ECHO, NAME, Echo, EchoStub, Text

ROOT = Path(__file__).parents[3]


def in_flight(kind: str) -> float | None:
    return registry().get_sample_value("upcard_grpc_server_calls_in_flight", {"kind": kind})


@pytest.fixture
async def child() -> AsyncIterator[tuple[asyncio.subprocess.Process, str]]:
    """A server in a process of its own, and its address."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.servicekit.grpc.frozen_server", cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(WAIT_S):
            while not (line := (await process.stdout.readline()).decode()).startswith("address "):
                assert line, "the server ended"
        yield process, line.split()[1]
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def answered(stub: EchoStub) -> bool:
    """Ask until there is an answer: on a busy machine a ping may be late now and then."""
    async with asyncio.timeout(WAIT_S):
        while True:
            try:
                answer = await stub.Once(Text(value="x"), timeout=WAIT_S, wait_for_ready=True)
            except grpc.aio.AioRpcError as error:
                if error.code() is not grpc.StatusCode.UNAVAILABLE:
                    raise
            else:
                return bool(answer.value == "x")


async def test_a_frozen_server_is_noticed_by_pings(child: tuple[asyncio.subprocess.Process, str]) -> None:
    process, address = child
    client = ClientSettings(keepalive_time_s=0.3, keepalive_timeout_s=0.5)
    async with open_channel(address, audience="echo", services=[ECHO], settings=client) as channel:
        stub = EchoStub(channel)
        assert await answered(stub)
        process.send_signal(signal.SIGSTOP)
        try:
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await asyncio.wait_for(stub.Once(Text(value="x"), timeout=3_600), WAIT_S)
        finally:
            process.send_signal(signal.SIGCONT)
        assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
        assert await answered(stub)


async def test_a_killed_server_ends_its_calls(child: tuple[asyncio.subprocess.Process, str]) -> None:
    process, address = child
    async with open_channel(address, audience="echo", services=[ECHO]) as channel:
        watch = EchoStub(channel).Watch(Text(value="0"), timeout=3_600)
        assert (await watch.read()).value == "first"
        process.kill()
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await asyncio.wait_for(watch.read(), WAIT_S)
    assert failure_of(caught.value).may_pass


async def test_more_calls_than_places() -> None:
    """Each is answered or told to come again, none is lost, and the places are free in the end."""
    at_once = 0
    most = 0

    async def count(text: str) -> str:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        await asyncio.sleep(0.001)
        at_once -= 1
        return text

    settings = ServerSettings(max_calls=8, grace_s=1)
    client = ClientSettings(attempts=1)
    async with serve_echo(Echo(count), settings=settings, client=client) as served:

        async def one(number: int) -> str:
            try:
                answer = await served.stub.Read(Text(value=str(number)), timeout=WAIT_S)
            except grpc.aio.AioRpcError as error:
                return failure_of(error).reason
            assert answer.value == str(number)
            return "answered"

        outcomes = Counter(await asyncio.gather(*(one(number) for number in range(1_000))))
        assert set(outcomes) <= {"answered", "overloaded", "resource_exhausted"}
        assert outcomes["answered"] >= 8
        assert outcomes.total() == 1_000
        assert most <= 8
        assert await served.read() == "hello"
        assert in_flight("call") == 0


async def test_streams_that_are_left_are_closed_before_they_end() -> None:
    closed = asyncio.Event()
    counted: list[float | None] = []

    class Watched(Echo):
        async def watch(self, request: Any, _context: Any) -> AsyncIterator[Any]:
            try:
                while True:
                    yield Text(value=request.value)
            finally:
                counted.append(in_flight("stream"))
                closed.set()

    async with serve_echo(Watched()) as served:
        stream = served.stub.Watch(Text(value="again"), timeout=WAIT_S)
        await stream.read()
        stream.cancel()
        await asyncio.wait_for(closed.wait(), WAIT_S)
        assert await served.read() == "hello"
        assert (counted, in_flight("stream")) == ([1], 0)


async def test_a_reader_that_does_not_read_holds_the_stream_back() -> None:
    sent = 0

    class Fast(Echo):
        async def watch(self, _request: Any, _context: Any) -> AsyncIterator[Any]:
            nonlocal sent
            while True:
                sent += 1
                yield Text(value="x" * 100_000)

    async with serve_echo(Fast()) as served:
        stream = served.stub.Watch(Text(value=""), timeout=WAIT_S)
        await stream.read()
        before = -1
        async with asyncio.timeout(WAIT_S):  # without an end to it, this would go on for ever
            while sent != before:
                before = sent
                for _ in range(50):
                    await served.read()
        stream.cancel()


async def test_a_stream_that_will_not_be_ended_is_cut_off() -> None:
    class Stubborn(Echo):
        async def watch(self, _request: Any, _context: Any) -> AsyncIterator[Any]:
            yield Text(value="first")
            while True:
                try:
                    await asyncio.Event().wait()
                except asyncio.CancelledError:
                    if stop.is_set():
                        raise

    stop = asyncio.Event()
    async with serve_echo(Stubborn(), settings=ServerSettings(grace_s=0.05)) as served:
        stream = served.stub.Watch(Text(value=""), timeout=WAIT_S)
        await stream.read()
        stopping = asyncio.ensure_future(served.server.stop())
        with pytest.raises(grpc.aio.AioRpcError):
            await stream.read()
        stop.set()
        served.server._gate.end_streams()
        await asyncio.wait_for(stopping, WAIT_S)


async def test_metadata_that_is_too_large_is_refused(served: Served) -> None:
    async with grpc.aio.insecure_channel(served.server.address) as bare:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await EchoStub(bare).Read(Text(value="x"), timeout=WAIT_S, metadata=(("noise", "n" * 40_000),))
    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert served.echo.seen == []


async def test_headers_of_any_kind_do_not_break_a_call(served: Served) -> None:
    metadata = (
        ("upcard-correlation-id", "\x7e" * 200),
        ("traceparent", "nonsense"),
        ("tracestate", "a=b,=,"),
        ("upcard-context-bin", b"\x00\xff"),
        ("grpc-previous-rpc-attempts", "many"),
        ("other-bin", b"\xff" * 100),
    )
    async with grpc.aio.insecure_channel(served.server.address) as bare:
        assert (await EchoStub(bare).Read(Text(value="x"), timeout=WAIT_S, metadata=metadata)).value == "x"


async def test_a_handler_that_ends_a_call_by_itself(served: Served) -> None:
    class Own(Echo):
        async def unary(self, _request: Any, context: Any) -> Any:
            await context.abort(grpc.StatusCode.NOT_FOUND, "in its own way")

        async def watch(self, _request: Any, context: Any) -> AsyncIterator[Any]:
            context.set_code(grpc.StatusCode.DATA_LOSS)
            context.set_details("in its own way")
            yield Text(value="last")

    labels = {"service": NAME, "method": "Read", "code": "NOT_FOUND"}
    before = registry().get_sample_value("upcard_grpc_server_calls_total", labels) or 0
    async with serve_echo(Own()) as own:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await own.read()
        assert failure_of(caught.value).reason == "not_found"
        stream = own.stub.Watch(Text(value=""), timeout=WAIT_S)
        assert (await stream.read()).value == "last"
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await stream.read()
        assert failure_of(caught.value).code is grpc.StatusCode.DATA_LOSS
    assert registry().get_sample_value("upcard_grpc_server_calls_total", labels) == before + 1
    assert await served.read() == "hello"


async def test_servers_come_and_go_without_a_trace() -> None:
    for number in range(10):
        async with serve_echo() as served:
            assert await served.read(str(number)) == str(number)
    assert [task for task in asyncio.all_tasks() if "rpc" in task.get_name()] == []


async def test_a_port_is_free_again_after_the_stop() -> None:
    first = GrpcServer(ServerSettings(grace_s=0.05), [Echo().exposed()])
    await first.start()
    await first.stop()
    async with GrpcServer(ServerSettings(port=first.port, grace_s=0.05), [Echo().exposed()]) as second:
        assert second.port == first.port


@pytest.mark.parametrize(
    ("reason", "code"),
    [("Not A Slug", grpc.StatusCode.ABORTED), ("", grpc.StatusCode.ABORTED), ("fine", grpc.StatusCode.OK)],
)
def test_an_error_that_cannot_be_meant(reason: str, code: grpc.StatusCode) -> None:
    with pytest.raises(ValueError, match=r"no reason|no error"):
        CallError(code, reason, "x")


@pytest.mark.parametrize("letter", ["m", "\u00e9", "\u4e2d", "\U0001f0a1", "\n"])
async def test_an_error_with_too_much_to_say_is_still_delivered(letter: str) -> None:
    async def refuse(_text: str) -> str:
        details = {f"key{number}": letter * 10_000 for number in range(100)}
        raise CallError(grpc.StatusCode.ABORTED, "much", letter * 100_000, details=details)

    async with serve_echo(Echo(refuse)) as served, grpc.aio.insecure_channel(served.server.address) as bare:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await EchoStub(bare).Once(Text(value="x"), timeout=WAIT_S)
    failure = failure_of(caught.value)
    assert (failure.reason, failure.message) == ("much", letter * 300)
    assert failure.details["key0"] == letter * 200
