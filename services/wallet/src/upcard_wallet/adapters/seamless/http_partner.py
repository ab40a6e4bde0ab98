"""A partner over HTTP, in any dialect (docs/seamless.md)."""

import asyncio
from types import TracebackType
from typing import Final, Self
from uuid import UUID, uuid4, uuid5

import aiohttp

from upcard_seamless.dialects import Dialect, load_dialect
from upcard_seamless.reading import ANSWER_MAX_BYTES, together, verdict_of
from upcard_seamless.requests import Request, parts_of, request_of
from upcard_seamless.signing import signer_of
from upcard_wallet.adapters.seamless.partner import Accepted, Call, NotSent, Unclear, Verdict

PLAIN: Final = "plain"
"""The dialect of partners for whom none is named."""

_EXACT_UP_TO_S: Final = 3600.0
"""The client would round longer timeouts up to whole seconds."""
_DETAIL_MAX: Final = 200
_PARTS_AT_ONCE: Final = 8
"""Of one rollback."""


class HttpPartner:
    """One operator's wallet at an address. Use it as an async context manager, inside a running loop."""

    def __init__(
        self,
        address: str,
        secret: bytes,
        *,
        dialect: Dialect | None = None,
        connections: int = 128,
        connect_timeout_s: float = 3.0,
    ) -> None:
        """`address` is what comes before a call's path. The secret is shared, or our private key as PEM.

        Raises upcard_seamless.signing.KeyInvalid when the secret does not fit the dialect.
        """
        self.dialect = dialect or load_dialect(PLAIN)
        self._address = address.rstrip("/")
        self._signer = signer_of(self.dialect.signature, secret)
        self._connections = connections
        self._connect_timeout_s = connect_timeout_s
        self._session: aiohttp.ClientSession | None = None

    @property
    def dialect_name(self) -> str:
        """See `Partner`."""
        return self.dialect.name

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=self._connections,
                ttl_dns_cache=30,
                # Shorter than servers keep theirs: a bet over a connection that just closed would be unclear.
                keepalive_timeout=10,
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,  # an answer of a few bytes must not unpack into gigabytes
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def ask(self, call: Call, *, timeout_s: float, network: UUID | None = None) -> Verdict:
        """Make the call once: see `Partner`.

        A dialect of single transactions makes it in parts. A bet ends with the first part that is not done;
        of a rollback all parts are told, whatever was said to one: any of them may have been taken. They go
        side by side, so that one that hangs does not keep the others from being told in every try.
        """
        if self._session is None:
            raise RuntimeError("not entered")
        network = network or uuid4()
        deadline = asyncio.get_running_loop().time() + timeout_s
        session = self._session
        requests = [
            request_of(self.dialect, part, uuid5(network, str(place)) if place else network, self._signer)
            for place, part in enumerate(parts_of(self.dialect, call))
        ]
        if call.kind == "rollback":
            gate = asyncio.Semaphore(_PARTS_AT_ONCE)

            async def tell(request: Request) -> Verdict:
                async with gate:
                    return await self._ask(session, request, deadline)

            async with asyncio.TaskGroup() as telling:
                tasks = [telling.create_task(tell(request)) for request in requests]
            return together([task.result() for task in tasks])
        verdicts: list[Verdict] = []
        for request in requests:
            verdicts.append(await self._ask(session, request, deadline))
            if not isinstance(verdicts[-1], Accepted):
                break
        return together(verdicts)

    async def _ask(self, session: aiohttp.ClientSession, request: Request, deadline: float) -> Verdict:
        remaining_s = deadline - asyncio.get_running_loop().time()
        if remaining_s <= 0:
            return NotSent("no time was left")
        try:
            async with session.post(
                self._address + request.path,
                data=request.body,
                headers={**request.headers, "Accept-Encoding": "identity"},
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(
                    total=remaining_s,
                    sock_connect=min(self._connect_timeout_s, remaining_s),
                    ceil_threshold=_EXACT_UP_TO_S,
                ),
            ) as response:
                known = response.status in self.dialect.answer.statuses
                data = await _read(response) if known else b""
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            return NotSent(_said(error))  # no connection was made, so nothing went over it
        except TimeoutError as error:
            return Unclear(_said(error), kind="time_out")
        except (aiohttp.ClientError, OSError, ValueError) as error:
            return Unclear(_said(error))
        return verdict_of(self.dialect, request, response.status, data)


async def _read(response: aiohttp.ClientResponse) -> bytes | None:
    data = bytearray()
    async for chunk in response.content.iter_any():
        data += chunk
        if len(data) > ANSWER_MAX_BYTES:
            return None
    return bytes(data)


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:_DETAIL_MAX]
