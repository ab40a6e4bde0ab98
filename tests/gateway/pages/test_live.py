"""Live regions over a real connection."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator
from typing import Annotated, Any

import httpx
import uvicorn
from fastapi import APIRouter, Request, Response

from tests.gateway.pages.signed_in import SignedIn, signed_in
from tests.gateway.world import World
from upcard_gateway.entrypoints.pages.frame import Member, Pages, live, needs

Tried = Annotated[Member, needs("support", "admin")]
WAIT_S = 60.0


@contextlib.asynccontextmanager
async def served(world: World) -> AsyncIterator[str]:
    """The app on a port of its own, with a page that counts; its address."""
    router = APIRouter()

    @router.get("/staff/tried/live")
    async def tried(request: Request, member: Tried) -> Response:
        number = 0

        async def regions() -> dict[str, str]:
            nonlocal number
            number += 1
            return {"number": f"<b>{number}</b>"}

        return live(request, member, regions, 0.2)

    world.app.include_router(router)
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(
        uvicorn.Config(world.app, lifespan="off", log_config=None, timeout_graceful_shutdown=1)
    )
    task = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        async with asyncio.timeout(WAIT_S):
            while not server.started:  # noqa: ASYNC110 - it has no event to wait for
                await asyncio.sleep(0.02)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        await task
        listening.close()


@contextlib.asynccontextmanager
async def stream(address: str, staff: SignedIn) -> AsyncIterator[AsyncIterator[tuple[str, Any]]]:
    """What a browser is told, event by event."""
    headers = {"Cookie": f"upcard-staff={staff.token}"}
    async with (
        httpx.AsyncClient(base_url=address, headers=headers, timeout=WAIT_S) as client,
        client.stream("GET", "/staff/tried/live") as answer,
    ):
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")

        async def told() -> AsyncIterator[tuple[str, Any]]:
            name = ""
            async for line in answer.aiter_lines():
                if line.startswith("event: "):
                    name = line.removeprefix("event: ")
                elif line.startswith("data: "):
                    yield name, json.loads(line.removeprefix("data: "))

        yield told()


async def test_a_region_comes_again_when_it_is_another_one(world: World) -> None:
    async with signed_in(world, "support") as staff, served(world) as address:
        async with stream(address, staff) as told:
            seen = [(await anext(told))[1]["changed"]["number"] for _ in range(3)]
        assert seen == ["<b>1</b>", "<b>2</b>", "<b>3</b>"]
        pages: Pages = world.app.state.pages
        async with asyncio.timeout(WAIT_S):
            while pages.streams.open:  # noqa: ASYNC110 - likewise
                await asyncio.sleep(0.05)


async def test_a_stream_ends_when_the_role_is_gone_or_the_session_locks(world: World) -> None:
    async with (
        signed_in(world, "admin") as admin,
        signed_in(world, "support") as demoted,
        signed_in(world, "support") as locking,
        served(world) as address,
    ):
        async with stream(address, demoted) as told:
            assert (await anext(told))[0] == "regions"
            path = f"/staff/people/{demoted.member.staff}/roles"
            assert (await admin.post(path, {"role": "auditor", "reason": "moves"})).status_code == 303
            last = [event async for event in told][-1]
        assert last == ("ended", {"state": "none"})
        async with stream(address, locking) as told:
            assert (await anext(told))[0] == "regions"
            await locking.post("/staff/lock")
            last = [event async for event in told][-1]
        assert last == ("ended", {"state": "locked"})


async def test_too_many_streams_of_a_member_are_refused(world: World) -> None:
    async with (
        signed_in(world, "support") as staff,
        served(world) as address,
        contextlib.AsyncExitStack() as stack,
    ):
        # All are kept: one that nobody holds is closed.
        kept = [await stack.enter_async_context(stream(address, staff)) for _ in range(8)]
        for told in kept:
            await anext(told)
        async with httpx.AsyncClient(base_url=address, timeout=WAIT_S) as client:
            headers = {"Cookie": f"upcard-staff={staff.token}"}
            answer = await client.get("/staff/tried/live", headers=headers)
        assert (answer.status_code, answer.headers["retry-after"]) == (429, "5")
