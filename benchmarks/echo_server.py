"""A bare grpc.aio server: one unary call that gives back what it got. The table service is measured by it."""

from __future__ import annotations

import asyncio
import sys

import grpc
import grpc.aio

METHOD = "/bench.Echo/Echo"


async def _echo(request: bytes, _: grpc.aio.ServicerContext[bytes, bytes]) -> bytes:
    return request


async def main() -> None:
    """Serve until standard input ends; the port is printed."""
    server = grpc.aio.server()
    handler: grpc.RpcMethodHandler[bytes, bytes] = grpc.unary_unary_rpc_method_handler(_echo)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("bench.Echo", {"Echo": handler}),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print(port, flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await server.stop(1.0)


if __name__ == "__main__":
    asyncio.run(main())
