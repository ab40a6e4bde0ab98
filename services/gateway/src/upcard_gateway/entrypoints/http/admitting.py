"""What every call meets before any route: sizes, how many at a time, how long; what every answer carries."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Final

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from servicekit.context import accepted_correlation_id, bind
from upcard_gateway.adapters import metrics
from upcard_gateway.entrypoints.http.limits import MOST_HEADER_BYTES, MOST_TARGET_BYTES
from upcard_gateway.entrypoints.http.problems import Problem, answer
from upcard_gateway.settings import GatewaySettings
from upcard_platform.problems import Money

__all__ = ["ADMISSION", "Admission"]

ADMISSION: Final = "upcard.admission"
"""Where a call's scope has the Admission that it came through."""
COUNTED: Final = "upcard.counted"
"""Where it has the names under which it is counted there."""

_BODY_S: Final = 5.0
"""Longest that a body may take."""
_READING_SHARE: Final = 4
_LEAST_READING: Final = 16
"""One connection's other end may have this part of all calls, or so many, on their way as bodies."""
_CORRELATION: Final = b"upcard-correlation-id"
_ALWAYS: Final = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
)
"""Headers of every answer that does not say otherwise itself."""

_log = structlog.get_logger("upcard.gateway.http")


class Admission:
    """ASGI middleware: refuses what is too much, cuts what takes too long, answers what nobody caught."""

    def __init__(self, app: ASGIApp, *, settings: GatewaySettings) -> None:
        self._app = app
        self._settings = settings
        self._serving = 0
        self._reading: Counter[str] = Counter()
        """Bodies that are on their way, by whose connection it is."""
        self._of_operator: Counter[str] = Counter()

    def begin(self, scope: Scope, name: str, share: int) -> None:
        """Count a call as this one's until it is answered: of a name at most one in `share` of all calls.

        Raises Problem: so no platform, however many calls it makes, takes what the others need.
        """
        if self._of_operator[name] >= max(1, self._settings.http_calls_max // share):
            raise Problem("overloaded", "too many of your calls are being served; come again")
        self._of_operator[name] += 1
        scope.setdefault(COUNTED, []).append(name)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection of ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        given = headers.get(_CORRELATION, b"").decode("latin-1") or None
        correlation = accepted_correlation_id(given)
        sent = _Sent(send, correlation)
        began_s = time.monotonic()
        with bind(correlation_id=correlation):
            refused = self._refused(scope)
            scope[ADMISSION] = self
            try:
                if refused is None:
                    await self._receive(scope, receive, sent)
                else:
                    await answer(refused)(scope, receive, sent)
            finally:
                for name in scope.get(COUNTED, ()):
                    self._of_operator[name] -= 1
                self._of_operator += Counter()  # forgets those who have none
                metrics.answered(_route(scope), sent.status, time.monotonic() - began_s)

    def _refused(self, scope: Scope) -> Problem | None:
        """What is wrong with a call whatever it asks for."""
        size = sum(len(name) + len(value) for name, value in scope["headers"])
        target = len(scope.get("raw_path") or b"") + len(scope.get("query_string", b""))
        if size > MOST_HEADER_BYTES or target > MOST_TARGET_BYTES:
            return Problem("headers_too_large", f"all headers have {MOST_HEADER_BYTES} bytes at the most")
        if self._serving >= self._settings.http_calls_max:
            return _overloaded()
        return None

    async def _receive(self, scope: Scope, receive: Receive, sent: _Sent) -> None:
        """Read the body, then serve: whoever sends slowly, or nothing, takes no place of a call's."""
        peer = scope["client"][0] if scope.get("client") else ""
        if self._reading[peer] >= max(_LEAST_READING, self._settings.http_calls_max // _READING_SHARE):
            await answer(_overloaded())(scope, receive, sent)
            return
        self._reading[peer] += 1
        try:
            body = await self._body(scope, receive)
        finally:
            self._reading[peer] -= 1
            self._reading += Counter()
        if isinstance(body, bytes) and body and not (_is_json(scope) or _is_form(scope)):
            body = Problem("media_type_refused", "a body is JSON: Content-Type: application/json")
        if isinstance(body, bytes) and self._serving >= self._settings.http_calls_max:
            body = _overloaded()
        if isinstance(body, Problem):
            await answer(body)(scope, receive, sent)
            return
        await self._serve(scope, receive, sent, body)

    async def _serve(self, scope: Scope, receive: Receive, sent: _Sent, body: bytes) -> None:
        self._serving += 1
        try:
            async with asyncio.timeout(self._settings.http_call_max_s) as limit:
                sent.when_begun(partial(self._may_stream, limit))
                await self._app(scope, _whole(body, receive), sent)
        except TimeoutError as error:
            await self._failed(scope, receive, sent, "unavailable", "the call took too long", error)
        except Exception as error:  # noqa: BLE001 - the last place that can answer
            await self._failed(scope, receive, sent, "internal", "something went wrong", error)
        finally:
            self._serving -= 1

    def _may_stream(self, limit: asyncio.Timeout) -> None:
        """An answer that has begun may take longer to its end: a report of many lines."""
        limit.reschedule(asyncio.get_running_loop().time() + self._settings.http_stream_max_s)

    async def _body(self, scope: Scope, receive: Receive) -> bytes | Problem:
        """The whole body, which is bounded in bytes and in time."""
        most = self._settings.http_body_max_bytes
        too_large = Problem("body_too_large", f"a body has {most} bytes at the most", headers=_CLOSE)
        for name, value in scope["headers"]:
            if name == b"content-length" and (not value.isdigit() or int(value) > most):
                return too_large
        parts: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(_BODY_S):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return _cut("the body did not come to its end")
                    parts.append(message.get("body", b""))
                    size += len(parts[-1])
                    if size > most:
                        return too_large
                    if not message.get("more_body", False):
                        return b"".join(parts)
        except TimeoutError:
            return _cut(f"the body did not come within {_BODY_S:g} s")

    async def _failed(
        self, scope: Scope, receive: Receive, sent: _Sent, code: str, why: str, error: Exception
    ) -> None:
        instance = f"urn:upcard:log:{secrets.token_hex(8)}"
        _log.error("a call failed", answer=instance, why=why, route=_route(scope), exc_info=error)
        sent.when_begun(None)  # the call's own deadline is over
        if not sent.begun:
            money: Money = "none_moved" if scope["method"] in {"GET", "HEAD"} else "unknown"
            problem = Problem(code, f"{why}; tell us `instance`", money=money)
            await answer(problem, instance)(scope, receive, sent)
            return
        raise error  # a half-sent answer can only be cut


_CLOSE: Final = {"Connection": "close"}


def _cut(why: str) -> Problem:
    return Problem("request_invalid", why, headers=_CLOSE)


def _overloaded() -> Problem:
    return Problem("overloaded", "too many calls are being served; come again")


class _Sent:
    """Passes an answer on, with the headers that each has."""

    def __init__(self, send: Send, correlation: str) -> None:
        self._send = send
        self._correlation = correlation.encode()
        self.begun = False
        self.status = 0
        """What was answered; 0: nothing, the connection was gone."""
        self._told: Callable[[], None] | None = None

    def when_begun(self, told: Callable[[], None] | None) -> None:
        """Call this when the answer begins; None: nobody."""
        self._told = told

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.begun = True
            self.status = message["status"]
            if self._told is not None:
                self._told()
            there = {name.lower() for name, _ in message["headers"]}
            added = [pair for pair in _ALWAYS if pair[0] not in there]
            message = {**message, "headers": [*message["headers"], *added, (_CORRELATION, self._correlation)]}
        await self._send(message)


def _route(scope: Scope) -> str:
    """The template of a call's path, of which there are few; the path itself may be anything."""
    return str(getattr(scope.get("route"), "path", "")) or "(none)"


def _is_json(scope: Scope) -> bool:
    """Whether a body says that it is JSON, in UTF-8 as JSON always is."""
    values = [value for name, value in scope["headers"] if name == b"content-type"]
    return len(values) == 1 and values[0].partition(b";")[0].strip().lower() == b"application/json"


def _is_form(scope: Scope) -> bool:
    """Whether a body goes to staff's pages, which take forms and look at what they are given themselves."""
    return str(scope["path"]).startswith("/staff/")


def _whole(body: bytes, receive: Receive) -> Receive:
    """What receives a body that is here already, then only the end of the connection."""
    given = False

    async def receive_whole() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_whole
