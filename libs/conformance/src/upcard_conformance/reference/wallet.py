"""The reference wallet over HTTP: every shipped dialect at once, on one book."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Final, Self, TypeVar

from aiohttp import web

from upcard_conformance.reference.book import Answer, Book, Order
from upcard_conformance.reference.speaking import Heard, NotUnderstood, Said, SignatureWrong, Speaker
from upcard_seamless.dialects import load_dialect
from upcard_seamless.signing import verifier_of

T = TypeVar("T")

_BODY_MAX_BYTES: Final = 64 * 1024
_END_S: Final = 5.0


def speakers_of(secrets: Mapping[str, bytes], kind: type[Speaker] = Speaker) -> dict[str, Speaker]:
    """A speaker for each dialect, by its name; of each its secret, or Upcard's public key.

    Raises upcard_seamless.dialects.DialectInvalid, upcard_seamless.signing.KeyInvalid.
    """
    dialects = {name: load_dialect(name) for name in secrets}
    return {
        dialects[name].name: kind(dialects[name], verifier_of(dialects[name].signature, secret))
        for name, secret in secrets.items()
    }


class ReferenceWallet:
    """A partner's wallet. An async context manager, which closes the book at its end.

    Orders are carried out one after another by a thread of their own, each on the disk before it is answered;
    at most a thousand wait by default, what comes beyond is told to come again.
    """

    def __init__(
        self,
        book: Book,
        speakers: Mapping[str, Speaker],
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        waiting_max: int = 1_000,
    ) -> None:
        """With port 0 the system chooses one, which is kept; so many requests at most are under way."""
        self.waiting_max = waiting_max
        self.book = book
        self.speakers = dict(speakers)
        self.host = host
        self.port = port
        self._thread = ThreadPoolExecutor(1, "book")
        self._waiting = 0
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> Self:
        await self.up()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.down()
        await self.on_book(Book.close)
        self._thread.shutdown()

    def address_of(self, dialect: str) -> str:
        """Where it speaks this dialect: what stands before the dialect's paths."""
        return f"http://{self.host}:{self.port}/{dialect}"

    async def up(self) -> None:
        """Begin to listen, at the same port as before."""
        app = web.Application(client_max_size=_BODY_MAX_BYTES)
        app.router.add_post("/{dialect}/{path:.*}", self._take)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=_END_S)
        await self._runner.setup()
        site = web.TCPSite(self._runner, self.host, self.port)
        await site.start()
        self.port = int(self._runner.addresses[0][1])

    async def down(self) -> None:
        """Stop to listen; what is under way is answered first."""
        runner, self._runner = self._runner, None
        if runner is not None:
            await runner.cleanup()

    async def on_book(self, work: Callable[[Book], T]) -> T:
        """Do something with the book, in the thread that alone does."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, self.book)

    async def _take(self, request: web.Request) -> web.Response:
        speaker = self.speakers.get(request.match_info["dialect"])
        if speaker is None:
            return web.json_response({"error": "no such dialect"}, status=404)
        try:
            body = await request.read()
        except ConnectionResetError:
            # Whoever sent half of it is gone, and nothing was done.
            return web.Response(status=400)
        if self._waiting >= self.waiting_max:
            said = speaker.say_wrong(503, "later")
        else:
            self._waiting += 1
            try:
                said = await self.answer(speaker, request, body)
            finally:
                self._waiting -= 1
        return web.Response(body=said.data, status=said.status, content_type="application/json")

    async def answer(self, speaker: Speaker, request: web.Request, body: bytes) -> Said:
        """What is said to a request."""
        try:
            self.check(speaker, request, body)
            heard = speaker.hear("/" + request.match_info["path"], body)
        except SignatureWrong:
            return speaker.say_wrong(401, "signature")
        except NotUnderstood:
            return speaker.say_wrong(400, "invalid")
        return speaker.say(heard, await self.carry_out(heard, request))

    def check(self, speaker: Speaker, request: web.Request, body: bytes) -> None:
        """Raises SignatureWrong."""
        speaker.check(request.headers, body)

    async def carry_out(self, heard: Heard, request: web.Request) -> Answer:  # noqa: ARG002 - for broken ones
        """Do what was asked for, once it is understood and known to be from Upcard."""
        order: Order = heard.order
        if heard.kind == "balance":
            return await self.on_book(lambda book: book.look(order.player, order.currency))
        return await self.on_book(lambda book: book.carry_out(order))
