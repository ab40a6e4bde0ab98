"""The client of a platform: typed calls to Upcard, signed, repeated within bounds.

async with Platform("https://upcard.example", HmacSigner(key_id, secret)) as platform:
launched = await platform.sessions.launch(Launch(request_id=new_request_id(), player="p1", …))
"""

from __future__ import annotations

import ipaddress
import ssl
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from types import TracebackType
from typing import Protocol, Self, TypeVar

import httpx

from upcard_platform.client_areas import Lobby, Players, Sessions, Wallets, Webhooks
from upcard_platform.client_calls import Calls, Patience, path_of
from upcard_platform.client_errors import NoAnswer, PlatformError, Refused, UnreadableAnswer
from upcard_platform.client_records import Day, OneRound, Period, Reports, Rounds
from upcard_platform.models.operators import Operator
from upcard_platform.signing import HmacSigner, RsaSigner, Signer

__all__ = [
    "Day",
    "HmacSigner",
    "NoAnswer",
    "OneRound",
    "Patience",
    "Period",
    "Platform",
    "PlatformError",
    "Refused",
    "RsaSigner",
    "Signer",
    "UnreadableAnswer",
    "every",
    "new_request_id",
]

T_co = TypeVar("T_co", covariant=True)
Item = TypeVar("Item")


class Page(Protocol[T_co]):
    """A part of a list."""

    @property
    def items(self) -> Sequence[T_co]:
        """What is in it."""
        ...

    @property
    def next(self) -> str | None:
        """`after` of the next part; None: this was the last one."""
        ...


class Platform:
    """Everything that a platform may ask of Upcard. An async context manager, for one event loop."""

    def __init__(
        self,
        url: str,
        signer: Signer,
        *,
        patience: Patience | None = None,
        trust: ssl.SSLContext | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """`url`: scheme, host and port alone, since the path is signed as Upcard gets it.

        `trust`: certificates that are believed, else the machine's; `transport`: for tests. Raises ValueError
        for an address that is none, or that would send players' names over a network unencrypted.
        """
        patience = patience or Patience()
        self._client = httpx.AsyncClient(
            base_url=_checked(url),
            timeout=patience.each_s,
            verify=True if trust is None else trust,
            transport=transport,
            follow_redirects=False,
        )
        self._calls = Calls(self._client, signer, patience)
        self.sessions = Sessions(self._calls)
        self.players = Players(self._calls)
        self.wallets = Wallets(self._calls)
        self.lobby = Lobby(self._calls)
        self.rounds = Rounds(self._calls)
        self.reports = Reports(self._calls)
        self.webhooks = Webhooks(self._calls)

    async def __aenter__(self) -> Self:
        await self._client.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._client.__aexit__(kind, error, trace)

    async def operator(self) -> Operator:
        """Who you are here, by which key, and what the time is: the call to begin with."""
        return await self._calls.get(path_of("operator"), Operator)


def new_request_id() -> str:
    """A new `request_id`: keep it with the request until there is an answer."""
    return str(uuid.uuid4())


async def every(page: Callable[[str | None], Awaitable[Page[Item]]]) -> AsyncIterator[Item]:
    """All items of a list, page after page: `every(lambda after: platform.lobby.tables(after=after))`."""
    after: str | None = None
    while True:
        found = await page(after)
        for item in found.items:
            yield item
        if found.next is None:
            return
        after = found.next


def _checked(url: str) -> httpx.URL:
    found = httpx.URL(url)
    if found.scheme not in {"http", "https"} or not found.host or found.userinfo:
        raise ValueError("the address is https://, a host and perhaps a port, without name and password")
    if found.raw_path not in {b"/", b""} or found.fragment:
        raise ValueError("the address has no path: what is signed is the path that Upcard gets")
    if found.scheme == "http" and not _on_this_machine(found.host):
        raise ValueError("http:// is for this machine alone: take https://")
    return found


def _on_this_machine(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
