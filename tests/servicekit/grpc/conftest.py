"""Servers on this machine, each with a channel to it."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterator, MutableMapping
from dataclasses import dataclass, field
from typing import Any

import pytest
import structlog

from servicekit.grpc import ClientChannel, ClientSettings, GrpcServer, ServerSettings, open_channel
from tests.servicekit.grpc.echo import ECHO, Echo, EchoStub, Text

WAIT_S = 20.0
"""Longest that a test waits for anything."""


@dataclass
class Served:
    """A server that listens, and a channel to it."""

    server: GrpcServer
    channel: ClientChannel
    echo: Echo
    stub: EchoStub = field(init=False)

    def __post_init__(self) -> None:
        self.stub = EchoStub(self.channel)

    async def read(self, text: str = "hello", **options: Any) -> str:
        """What `Read` answers."""
        answer = await self.stub.Read(Text(value=text), **{"timeout": WAIT_S} | options)
        value: str = answer.value
        return value


@pytest.fixture(autouse=True)
def logged() -> Iterator[list[MutableMapping[str, Any]]]:
    """What is logged while a test runs, line by line, instead of printing it."""
    with structlog.testing.capture_logs() as lines:
        yield lines


@contextlib.asynccontextmanager
async def serve_echo(
    echo: Echo | None = None,
    *,
    settings: ServerSettings | None = None,
    client: ClientSettings | None = None,
    exposed: Any = None,
    signer: Any = None,
    **more: Any,
) -> AsyncIterator[Served]:
    """An echo service, served and connected to."""
    service = echo or Echo()
    server = GrpcServer(settings or ServerSettings(grace_s=1), [exposed or service.exposed()], **more)
    async with server:
        target = server.address
        channel = open_channel(target, audience="echo", services=[ECHO], settings=client, signer=signer)
        async with channel:
            yield Served(server, channel, service)


@pytest.fixture
async def served() -> AsyncIterator[Served]:
    """An echo service as it comes."""
    async with serve_echo() as made:
        yield made
