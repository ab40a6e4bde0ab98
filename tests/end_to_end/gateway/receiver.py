"""A platform's receiver of webhooks: believes only what is signed, keeps each once, and may be away."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from aiohttp import web

from upcard_platform.models.webhooks import Webhook
from upcard_platform.webhooks import WebhookRefused, verified

WAIT_S = 60.0


@dataclass
class Receiver:
    """Listens on 127.0.0.1; an async context manager. `secret` is the endpoint's, known once it is made."""

    secret: str = ""
    received: list[Webhook] = field(default_factory=list)
    """Each webhook once, in the order in which they came."""
    repeated: int = 0
    refused: list[str] = field(default_factory=list)
    port: int = 0

    _ids: set[str] = field(default_factory=set)
    _arrived: asyncio.Condition = field(default_factory=asyncio.Condition)
    _runner: web.AppRunner | None = None

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}/webhooks"

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_post("/webhooks", self._answer)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.port = self._runner.addresses[0][1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    async def until(self, count: int, kind: str) -> list[Webhook]:
        """Wait for so many webhooks of a type; those that are there then."""
        found: list[Webhook] = []

        def enough() -> bool:
            found[:] = [one for one in self.received if one.type == kind]
            return len(found) >= count

        try:
            async with asyncio.timeout(WAIT_S), self._arrived:
                await self._arrived.wait_for(enough)
        except TimeoutError:
            seen = [(one.type, one.subject) for one in self.received]
            raise AssertionError(
                f"waited for {count} {kind}; there are {seen}, refused: {self.refused}"
            ) from None
        return found

    async def _answer(self, request: web.Request) -> web.Response:
        body = await request.read()
        try:
            webhook = verified(dict(request.headers), body, self.secret)
        except WebhookRefused as refused:
            self.refused.append(refused.code)
            return web.Response(status=400)
        async with self._arrived:
            if webhook.id in self._ids:
                self.repeated += 1
            else:
                self._ids.add(webhook.id)
                self.received.append(webhook)
            self._arrived.notify_all()
        return web.Response(status=204)
