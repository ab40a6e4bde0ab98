"""Sending calls: signed anew for each attempt, repeated with the same bytes, within bounds."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from random import Random
from typing import Final, TypeVar
from urllib.parse import quote, urlencode

import httpx
from pydantic import BaseModel, ValidationError

from upcard_platform.client_errors import NoAnswer, PlatformError, Refused, UnreadableAnswer
from upcard_platform.problems import MEDIA_TYPE, ProblemBody
from upcard_platform.signing import Signer, signed_headers, stamp

A = TypeVar("A", bound=BaseModel)
Value = str | int | bool | dt.date | None
"""A date is written as such, a moment as the API writes moments; None is left out."""
Query = Mapping[str, Value]

LONGEST_ANSWER: Final = 32 * 1_048_576
"""Bytes of an answer that are read at the most."""
_PASSING: Final = frozenset(
    {HTTPStatus.BAD_GATEWAY, HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.GATEWAY_TIMEOUT}
)
"""What something between says while Upcard cannot be reached."""
_EXCERPT: Final = 200
_TICK: Final = dt.timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Patience:
    """How long and how often a call is tried, the first time included."""

    attempts: int = 5
    in_all_s: float = 30.0
    """Longest that a call may take with all its attempts, in seconds."""
    each_s: float = 10.0
    """Longest that one attempt may take, in seconds."""
    first_pause_s: float = 0.2
    """Pause before the second attempt; it doubles, and up to half of it is taken off by chance."""
    longest_pause_s: float = 5.0

    def __post_init__(self) -> None:
        if (
            self.attempts < 1
            or min(self.in_all_s, self.each_s, self.first_pause_s, self.longest_pause_s) <= 0
        ):
            raise ValueError("patience needs one attempt or more, and times of more than 0 seconds")


@dataclass(frozen=True, slots=True)
class _Call:
    """One call, the same bytes at each attempt."""

    method: str
    target: str
    body: bytes
    repeatable: bool

    def __str__(self) -> str:
        return f"{self.method} {self.target.partition('?')[0]}"


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    kind: str
    body: bytes


class Calls:
    """Sends calls to one address. Not for the threads of several event loops.

    `now`, `pause` and `random` are there for tests.
    """

    def __init__(
        self,
        client: httpx.AsyncClient,
        signer: Signer,
        patience: Patience,
        *,
        now: Callable[[], dt.datetime] = lambda: dt.datetime.now(dt.UTC),
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
        random: Random | None = None,
    ) -> None:
        self._client = client
        self._signer = signer
        self._patience = patience
        self._now = now
        self._last = dt.datetime.min.replace(tzinfo=dt.UTC)
        self._pause = pause
        self._random = random or Random()  # noqa: S311 - it spreads pauses and decides nothing else

    async def get(self, path: str, answer: type[A], query: Query | None = None) -> A:
        """Ask. Raises PlatformError."""
        return await self._answered(_Call("GET", _target(path, query), b"", repeatable=True), answer)

    async def post(self, path: str, request: BaseModel, answer: type[A]) -> A:
        """Have something done; repeated only if the request has a `request_id`. Raises PlatformError."""
        body = request.model_dump_json(exclude_none=True).encode()
        repeatable = bool(getattr(request, "request_id", None))
        return await self._answered(_Call("POST", _target(path, None), body, repeatable), answer)

    async def lines(self, path: str, query: Query | None = None) -> AsyncIterator[str]:
        """The lines of a CSV, as they come; begun once, since a part of it was perhaps used already.

        Raises PlatformError, also in the midst of it: then the lines so far are not all of them.
        """
        call = _Call("GET", _target(path, query), b"", repeatable=False)
        try:
            async with self._sent(call) as response:
                if response.status_code != HTTPStatus.OK:
                    self._raise_refused(call, await _read(call, response))
                async for line in response.aiter_lines():
                    yield line
        except httpx.TransportError as error:
            raise NoAnswer(str(call), 1, _named(error)) from error

    async def text(self, path: str, kind: str, query: Query | None = None) -> str:
        """A page, such as the rules; `kind` is the media type that is asked for. Raises PlatformError."""
        call = _Call("GET", _target(path, query), b"", repeatable=True)
        return (await self._tried(call, kind)).body.decode()

    async def _answered(self, call: _Call, answer: type[A]) -> A:
        found = await self._tried(call, "application/json")
        try:
            return answer.model_validate_json(found.body)
        except ValidationError as error:
            why = "; ".join(f"{one['loc']}: {one['msg']}" for one in error.errors()[:3])
            raise UnreadableAnswer(str(call), found.status, why) from error

    async def _tried(self, call: _Call, kind: str) -> _Answer:
        """The first answer that is one. Raises PlatformError."""
        patience, loop = self._patience, asyncio.get_running_loop()
        deadline = loop.time() + patience.in_all_s
        for attempt in range(1, patience.attempts + 1):
            wait_s = 0.0
            try:
                return await self._once(call, kind, min(patience.each_s, deadline - loop.time()))
            except (httpx.TransportError, TimeoutError) as error:
                failure: PlatformError = NoAnswer(str(call), attempt, _named(error))
                failure.__cause__ = error
            except Refused as refused:
                if refused.problem.retry != "same_request":
                    raise
                failure, wait_s = refused, refused.problem.retry_after_s or 0.0
            except NoAnswer as nobody:
                failure = NoAnswer(str(call), attempt, str(nobody.args[0]))
            pause_s = max(wait_s, self._pause_before(attempt + 1))
            if not call.repeatable or attempt == patience.attempts or loop.time() + pause_s >= deadline:
                raise failure
            await self._pause(pause_s)
        raise AssertionError("the last attempt returns or raises")

    async def _once(self, call: _Call, kind: str, within_s: float) -> _Answer:
        async with asyncio.timeout(within_s), self._sent(call, kind) as response:
            found = await _read(call, response)
        if not 200 <= found.status < 300:
            self._raise_refused(call, found)
        return found

    @contextlib.asynccontextmanager
    async def _sent(self, call: _Call, kind: str = "*/*") -> AsyncIterator[httpx.Response]:
        headers = signed_headers(self._signer, call.method, call.target, call.body, self._moment())
        headers["Accept"] = kind
        if call.body:
            headers["Content-Type"] = "application/json"
        request = self._client.build_request(call.method, call.target, headers=headers, content=call.body)
        if request.url.raw_path.decode() != call.target:
            raise ValueError(
                f"{call.target!r} would be sent as {request.url.raw_path!r}, which is not what was signed"
            )
        response = await self._client.send(request, stream=True)
        try:
            yield response
        finally:
            await response.aclose()

    def _moment(self) -> dt.datetime:
        """Now, later than ever before: two equal signatures would look like one request that is replayed."""
        self._last = max(self._now(), self._last + _TICK)
        return self._last

    @staticmethod
    def _raise_refused(call: _Call, answer: _Answer) -> None:
        if answer.kind == MEDIA_TYPE:
            try:
                raise Refused(ProblemBody.model_validate_json(answer.body))
            except ValidationError as error:
                raise UnreadableAnswer(str(call), answer.status, "a problem that is none") from error
        if answer.status in _PASSING:
            raise NoAnswer(str(call), 1, f"status {answer.status} of something between")
        excerpt = answer.body[:_EXCERPT].decode(errors="replace")
        raise UnreadableAnswer(
            str(call), answer.status, f"no problem in JSON, but {answer.kind!r}: {excerpt!r}"
        )

    def _pause_before(self, attempt: int) -> float:
        whole = min(self._patience.longest_pause_s, self._patience.first_pause_s * 2.0 ** (attempt - 2))
        return whole * (1 - self._random.random() / 2)


def path_of(*segments: str) -> str:
    """`/v1/…` of these segments, each escaped. Raises ValueError for one that names no place of its own."""
    if any(segment in {"", ".", ".."} for segment in segments):
        raise ValueError(f"an id may not be empty, . or ..: {segments!r}")
    return "/v1/" + "/".join(quote(segment, safe="") for segment in segments)


def _target(path: str, query: Query | None) -> str:
    given = {name: _text(value) for name, value in (query or {}).items() if value is not None}
    return f"{path}?{urlencode(given, quote_via=quote)}" if given else path


def _text(value: Value) -> str:
    if isinstance(value, dt.datetime):
        return stamp(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


async def _read(call: _Call, response: httpx.Response) -> _Answer:
    parts, size = [], 0
    async for part in response.aiter_bytes():
        size += len(part)
        if size > LONGEST_ANSWER:
            raise UnreadableAnswer(str(call), response.status_code, f"more than {LONGEST_ANSWER} bytes")
        parts.append(part)
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    return _Answer(response.status_code, kind, b"".join(parts))


def _named(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
