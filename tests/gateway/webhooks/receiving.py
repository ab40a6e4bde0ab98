"""A platform's receiver of webhooks over HTTP, for tests.

It checks each, and has whatever bad habits a test asks for.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from types import TracebackType
from typing import Literal, Self

from aiohttp import web

from upcard_platform.models.webhooks import Webhook
from upcard_platform.webhooks import WebhookRefused, verified

Habit = int | Literal["hang", "cut"]
"""A status to answer with; `hang`: no answer until `release`; `cut`: the connection is dropped."""


@dataclass
class Receiver:
    """Listens on 127.0.0.1; an async context manager. `/<name>` is an endpoint each."""

    secrets: dict[str, str] = field(default_factory=dict)
    """By endpoint: what its webhooks are checked with."""
    taken: dict[str, list[Webhook]] = field(default_factory=dict)
    """What was answered with 2xx, by endpoint, in the order in which it came."""
    seen: dict[str, list[str]] = field(default_factory=dict)
    """The ids of all that came, by endpoint."""
    complaints: list[str] = field(default_factory=list)
    always: dict[str, Habit] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    """Sent with each answer."""
    port: int = 0
    _scripts: dict[str, deque[Habit]] = field(default_factory=dict)
    _released: asyncio.Event = field(default_factory=asyncio.Event)
    _arrived: asyncio.Condition = field(default_factory=asyncio.Condition)
    _runner: web.AppRunner | None = None

    def url(self, name: str) -> str:
        """The address of an endpoint."""
        return f"http://127.0.0.1:{self.port}/{name}"

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=2 * 1_048_576)
        app.router.add_post("/{name}", self._answer)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port)
        await site.start()
        assert site._server is not None
        self.port = site._server.sockets[0].getsockname()[1]  # type: ignore[attr-defined]  # a server of asyncio
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()
        if self._runner is not None:
            await self._runner.cleanup()

    def script(self, name: str, *habits: Habit) -> None:
        """What happens to the next ones of an endpoint; then all is well."""
        self._scripts.setdefault(name, deque()).extend(habits)

    def release(self) -> None:
        """Let those go that hang."""
        self._released.set()

    def ids(self, name: str) -> list[str]:
        """The ids of those that were taken."""
        return [one.id for one in self.taken.get(name, [])]

    async def until(self, name: str, number: int, *, seen: bool = False, within_s: float = 60.0) -> None:
        """Wait until so many were taken, or have come."""

        def enough() -> bool:
            found = self.seen if seen else self.taken
            return len(found.get(name, [])) >= number

        async with asyncio.timeout(within_s), self._arrived:
            await self._arrived.wait_for(enough)

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        name, body = request.match_info["name"], await request.read()
        try:
            webhook = verified(request.headers, body, self.secrets[name])
        except WebhookRefused as error:
            self.complaints.append(f"{name}: {error.code}")
            return web.Response(status=400)
        script = self._scripts.get(name)
        habit = script.popleft() if script else self.always.get(name, 204)
        taken = isinstance(habit, int) and 200 <= habit < 300
        async with self._arrived:
            self.seen.setdefault(name, []).append(webhook.id)
            if taken:
                self.taken.setdefault(name, []).append(webhook)
            self._arrived.notify_all()
        if habit == "hang":
            await self._released.wait()
            return web.Response(status=500)
        if habit == "cut":
            assert request.transport is not None
            request.transport.close()
            return web.Response(status=500)
        return web.Response(status=int(habit), headers=self.headers)
