from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, MutableMapping
from typing import Any

import grpc
import grpc.aio
import pytest

from servicekit import context
from servicekit.grpc import CallError, GrpcServer, ServerSettings, current_call, failure_of, open_channel
from servicekit.grpc.observing import CORRELATION_KEY
from servicekit.metrics import registry
from tests.servicekit.grpc.conftest import WAIT_S, Served, serve_echo
from tests.servicekit.grpc.echo import ECHO, NAME, Echo, EchoStub, Text


async def texts(*values: str) -> AsyncIterator[object]:
    for value in values:
        yield Text(value=value)


async def refused(call: Any) -> grpc.aio.AioRpcError:
    """How a call with one answer fails."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await asyncio.wait_for(call, WAIT_S)
    return caught.value


async def broken(call: Any) -> tuple[list[str], grpc.aio.AioRpcError]:
    """What a stream brings before it fails, and how it fails."""
    got: list[str] = []
    try:
        async with asyncio.timeout(WAIT_S):
            async for answer in call:
                got.append(answer.value)  # noqa: PERF401 - what came before the failure is wanted
    except grpc.aio.AioRpcError as error:
        return got, error
    pytest.fail("the stream did not fail")


def counted(code: str, method: str = "Read", side: str = "server") -> float:
    labels = {"service": NAME, "method": method, "code": code}
    return registry().get_sample_value(f"upcard_grpc_{side}_calls_total", labels) or 0.0


async def test_all_four_kinds_of_calls_work(served: Served) -> None:
    stub = served.stub
    assert await served.read("hello") == "hello"
    assert [answer.value async for answer in stub.Watch(Text(value="2"), timeout=WAIT_S)] == [
        "first",
        "0",
        "1",
    ]
    assert (await stub.Collect(texts("a", "b"), timeout=WAIT_S)).value == "ab"
    assert [answer.value async for answer in stub.Chat(texts("a", "b"), timeout=WAIT_S)] == ["a", "b"]


async def test_a_call_without_a_deadline_is_refused(served: Served) -> None:
    async with grpc.aio.insecure_channel(served.server.address) as bare:
        error = await refused(EchoStub(bare).Read(Text(value="x")))
    assert (error.code(), failure_of(error).reason) == (grpc.StatusCode.INVALID_ARGUMENT, "deadline_missing")
    assert served.echo.seen == []


async def test_our_own_channel_always_sets_one(served: Served) -> None:
    remaining: list[float] = []

    async def look(text: str) -> str:
        call = current_call()
        assert call is not None
        remaining.append(call.remaining_s())
        return text

    served.echo.answer = look
    await served.stub.Read(Text(value="x"))
    assert 0 < remaining[0] < 6  # 5 s, in the coarse units that gRPC sends


async def test_a_handler_is_ended_at_the_deadline(served: Served) -> None:
    ended = asyncio.Event()

    async def never(_text: str) -> str:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return ""

    served.echo.answer = never
    error = await refused(served.stub.Read(Text(value="x"), timeout=0.05))
    assert error.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    await asyncio.wait_for(ended.wait(), WAIT_S)


async def test_no_call_lasts_longer_than_the_server_allows() -> None:
    async def never(_text: str) -> str:
        await asyncio.Event().wait()
        return ""

    async with serve_echo(Echo(never), settings=ServerSettings(max_call_s=0.05, max_stream_s=0.05)) as served:
        error = await refused(served.stub.Read(Text(value="x"), timeout=3_600))
        assert failure_of(error).reason == "deadline_exceeded"
        _, error = await broken(served.stub.Chat(texts("a"), timeout=3_600))
        assert failure_of(error).reason == "stream_ended"


async def test_a_handlers_own_time_out_is_not_the_callers(served: Served) -> None:
    async def impatient(_text: str) -> str:
        raise TimeoutError("something of its own")

    served.echo.answer = impatient
    failure = failure_of(await refused(served.stub.Once(Text(value="x"), timeout=WAIT_S)))
    assert (failure.code, failure.reason) == (grpc.StatusCode.INTERNAL, "internal")


async def test_an_outgoing_call_ends_with_the_call_that_it_is_made_for(served: Served) -> None:
    remaining: list[float] = []

    async def inner(text: str) -> str:
        call = current_call()
        assert call is not None
        remaining.append(call.remaining_s())
        return text

    async with serve_echo(Echo(inner)) as behind:

        async def pass_on(text: str) -> str:
            return await behind.read(text, timeout=3_000)

        served.echo.answer = pass_on
        assert await served.read("x", timeout=7) == "x"
    assert 0 < remaining[0] < 8


async def test_the_correlation_id_travels(served: Served) -> None:
    ids: list[str | None] = []

    async def note(text: str) -> str:
        ids.append(context.correlation_id())
        return text

    served.echo.answer = note
    with context.bind(correlation_id="order-66"):
        await served.read()
    await served.read()
    async with grpc.aio.insecure_channel(served.server.address) as bare:
        await EchoStub(bare).Read(Text(value="x"), timeout=WAIT_S, metadata=((CORRELATION_KEY, "not fit!"),))
    assert ids[0] == "order-66"
    assert ids[1] is not None
    assert ids[2] not in {None, "not fit!"}
    assert len(set(ids)) == 3


async def test_an_error_carries_its_reason(served: Served) -> None:
    async def refuse(_text: str) -> str:
        raise CallError(
            grpc.StatusCode.NOT_FOUND, "round_unknown", "no such round", details={"round": "t1.7"}
        )

    served.echo.answer = refuse
    failure = failure_of(await refused(served.stub.Read(Text(value="x"), timeout=WAIT_S)))
    assert (failure.code, failure.reason) == (grpc.StatusCode.NOT_FOUND, "round_unknown")
    assert (failure.message, failure.details) == ("no such round", {"round": "t1.7"})


async def test_nothing_of_an_unexpected_exception_is_told(
    served: Served, logged: list[MutableMapping[str, Any]]
) -> None:
    async def fail(_text: str) -> str:
        raise KeyError("the secret card is Ah")

    served.echo.answer = fail
    error = await refused(served.stub.Read(Text(value="x"), timeout=WAIT_S))
    failure = failure_of(error)
    assert (failure.code, failure.reason) == (grpc.StatusCode.INTERNAL, "internal")
    assert failure.error_id is not None
    assert failure.error_id in failure.message
    assert "secret" not in repr(error)
    assert "KeyError" not in repr(error)
    (line,) = [line for line in logged if line["log_level"] == "error"]
    assert (line["error_id"], str(line["exc_info"])) == (failure.error_id, "'the secret card is Ah'")


async def test_exceptions_of_layers_below_are_translated() -> None:
    class Busy(Exception):
        pass

    class VeryBusy(Busy):
        pass

    async def fail(_text: str) -> str:
        raise VeryBusy

    def meaning(_error: Exception) -> CallError:
        return CallError(grpc.StatusCode.ABORTED, "busy", "come again", retry_after_s=1.5)

    async with serve_echo(Echo(fail), known_errors={Busy: meaning}) as served:
        failure = failure_of(await refused(served.stub.Once(Text(value="x"), timeout=WAIT_S)))
    assert (failure.code, failure.reason, failure.retry_after_s) == (grpc.StatusCode.ABORTED, "busy", 1.5)


async def test_errors_in_a_stream_come_after_what_was_sent(served: Served) -> None:
    async def fail(_text: str) -> str:
        raise CallError(grpc.StatusCode.DATA_LOSS, "gone", "it is gone")

    served.echo.answer = fail
    got, error = await broken(served.stub.Watch(Text(value="3"), timeout=WAIT_S))
    assert (got, failure_of(error).reason) == (["first"], "gone")


async def test_a_call_that_is_not_there(served: Served) -> None:
    failure = failure_of(await refused(served.stub.Missing(Text(value="x"), timeout=WAIT_S)))
    assert (failure.code, failure.reason) == (grpc.StatusCode.UNIMPLEMENTED, "method_unknown")


async def test_bytes_that_are_no_message(served: Served) -> None:
    garbage: Any = b"\xff\xff\xff"
    async with grpc.aio.insecure_channel(served.server.address) as bare:
        method: Any = bare.unary_unary(f"/{NAME}/Read")
        assert failure_of(await refused(method(garbage, timeout=WAIT_S))).reason == "request_unreadable"
        method = bare.unary_stream(f"/{NAME}/Watch")
        assert (
            failure_of(await refused(method(garbage, timeout=WAIT_S).read())).reason == "request_unreadable"
        )
        method = bare.stream_stream(f"/{NAME}/Chat")
        sent = method(iter([garbage]), timeout=WAIT_S)
        assert failure_of(await refused(sent.read())).reason == "request_unreadable"


async def test_sizes_are_bounded_in_both_directions() -> None:
    async def much(text: str) -> str:
        return text * 100

    settings = ServerSettings(max_request_bytes=2_048, max_response_bytes=2_048)
    async with serve_echo(Echo(much), settings=settings) as served:
        error = await refused(served.stub.Read(Text(value="x" * 4_000), timeout=WAIT_S))
        assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert served.echo.seen == []
        failure = failure_of(await refused(served.stub.Read(Text(value="x" * 100), timeout=WAIT_S)))
        assert (failure.code, failure.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "response_too_large")
        _, error = await broken(served.stub.Chat(texts("x" * 100), timeout=WAIT_S))
        assert failure_of(error).reason == "response_too_large"
        assert await served.read("x") == "x" * 100


async def test_a_caller_that_goes_away_ends_the_handler(served: Served) -> None:
    started, ended = asyncio.Event(), asyncio.Event()

    async def wait(_text: str) -> str:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return ""

    served.echo.answer = wait
    before = counted("CANCELLED")
    call = served.stub.Read(Text(value="x"), timeout=WAIT_S)
    task = asyncio.ensure_future(call)
    await asyncio.wait_for(started.wait(), WAIT_S)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.wait_for(ended.wait(), WAIT_S)
    assert counted("CANCELLED") == before + 1
    assert await serve_again(served)


async def serve_again(served: Served) -> bool:
    async def same(text: str) -> str:
        return text

    served.echo.answer = same
    return await served.read() == "hello"


async def test_calls_are_counted_on_both_sides(served: Served) -> None:
    before = {
        (side, code): counted(code, side=side)
        for side in ("server", "client")
        for code in ("OK", "NOT_FOUND")
    }

    async def refuse(_text: str) -> str:
        raise CallError(grpc.StatusCode.NOT_FOUND, "gone", "it is gone")

    await served.read()
    served.echo.answer = refuse
    await refused(served.stub.Read(Text(value="x"), timeout=WAIT_S))
    after = {key: counted(key[1], side=key[0]) for key in before}
    assert {key: after[key] - before[key] for key in before} == dict.fromkeys(before, 1.0)


async def test_a_handler_that_would_block_is_no_handler() -> None:
    class Blocking(Echo):
        def unary(self, request: object, _context: object) -> object:  # type: ignore[override]  # on purpose
            return request

    with pytest.raises(TypeError, match="coroutine"):
        await GrpcServer(ServerSettings(), [Blocking().exposed()]).start()


async def test_metadata_of_our_own_cannot_be_set_by_hand(served: Served) -> None:
    with pytest.raises(ValueError, match="by hand"):
        await served.read(metadata=(("upcard-context-bin", b"me"),))


async def test_two_servers_do_not_share_a_port(served: Served) -> None:
    second = GrpcServer(ServerSettings(port=served.server.port), [Echo().exposed()])
    with pytest.raises(Exception, match="cannot listen"):
        await second.start()


async def test_a_server_that_is_not_there() -> None:
    async with open_channel("127.0.0.1:1", audience="echo", services=[ECHO]) as channel:
        error = await refused(EchoStub(channel).Read(Text(value="x"), timeout=WAIT_S))
    assert (failure_of(error).may_pass, failure_of(error).reason) == (True, "unavailable")
