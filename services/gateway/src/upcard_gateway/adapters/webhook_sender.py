"""Sending webhooks over HTTP: bounded in every direction, and to public addresses alone."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import TracebackType
from typing import Any, Final, Protocol, Self

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from upcard_gateway.domain.webhook_addresses import as_address, is_public, refused_url
from upcard_gateway.domain.webhooks import Outcome

__all__ = ["HttpSender", "Sender"]

_ANSWER_MAX_BYTES: Final = 16 * 1024
"""What is read of an answer before its connection is given up: it is not looked at."""
_EXACT_UP_TO_S: Final = 3600.0
"""The client would round longer timeouts up to whole seconds."""
_CONNECTIONS: Final = 256
_RESOLVING_AT_ONCE: Final = 32
_NUMERIC: Final = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV
_CONNECT_TIMEOUT_S: Final = 5.0
_LONGEST_RETRY_AFTER: Final = 6
_AGENT: Final = "Upcard-Webhooks/1"


class Sender(Protocol):
    """Sends a webhook once."""

    async def send(self, url: str, headers: Mapping[str, str], body: bytes, *, timeout_s: float) -> Outcome:
        """Whatever goes wrong is an outcome, and no exception."""
        ...


class _NotPublic(OSError):
    """A name leads to an address that is not anybody's on the internet."""


class _Resolver(AbstractResolver):
    """Resolves names in threads of its own, and refuses one that leads inside: with any of its addresses.

    The loop's few threads would be taken by names whose servers hang, and everybody else's look-ups wait.
    """

    def __init__(self, *, inside: bool) -> None:
        self._inside = inside
        self._threads = ThreadPoolExecutor(_RESOLVING_AT_ONCE, thread_name_prefix="webhook-names")

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """See aiohttp."""
        look_up = partial(_addresses_of, host, port, family)
        found = await asyncio.get_running_loop().run_in_executor(self._threads, look_up)
        addresses = [str(address[0]) for _, address in found]
        if not self._inside and not all(map(_may_be_called, addresses)):
            raise _NotPublic("a name that leads inside")
        return [
            ResolveResult(hostname=host, host=address, port=port, family=of_family, proto=0, flags=_NUMERIC)
            for (of_family, _), address in zip(found, addresses, strict=True)
        ]

    async def close(self) -> None:
        """See aiohttp."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def _addresses_of(
    host: str, port: int, family: socket.AddressFamily
) -> list[tuple[socket.AddressFamily, tuple[Any, ...]]]:
    found = socket.getaddrinfo(host, port, family=family, type=socket.SOCK_STREAM)
    return [(of_family, address) for of_family, _, _, _, address in found]


def _public_socket(info: tuple[Any, ...]) -> socket.socket:
    """A socket for an address that is about to be called: the last look at it, whatever came before."""
    family, kind, protocol, _, address = info
    if not _may_be_called(str(address[0])):
        raise _NotPublic("an address inside")
    return socket.socket(family=family, type=kind, proto=protocol)


def _may_be_called(host: str) -> bool:
    address = as_address(host)
    return address is not None and is_public(address)


class HttpSender:
    """A `Sender`. Use it as an async context manager, inside a running loop."""

    def __init__(self, *, inside: bool = False) -> None:
        """`inside`: http:// and private addresses too, for demonstrations and tests."""
        self._inside = inside
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        connector = aiohttp.TCPConnector(
            limit=_CONNECTIONS,
            resolver=_Resolver(inside=self._inside),
            socket_factory=None if self._inside else _public_socket,
            ttl_dns_cache=30,
            keepalive_timeout=10,
        )
        self._session = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,  # an answer of a few bytes must not unpack into gigabytes
            trust_env=False,  # a proxy would resolve names for us, unjudged
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def send(self, url: str, headers: Mapping[str, str], body: bytes, *, timeout_s: float) -> Outcome:
        """See `Sender`. Redirects are not followed: they would lead where nobody looked."""
        if self._session is None:
            raise RuntimeError("not entered")
        why = refused_url(url, inside=self._inside)
        if why is not None:
            return Outcome(None, f"not sent: {why}")
        try:
            # Over all of it, resolving and reading included.
            async with asyncio.timeout(timeout_s):
                return await self._posted(self._session, url, headers, body, timeout_s)
        except TimeoutError:
            return Outcome(None, f"no answer within {timeout_s:g} s")
        except (aiohttp.ClientError, OSError, ValueError) as error:
            return Outcome(None, _said(error))

    async def _posted(
        self,
        session: aiohttp.ClientSession,
        url: str,
        headers: Mapping[str, str],
        body: bytes,
        timeout_s: float,
    ) -> Outcome:
        async with session.post(
            url,
            data=body,
            headers={
                "Content-Type": "application/json",
                "Accept-Encoding": "identity",
                "User-Agent": _AGENT,
                **headers,
            },
            allow_redirects=False,
            timeout=aiohttp.ClientTimeout(
                total=timeout_s,
                sock_connect=min(_CONNECT_TIMEOUT_S, timeout_s),
                ceil_threshold=_EXACT_UP_TO_S,
            ),
        ) as response:
            status = response.status
            retry_after = response.headers.get("Retry-After", "")
            await _read_some(response)
        if 200 <= status < 300:
            return Outcome(status)
        error = f"HTTP {status}: only 2xx means that it was taken"
        if 300 <= status < 400:
            error = f"HTTP {status}: redirects are not followed, give the address itself"
        return Outcome(status, error, _seconds(retry_after))


async def _read_some(response: aiohttp.ClientResponse) -> None:
    """Read a short answer, so that its connection can be used again; a longer one is cut off."""
    size = 0
    async for chunk in response.content.iter_any():
        size += len(chunk)
        if size > _ANSWER_MAX_BYTES:
            response.close()
            return


def _seconds(retry_after: str) -> float | None:
    text = retry_after.strip()
    return float(text) if text.isascii() and text.isdigit() and len(text) <= _LONGEST_RETRY_AFTER else None


def _said(error: BaseException) -> str:
    """What was wrong, in words: nothing of what an address inside has answered, or how."""
    if isinstance(error, _NotPublic) or isinstance(error.__cause__, _NotPublic) or _is_not_public(error):
        return "not sent: the name of the host leads to an address that is not public"
    if isinstance(error, aiohttp.ClientConnectorCertificateError | aiohttp.ClientConnectorSSLError):
        return "no connection: the certificate is not valid for this host, or TLS failed"
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return "no connection: the name of the host cannot be resolved"
    if isinstance(error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError):
        return "no connection: the host does not answer at this port"
    if isinstance(error, aiohttp.ServerDisconnectedError | ConnectionError):
        return "the connection was cut before there was an answer"
    return f"no answer that is one: {type(error).__name__}"


def _is_not_public(error: BaseException) -> bool:
    return isinstance(error, aiohttp.ClientConnectorError) and isinstance(error.os_error, _NotPublic)
