"""An echo server as a process of its own, to be frozen: prints its address, serves until it is killed."""

from __future__ import annotations

import asyncio

from servicekit.grpc import GrpcServer, ServerSettings
from tests.servicekit.grpc.echo import Echo

MOST_S = 120.0
"""Longest that it lives, should nobody kill it."""


async def serve() -> None:
    """Serve."""
    async with GrpcServer(ServerSettings(min_ping_interval_s=0.05), [Echo().exposed()]) as server:
        print(f"address {server.address}", flush=True)  # noqa: T201 - how the test learns it
        await asyncio.sleep(MOST_S)


if __name__ == "__main__":
    asyncio.run(serve())
