"""A partner over HTTP in our own plain dialect (docs/seamless.md); other dialects implement `Partner` too."""

import hashlib
import hmac
import json
from types import TracebackType
from typing import Final, Literal, Self, cast

import aiohttp

from upcard_wallet.adapters.seamless.partner import Accepted, Call, NotSent, Refused, Unclear, Verdict

SIGNATURE: Final = "Upcard-Signature"
"""Header with the HMAC-SHA256 of the body under the shared secret, in hex."""

_EXACT_UP_TO_S: Final = 3600.0
"""The client would round longer timeouts up to whole seconds."""
_ANSWER_MAX_BYTES: Final = 64 * 1024
_DETAIL_MAX: Final = 200
_WHY: Final = {
    "insufficient_funds": "funds",
    "player_refused": "player",
    "not_found": "not_found",
}


def signature(secret: bytes, body: bytes) -> str:
    """What a body is signed with."""
    return hmac.new(secret, body, hashlib.sha256).hexdigest()


def body_of(call: Call) -> bytes:
    """The body of a call: the same bytes in each try."""
    return json.dumps(
        {
            "call": str(call.call),
            "operator": call.operator,
            "player": call.player,
            "currency": call.currency,
            "round": call.round,
            "transactions": [{"id": str(one.id), "amount": one.amount} for one in call.transactions],
            "total": call.total,
            "closes_round": call.closes_round,
        },
        separators=(",", ":"),
    ).encode()


class HttpPartner:
    """One operator's wallet at an address. Use it as an async context manager, inside a running loop."""

    def __init__(
        self, address: str, secret: bytes, *, connections: int = 128, connect_timeout_s: float = 3.0
    ) -> None:
        """`address` is what comes before `/bet`, `/win` and `/rollback`; the secret signs every body."""
        self._address = address.rstrip("/")
        self._secret = secret
        self._connections = connections
        self._connect_timeout_s = connect_timeout_s
        self._session: aiohttp.ClientSession | None = None

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

    async def ask(self, call: Call, *, timeout_s: float) -> Verdict:
        """Make the call once: see `Partner`."""
        if self._session is None:
            raise RuntimeError("not entered")
        body = body_of(call)
        try:
            async with self._session.post(
                f"{self._address}/{call.kind}",
                data=body,
                headers={
                    "Content-Type": "application/json",
                    "Accept-Encoding": "identity",
                    SIGNATURE: signature(self._secret, body),
                },
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(
                    total=timeout_s,
                    sock_connect=min(self._connect_timeout_s, timeout_s),
                    ceil_threshold=_EXACT_UP_TO_S,
                ),
            ) as response:
                if response.status != 200:
                    return Unclear(f"HTTP {response.status}")
                data = await _read(response)
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            return NotSent(_said(error))  # no connection was made, so nothing went over it
        except (TimeoutError, aiohttp.ClientError, OSError, ValueError) as error:
            return Unclear(_said(error))
        return verdict_of(call, data)


async def _read(response: aiohttp.ClientResponse) -> bytes | None:
    data = bytearray()
    async for chunk in response.content.iter_any():
        data += chunk
        if len(data) > _ANSWER_MAX_BYTES:
            return None
    return bytes(data)


def verdict_of(call: Call, data: bytes | None) -> Verdict:
    """What an answer means for the call that it claims to answer. Never believes more than it has to."""
    if data is None:
        return Unclear("the answer is too long")
    try:
        answer = json.loads(data)
    except (ValueError, RecursionError):
        return Unclear("the answer is no JSON")
    if not isinstance(answer, dict):
        return Unclear("the answer is no object")
    if answer.get("call") != str(call.call):
        return Unclear("the answer is to another call", contradicts=True)
    match answer.get("status"):
        case "accepted":
            return _accepted(call, answer)
        case "refused":
            reason = answer.get("reason")
            why = _WHY.get(reason, "other") if isinstance(reason, str) else "other"
            return Refused(
                cast("Literal['funds', 'player', 'not_found', 'other']", why), str(reason)[:_DETAIL_MAX]
            )
        case other:
            return Unclear(f"no status that is known: {str(other)[:40]}")


def _accepted(call: Call, answer: dict[str, object]) -> Verdict:
    for name, wanted in (("total", call.total), ("currency", call.currency), ("player", call.player)):
        said = answer.get(name)
        if type(said) is not type(wanted) or said != wanted:
            return Unclear(f"accepted with another {name}: {str(said)[:40]}", contradicts=True)
    return Accepted()


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:_DETAIL_MAX]
