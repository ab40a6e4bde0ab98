"""A small service to call, made without generated code: texts in, texts out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import grpc
import grpc.aio
from google.protobuf import descriptor_pb2, descriptor_pool, wrappers_pb2
from google.protobuf.descriptor import ServiceDescriptor

from servicekit.grpc import ANY_SERVICE, Access, Exposed

NAME = "upcard.tests.v1.EchoService"
Text = wrappers_pb2.StringValue
Options = descriptor_pb2.MethodOptions


def _describe() -> ServiceDescriptor:
    """`Read` has no side effects, `Write` is idempotent, `Once` may not be repeated, the rest are streams."""
    file = descriptor_pb2.FileDescriptorProto(
        name="upcard/tests/v1/echo.proto",
        package="upcard.tests.v1",
        syntax="proto3",
        dependency=["google/protobuf/wrappers.proto"],
    )
    service = file.service.add(name="EchoService")
    for name, level, requests, responses in (
        ("Read", Options.NO_SIDE_EFFECTS, False, False),
        ("Write", Options.IDEMPOTENT, False, False),
        ("Once", Options.IDEMPOTENCY_UNKNOWN, False, False),
        ("Watch", Options.NO_SIDE_EFFECTS, False, True),
        ("Collect", Options.IDEMPOTENCY_UNKNOWN, True, False),
        ("Chat", Options.IDEMPOTENCY_UNKNOWN, True, True),
    ):
        method = service.method.add(
            name=name,
            input_type=".google.protobuf.StringValue",
            output_type=".google.protobuf.StringValue",
            client_streaming=requests,
            server_streaming=responses,
        )
        method.options.idempotency_level = level
    pool = descriptor_pool.Default()
    pool.AddSerializedFile(file.SerializeToString())
    return pool.FindServiceByName(NAME)


ECHO = _describe()

Unary = Callable[[str], Awaitable[str]]


async def same(text: str) -> str:
    """What it was told."""
    return text


@dataclass
class Echo:
    """The service. `answer` is what each unary call does; `seen` what they were told."""

    answer: Unary = same
    seen: list[str] = field(default_factory=list)
    watching: asyncio.Event = field(default_factory=asyncio.Event)
    metadata: dict[str, str | bytes] = field(default_factory=dict)

    async def unary(self, request: wrappers_pb2.StringValue, context: Any) -> wrappers_pb2.StringValue:
        self.seen.append(request.value)
        self.metadata = dict(context.invocation_metadata())
        return Text(value=await self.answer(request.value))

    async def watch(self, request: wrappers_pb2.StringValue, _context: Any) -> AsyncIterator[Any]:
        """`n` texts, then, for `n=0`, nothing more for ever."""
        self.seen.append(request.value)
        count = int(request.value)
        yield Text(value="first")
        for number in range(count):
            yield Text(value=await self.answer(str(number)))
        self.watching.set()
        if count == 0:
            await asyncio.Event().wait()

    async def collect(self, requests: AsyncIterator[Any], _context: Any) -> wrappers_pb2.StringValue:
        return Text(value="".join([request.value async for request in requests]))

    async def chat(self, requests: AsyncIterator[Any], _context: Any) -> AsyncIterator[Any]:
        async for request in requests:
            yield Text(value=await self.answer(request.value))

    def register(self, server: grpc.aio.Server) -> None:
        """As generated code does it."""
        read, write = Text.FromString, Text.SerializeToString
        handlers = {
            "Read": grpc.unary_unary_rpc_method_handler(self.unary, read, write),
            "Write": grpc.unary_unary_rpc_method_handler(self.unary, read, write),
            "Once": grpc.unary_unary_rpc_method_handler(self.unary, read, write),
            "Watch": grpc.unary_stream_rpc_method_handler(self.watch, read, write),
            "Collect": grpc.stream_unary_rpc_method_handler(self.collect, read, write),
            "Chat": grpc.stream_stream_rpc_method_handler(self.chat, read, write),
        }
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(NAME, handlers),))
        server.add_registered_method_handlers(NAME, handlers)

    def exposed(self, everything: Access | None = ANY_SERVICE, **access: Access) -> Exposed:
        """The service with its doors open, or as said; nobody can act in streams of requests."""
        if everything is not None and everything.actors:
            access = {"Collect": ANY_SERVICE, "Chat": ANY_SERVICE} | access
        return Exposed(ECHO, self.register, access, everything)


class EchoStub:
    """As generated code makes it."""

    def __init__(self, channel: Any) -> None:
        write, read = Text.SerializeToString, Text.FromString
        self.Read = channel.unary_unary(f"/{NAME}/Read", write, read, _registered_method=True)
        self.Write = channel.unary_unary(f"/{NAME}/Write", write, read, _registered_method=True)
        self.Once = channel.unary_unary(f"/{NAME}/Once", write, read, _registered_method=True)
        self.Watch = channel.unary_stream(f"/{NAME}/Watch", write, read, _registered_method=True)
        self.Collect = channel.stream_unary(f"/{NAME}/Collect", write, read, _registered_method=True)
        self.Chat = channel.stream_stream(f"/{NAME}/Chat", write, read, _registered_method=True)
        self.Missing = channel.unary_unary(f"/{NAME}/Missing", write, read, _registered_method=True)
