"""Letting platforms in: key, time, signature, never the same twice, where from, how often."""

from __future__ import annotations

import datetime as dt
import hashlib
import ipaddress
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import structlog
from fastapi import Request

from upcard_gateway.app.operators import Operators, SigningKey
from upcard_gateway.domain.operators import Network, Operator
from upcard_gateway.entrypoints.http.limits import RateLimit, client_address
from upcard_gateway.entrypoints.http.problems import Problem
from upcard_platform.signing import (
    KEY_HEADER,
    SIGNATURE_HEADER,
    TIMESTAMP_HEADER,
    decoded_signature,
    hmac_fits,
    instant_of,
    public_key_of,
    rsa_fits,
    signed_text,
)

__all__ = ["Guard", "GuardObserver", "LetIn", "Unseen"]

_LONGEST_KEY_ID: Final = 64
_FAILURES_PER_S: Final = 5.0
_FAILURES_BURST: Final = 100

_log = structlog.get_logger("upcard.gateway.guard")


class GuardObserver(Protocol):
    """Is told of calls that were refused."""

    def refused(self, code: str) -> None:
        """A call was not let in, because of this problem."""
        ...


class Unseen:
    """A `GuardObserver` that looks away."""

    def refused(self, code: str) -> None:
        """See `GuardObserver`."""


@dataclass(frozen=True, slots=True)
class LetIn:
    """A call whose signature fits, and whose it is."""

    operator: Operator
    key_id: str


@dataclass(frozen=True, slots=True)
class _Said:
    """What a call says of itself."""

    key_id: str
    timestamp: str
    at: dt.datetime
    signature: bytes


First = Callable[[bytes, dt.datetime], Awaitable[bool]]
"""Notes that a signed text (by its digest) came, for as long as it would be good; False: it came before."""


class Guard:
    """Lets calls of platforms in that are signed, in time, for the first time, from where they may come."""

    def __init__(
        self,
        operators: Operators,
        first: First,
        *,
        window_s: float,
        proxies: Sequence[Network] = (),
        observer: GuardObserver | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`window_s`: by how much a timestamp may differ from ours. `clock`: seconds that never jump."""
        self._operators = operators
        self._first = first
        self._window = dt.timedelta(seconds=window_s)
        self._proxies = tuple(proxies)
        self._observer = observer or Unseen()
        self._rates = RateLimit(clock)
        self._failures = RateLimit(clock)

    async def let_in(self, request: Request, body: bytes, now: dt.datetime) -> LetIn:
        """Who signed this call. Raises Problem."""
        origin = self._origin(request)
        try:
            return await self._checked(request, body, now, origin)
        except Problem as problem:
            self._observer.refused(problem.code)
            if problem.status == 401:
                self._slow_down(origin)
            # By its template: the path itself may name players.
            route = getattr(request.scope.get("route"), "path", "")
            _log.info("a call is refused", code=problem.code, route=route, origin=str(origin))
            raise

    async def _checked(
        self,
        request: Request,
        body: bytes,
        now: dt.datetime,
        origin: ipaddress.IPv4Address | ipaddress.IPv6Address | None,
    ) -> LetIn:
        said = _said(request)
        if abs(now - said.at) > self._window:
            detail = f"the timestamp differs from our clock by more than {self._window.total_seconds():g} s"
            raise Problem("timestamp_refused", detail, our_time=now.isoformat(timespec="microseconds"))
        known = await self._operators.signing_key(said.key_id)
        if known is None:
            raise Problem("key_unknown", "no key of this id is in force")
        text = signed_text(request.method, _target(request), said.timestamp, body)
        if not _fits(known, text, said.signature):
            raise Problem("signature_wrong", "the signature is not that of this call with this key")
        operator = known.operator
        networks = operator.terms.networks()
        if networks and (origin is None or not any(origin in network for network in networks)):
            raise Problem("address_refused", f"calls from {origin} are not taken for this operator")
        if operator.terms.closed:
            raise Problem("operator_closed", "no calls of this operator are taken")
        terms = operator.terms
        wait_s = self._rates.take(said.key_id, terms.rate_per_s, terms.rate_burst)
        if wait_s:
            detail = f"this key may make {terms.rate_per_s} calls a second, {terms.rate_burst} at once"
            raise Problem("rate_limited", detail, retry_after_s=round(wait_s, 3))
        seen = hashlib.sha256(said.key_id.encode() + b"\n" + text).digest()
        if not await self._first(seen, said.at + 2 * self._window):
            # Whoever repeats what somebody else signed must not use up that key's rate.
            self._rates.give_back(said.key_id, terms.rate_burst)
            raise Problem("request_replayed", "exactly this signed call came before")
        return LetIn(operator, said.key_id)

    def _slow_down(self, origin: ipaddress.IPv4Address | ipaddress.IPv6Address | None) -> None:
        """Whoever is refused again and again is told to wait, which tells nothing of why."""
        wait_s = self._failures.take(str(origin), _FAILURES_PER_S, _FAILURES_BURST)
        if wait_s:
            raise Problem(
                "rate_limited", "too many calls from this address are refused", retry_after_s=round(wait_s, 3)
            )

    def _origin(self, request: Request) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
        peer = request.client.host if request.client is not None else ""
        return client_address(peer, request.headers.getlist("x-forwarded-for"), self._proxies)


def _said(request: Request) -> _Said:
    """What a call says of itself. Raises Problem."""
    found: dict[str, str] = {}
    for name in (KEY_HEADER, TIMESTAMP_HEADER, SIGNATURE_HEADER):
        values = request.headers.getlist(name)
        if len(values) != 1:
            raise Problem("unauthenticated", f"the header {name} has to be there once")
        found[name] = values[0]
    key_id = found[KEY_HEADER]
    if not 0 < len(key_id) <= _LONGEST_KEY_ID or not key_id.isascii() or not key_id.isprintable():
        raise Problem("unauthenticated", f"{KEY_HEADER} is no key's id")
    try:
        at = instant_of(found[TIMESTAMP_HEADER])
    except ValueError as error:
        raise Problem("unauthenticated", f"{TIMESTAMP_HEADER}: {error}") from None
    try:
        signature = decoded_signature(found[SIGNATURE_HEADER])
    except ValueError as error:
        raise Problem("unauthenticated", f"{SIGNATURE_HEADER}: {error}") from None
    return _Said(key_id, found[TIMESTAMP_HEADER], at, signature)


def _target(request: Request) -> str:
    """Path and query exactly as they were sent."""
    raw: bytes = request.scope.get("raw_path") or request.scope["path"].encode()
    query: bytes = request.scope.get("query_string", b"")
    # httpx's in-process transport gives the query with the path, servers do not.
    path = raw.partition(b"?")[0]
    return (path + b"?" + query if query else path).decode("latin-1")


def _fits(known: SigningKey, text: bytes, signature: bytes) -> bool:
    if known.secret is not None:
        return hmac_fits(known.secret, text, signature)
    if known.key.public_key is None:
        return False
    return rsa_fits(public_key_of(known.key.public_key), text, signature)
