"""How calls reach a wallet: over HTTP in a dialect, rightly, or wrongly on purpose."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from dataclasses import replace
from types import TracebackType
from typing import Final, Self
from urllib.parse import urlsplit
from uuid import uuid4

import aiohttp

from upcard_conformance.findings import Exchange
from upcard_conformance.stage import RIGHTLY, Asked, Wrongly, described, in_words
from upcard_seamless.answers import Accepted, NotSent, Unclear, Verdict
from upcard_seamless.calls import Call
from upcard_seamless.dialects import Dialect
from upcard_seamless.reading import ANSWER_MAX_BYTES, together, verdict_of
from upcard_seamless.requests import Request, parts_of, request_of
from upcard_seamless.signing import Signer, new_rsa_key, signer_of

_EXACT_UP_TO_S: Final = 3600.0
"""The client would round longer timeouts up to whole seconds."""
_SHOWN_MAX: Final = 2_000
_CONNECTIONS: Final = 32
_NOT_SENT: Final = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError, ConnectionRefusedError)


class Wire:
    """A wallet at an address. An async context manager."""

    def __init__(self, address: str, dialect: Dialect, secret: bytes, *, timeout_s: float) -> None:
        """`secret` is the shared secret, or the kit's RSA private key as PEM. Raises KeyInvalid."""
        self.address = address.rstrip("/")
        self.dialect = dialect
        self.timeout_s = timeout_s
        self._signer = signer_of(dialect.signature, secret)
        self._session: aiohttp.ClientSession | None = None

    @property
    def one_by_one(self) -> bool:
        """The dialect sends one transaction a request."""
        return self.dialect.transactions == "single"

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            # Of a kept connection nobody could say whether it was the wallet's fault that it broke.
            connector=aiohttp.TCPConnector(limit=_CONNECTIONS, force_close=True),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def ask(self, call: Call, how: Wrongly = RIGHTLY) -> Asked:
        """Make the call once, in as many requests as the dialect wants; a bet ends with the first refusal."""
        verdicts: list[Verdict] = []
        exchanges: list[Exchange] = []
        for part in parts_of(self.dialect, call):
            verdict, exchange = await self._send(part, how)
            verdicts.append(verdict)
            exchanges.append(exchange)
            if call.kind == "bet" and not isinstance(verdict, Accepted):
                break
        return Asked(call, together(verdicts), tuple(exchanges))

    async def _send(self, call: Call, how: Wrongly) -> tuple[Verdict, Exchange]:
        request = self._signed(call, how)
        loop = asyncio.get_running_loop()
        began = loop.time()
        status: int | None = None
        data: bytes | None = b""
        verdict: Verdict
        try:
            if how.cut_after_s is not None or how.half:
                await self._cut(request, how)
                verdict = Unclear("the kit hung up before it was answered", kind="time_out")
            else:
                status, data = await self._posted(request)
                verdict = verdict_of(self.dialect, request, status, data)
        except (
            aiohttp.ClientConnectorError,
            aiohttp.ConnectionTimeoutError,
            ConnectionRefusedError,
        ) as error:
            verdict = NotSent(_said(error))
        except TimeoutError:
            verdict = Unclear(f"no answer within {self.timeout_s:g} s", kind="time_out")
        except (aiohttp.ClientError, OSError, ValueError) as error:
            verdict = Unclear(_said(error))
        took_ms = round((loop.time() - began) * 1000)
        return verdict, self._exchange(request, how, status, data, verdict, took_ms)

    def _signed(self, call: Call, how: Wrongly) -> Request:
        request = request_of(self.dialect, call, uuid4(), self._signer)
        header = self.dialect.signature.header
        match how.signed:
            case None:
                return request
            case "not":
                return replace(request, headers={k: v for k, v in request.headers.items() if k != header})
            case "by_another":
                made = self._another().sign(request.body)
            case _:
                made = self._signer.sign(request.body + b" ")
        return replace(request, headers={**request.headers, header: made})

    def _another(self) -> Signer:
        signature = self.dialect.signature
        secret = uuid4().bytes + uuid4().bytes if signature.scheme == "hmac-sha256" else new_rsa_key()[0]
        return signer_of(signature, secret)

    async def _posted(self, request: Request) -> tuple[int, bytes | None]:
        if self._session is None:
            raise RuntimeError("not entered")
        async with self._session.post(
            self.address + request.path,
            data=request.body,
            headers={**request.headers, "Accept-Encoding": "identity"},
            allow_redirects=False,
            timeout=aiohttp.ClientTimeout(total=self.timeout_s, ceil_threshold=_EXACT_UP_TO_S),
        ) as response:
            data = bytearray()
            async for chunk in response.content.iter_any():
                data += chunk
                if len(data) > ANSWER_MAX_BYTES:
                    return response.status, None
            return response.status, bytes(data)

    async def _cut(self, request: Request, how: Wrongly) -> None:
        """Send it, or half of it, over a connection of its own, and hang up."""
        url = urlsplit(self.address + request.path)
        secure = url.scheme == "https"
        lines = [
            f"POST {url.path} HTTP/1.1",
            f"Host: {url.netloc.rpartition('@')[2]}",
            f"Content-Length: {len(request.body)}",
            "Connection: close",
            *(f"{name}: {value}" for name, value in request.headers.items()),
        ]
        head = "\r\n".join([*lines, "", ""]).encode()
        body = request.body[: len(request.body) // 2] if how.half else request.body
        async with asyncio.timeout(self.timeout_s):
            _, writer = await asyncio.open_connection(
                url.hostname,
                url.port or (443 if secure else 80),
                ssl=ssl.create_default_context() if secure else None,
            )
            try:
                writer.write(head + body)
                await writer.drain()
                await asyncio.sleep(how.cut_after_s or 0.0)
            finally:
                writer.close()
                with contextlib.suppress(OSError):
                    await writer.wait_closed()

    def _exchange(
        self,
        request: Request,
        how: Wrongly,
        status: int | None,
        data: bytes | None,
        verdict: Verdict,
        took_ms: int,
    ) -> Exchange:
        if data is None:
            answer = f"more than {ANSWER_MAX_BYTES} bytes"
        elif status is None:
            answer = in_words(verdict)
        else:
            answer = data.decode(errors="replace")[:_SHOWN_MAX]
        return Exchange(
            what=described(request.call) + _how(how),
            address=self.address + request.path,
            request=request.body.decode()[:_SHOWN_MAX],
            status=status,
            answer=answer,
            read_as=in_words(verdict),
            took_ms=took_ms,
        )


def _how(how: Wrongly) -> str:
    words = {None: "", "not": ", without a signature", "by_another": ", signed by somebody else"}
    said = words.get(how.signed, ", with the signature of another body")
    if how.half:
        said += ", cut off in the middle of its body"
    elif how.cut_after_s is not None:
        said += f", hung up {how.cut_after_s * 1000:g} ms after it was sent"
    return said


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:200]
