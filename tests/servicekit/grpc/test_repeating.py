"""What a client sends again by itself, and what it never does."""

from __future__ import annotations

import json

import grpc
import grpc.aio
import pytest

from servicekit.grpc import CallError, ClientSettings, ServerSettings, failure_of
from servicekit.grpc.service_config import may_repeat, service_config
from servicekit.metrics import registry
from tests.servicekit.grpc.conftest import WAIT_S, serve_echo
from tests.servicekit.grpc.echo import ECHO, NAME, Echo, EchoStub, Text
from upcard.feed.v1 import event_feed_pb2

QUICK = ClientSettings(first_backoff_s=0.01, max_backoff_s=0.01)


def flaky(failures: int, error: CallError | None = None) -> Echo:
    """Fails so many times, then works."""
    left = failures

    async def answer(text: str) -> str:
        nonlocal left
        if left:
            left -= 1
            raise error or CallError(grpc.StatusCode.UNAVAILABLE, "passing", "come again")
        return text

    return Echo(answer)


def repeated(method: str) -> float:
    labels = {"service": NAME, "method": method}
    return registry().get_sample_value("upcard_grpc_server_repeated_calls_total", labels) or 0.0


@pytest.mark.parametrize("method", ["Read", "Write"])
async def test_what_is_declared_harmless_is_sent_again(method: str) -> None:
    before = repeated(method)
    async with serve_echo(flaky(3), client=QUICK) as served:
        answer = await getattr(served.stub, method)(Text(value="x"), timeout=WAIT_S)
    assert (answer.value, served.echo.seen) == ("x", ["x"] * 4)
    assert repeated(method) == before + 3


async def test_anything_else_is_sent_once() -> None:
    async with serve_echo(flaky(1), client=QUICK) as served:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await served.stub.Once(Text(value="x"), timeout=WAIT_S)
    assert (failure_of(caught.value).reason, served.echo.seen) == ("passing", ["x"])


async def test_the_number_of_tries_is_bounded() -> None:
    async with serve_echo(flaky(100), client=QUICK) as served:
        with pytest.raises(grpc.aio.AioRpcError):
            await served.read("x")
    assert served.echo.seen == ["x"] * 4


@pytest.mark.parametrize(
    "code", [grpc.StatusCode.INTERNAL, grpc.StatusCode.ABORTED, grpc.StatusCode.RESOURCE_EXHAUSTED]
)
async def test_only_what_is_unavailable_is_asked_again(code: grpc.StatusCode) -> None:
    async with serve_echo(flaky(1, CallError(code, "final", "it is")), client=QUICK) as served:
        with pytest.raises(grpc.aio.AioRpcError):
            await served.read("x")
    assert served.echo.seen == ["x"]


async def test_the_server_can_forbid_it() -> None:
    stop = CallError(grpc.StatusCode.UNAVAILABLE, "final", "do not come again", repeat=False)
    async with serve_echo(flaky(1, stop), client=QUICK) as served:
        with pytest.raises(grpc.aio.AioRpcError):
            await served.read("x")
    assert served.echo.seen == ["x"]


async def test_the_server_can_say_when_even_at_once() -> None:
    soon = CallError(grpc.StatusCode.UNAVAILABLE, "passing", "come again", retry_after_s=0.0)
    slow = ClientSettings(first_backoff_s=600, max_backoff_s=600)
    async with serve_echo(flaky(3, soon), client=slow) as served:
        assert await served.read("x") == "x"


async def test_what_a_service_behind_did_not_answer_is_not_repeated_all_over() -> None:
    async with serve_echo(flaky(100), client=QUICK) as behind:

        async def pass_on(text: str) -> str:
            return await behind.read(text)

        async with serve_echo(Echo(pass_on), client=QUICK) as served:
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await served.read("x")
    assert failure_of(caught.value).reason == "dependency_unavailable"
    assert (len(served.echo.seen), len(behind.echo.seen)) == (1, 4)


async def test_what_a_service_behind_refused_is_our_own_fault() -> None:
    wrong = CallError(grpc.StatusCode.INVALID_ARGUMENT, "secret_reason", "a detail of theirs")
    async with serve_echo(flaky(1, wrong)) as behind:

        async def pass_on(text: str) -> str:
            return await behind.read(text)

        async with serve_echo(Echo(pass_on)) as served:
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await served.read("x")
    assert failure_of(caught.value).reason == "internal"
    assert "theirs" not in repr(caught.value)


async def test_the_deadline_covers_all_tries() -> None:
    slow = ClientSettings(first_backoff_s=60, max_backoff_s=60)
    async with serve_echo(flaky(100), client=slow) as served:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await served.read("x", timeout=0.2)
    assert caught.value.code() in {grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.UNAVAILABLE}
    assert len(served.echo.seen) < 4


async def test_a_budget_ends_repetitions_when_everything_fails() -> None:
    budget = ClientSettings(first_backoff_s=0.01, max_backoff_s=0.01, retry_tokens=10)
    async with serve_echo(flaky(10_000), client=budget) as served:
        for _ in range(20):
            with pytest.raises(grpc.aio.AioRpcError):
                await served.read("x")
    # Without a budget it would be 80; half of the ten tokens allow five failures.
    assert len(served.echo.seen) <= 20 + 6


async def test_a_stream_is_not_begun_again_once_something_came() -> None:
    async with serve_echo(flaky(1), client=QUICK) as served:
        call = served.stub.Watch(Text(value="3"), timeout=WAIT_S)
        assert (await call.read()).value == "first"
        with pytest.raises(grpc.aio.AioRpcError):
            await call.read()
    assert served.echo.seen == ["3"]


async def test_a_large_request_is_repeated_too() -> None:
    text = "x" * 3_000_000
    async with serve_echo(flaky(2), client=QUICK) as served:
        assert await served.read(text) == text


async def test_too_many_calls_at_a_time_are_told_to_come_again() -> None:
    settings = ServerSettings(max_calls=1, max_streams=1, grace_s=1)
    async with serve_echo(settings=settings, client=ClientSettings(attempts=1)) as served:
        held = served.stub.Watch(Text(value="0"), timeout=WAIT_S)
        await held.read()
        failure = await _failure_of_stream(served.stub)
        assert (failure, await served.read()) == ("overloaded", "hello")
        held.cancel()


async def _failure_of_stream(stub: EchoStub) -> str:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await stub.Watch(Text(value="0"), timeout=WAIT_S).read()
    failure = failure_of(caught.value)
    assert failure.retry_after_s == 0.2
    return failure.reason


def test_only_declared_calls_are_in_the_configuration() -> None:
    config = json.loads(service_config([ECHO], ClientSettings()))
    assert [name["method"] for name in config["methodConfig"][0]["name"]] == ["Read", "Write", "Watch"]
    assert service_config([ECHO], ClientSettings(attempts=1)).count("retryPolicy") == 0
    feed = event_feed_pb2.DESCRIPTOR.services_by_name["EventFeedService"]
    assert all(may_repeat(method) for method in feed.methods)
