"""Answering a mutating call once over HTTP: the original answer, byte for byte, to each repetition.

By where the effect is. In our own database: `answered_once`, which has effect, events and answer in one
transaction. In a service, found again by ids of its own: `bound` before it, `kept` after it.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

import structlog
from fastapi import Response
from pydantic import BaseModel

from eventstore import Appended, StreamAppend, VersionConflict, faults
from eventstore.answers import (
    Answer,
    AnswerExists,
    AnswerKey,
    Fresh,
    NewAnswer,
    RequestIdReused,
    RequestUnderWay,
    begin,
    digest,
    find_answers,
    finish,
    store_answers,
)
from eventstore.coordination.outages import PASSING
from eventstore.postgres import Connection, append_in_transaction
from upcard_gateway.entrypoints.http.problems import Problem

if TYPE_CHECKING:
    from upcard_gateway.entrypoints.http.edge import Caller, Edge

__all__ = ["answered_once", "bound", "bound_to", "canonical", "derived_request_id", "json_answer", "kept"]

_TRIES: Final = 6
_FIRST_PAUSE_S: Final = 0.02
_LONGEST_PAUSE_S: Final = 0.5
_AGAIN: Final[tuple[type[Exception], ...]] = (VersionConflict, *PASSING)

T = TypeVar("T")
Work = Callable[[Connection], Awaitable[tuple[bytes, Sequence[StreamAppend]]]]
"""Does what is asked, in the transaction that it is given: the answer's bytes, and the events of it."""

_log = structlog.get_logger("upcard.gateway.answering")


async def answered_once(
    edge: Edge, caller: Caller, route: str, request_id: str, body_bytes: bytes, work: Work
) -> bytes:
    """The answer to a call: the stored one, or what `work` gives, stored with its effect and its events.

    `route` is method and path template, such as `POST /v1/sessions`; `body_bytes` tell whether it is the same
    request (`canonical`). `work` may run again after a rollback, so it does nothing that a rollback does not
    undo; a Problem that it raises is not stored. Raises Problem.
    """
    key = _key(caller, route, request_id)

    async def once() -> bytes:
        appended: Sequence[Appended] = ()
        async with edge.pool.acquire() as connection:
            async with connection.transaction():
                found = await begin(connection, key, digest(body_bytes))
                if isinstance(found, Answer):
                    return found.answer
                answer, appends = await work(connection)
                await finish(connection, key, answer)
                if appends:
                    appended = await append_in_transaction(connection, appends)
                faults.reach("gateway.call.before_commit")
            faults.reach("gateway.call.committed")
        if appended:
            edge.store.announce(appended)
        return answer

    return await _patiently(once, request_id)


async def bound(edge: Edge, caller: Caller, route: str, request_id: str, body_bytes: bytes) -> bytes | None:
    """Bind a `request_id` to its body, before effects that come apart; the stored answer if there is one.

    Of two calls with one id and other bodies only one goes on. Raises Problem.
    """
    answered = _key(caller, route, request_id)
    key = AnswerKey(answered.caller, f"{route}, the body", request_id)
    body = digest(body_bytes)

    async def once() -> bytes | None:
        async with edge.pool.acquire() as connection, connection.transaction():
            if isinstance(await begin(connection, key, body), Fresh):
                await finish(connection, key, b"bound")
                return None
            found = await find_answers(connection, [answered])
            return found[answered].checked(answered, body) if found else None

    return await _patiently(once, request_id)


async def bound_to(
    edge: Edge,
    caller: Caller,
    route: str,
    request_id: str,
    body_bytes: bytes,
    made: Callable[[], Awaitable[str]],
) -> tuple[bytes | None, str]:
    """As `bound`, with a text that the first try has made: later ones get it, whatever has changed since.

    So what a first try was allowed to begin can be brought to its end. Raises Problem, and what `made` does.
    """
    answered = _key(caller, route, request_id)
    key = AnswerKey(answered.caller, f"{route}, the body", request_id)
    body = digest(body_bytes)

    async def before() -> Answer | None:
        async with edge.pool.acquire() as connection:
            return (await find_answers(connection, [key])).get(key)

    earlier = await _patiently(before, request_id)
    text = await made() if earlier is None else ""

    async def once() -> tuple[bytes | None, str]:
        async with edge.pool.acquire() as connection, connection.transaction():
            binding = await begin(connection, key, body)
            if isinstance(binding, Fresh):
                await finish(connection, key, text.encode())
                return None, text
            found = await find_answers(connection, [answered])
            stored = found[answered].checked(answered, body) if found else None
            return stored, binding.answer.decode()

    return await _patiently(once, request_id)


async def kept(
    edge: Edge, caller: Caller, route: str, request_id: str, body_bytes: bytes, answer: bytes
) -> bytes:
    """Store the answer to a call whose effect is durable; the first one, where another call stored one.

    Raises Problem: the same call again finds the effect and makes the answer anew.
    """
    key = _key(caller, route, request_id)
    body = digest(body_bytes)

    async def once() -> bytes:
        try:
            async with edge.pool.acquire() as connection, connection.transaction():
                await store_answers(connection, [NewAnswer(key, body, answer)])
        except AnswerExists:
            async with edge.pool.acquire() as connection:
                found = await find_answers(connection, [key])
            return found[key].checked(key, body) if key in found else answer
        return answer

    return await _patiently(once, request_id)


def canonical(body: BaseModel, **of_path: str) -> bytes:
    """What tells whether it is the same request: its members in order, and those of its path."""
    whole: dict[str, Any] = {"body": body.model_dump(mode="json"), "path": of_path}
    return json.dumps(whole, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def derived_request_id(caller: Caller, route: str, request_id: str, step: str = "") -> str:
    """The `request_id` of a service's call that this call makes: the same for each repetition, no other's."""
    parts = json.dumps([caller.operator, route, request_id, step], separators=(",", ":"))
    return f"g-{hashlib.sha256(parts.encode()).hexdigest()[:48]}"


def json_answer(content: bytes | BaseModel) -> Response:
    """Bytes, or a model, as the answer of a route."""
    data = content if isinstance(content, bytes) else content.model_dump_json().encode()
    return Response(data, media_type="application/json")


def _key(caller: Caller, route: str, request_id: str) -> AnswerKey:
    return AnswerKey(f"operator:{caller.operator}", route, request_id)


async def _patiently(once: Callable[[], Awaitable[T]], request_id: str) -> T:
    """Try again what may be mended by that: what was stored meanwhile is found as the call's answer."""
    pause_s = _FIRST_PAUSE_S
    for attempt in range(1, _TRIES + 1):
        try:
            return await once()
        except RequestIdReused:
            detail = "this request_id came before, with another body; nothing was done"
            raise Problem("request_id_reused", detail, request_id=request_id) from None
        except RequestUnderWay:
            detail = "the same request is still being served; ask again with the same request_id"
            raise Problem("request_under_way", detail, request_id=request_id) from None
        except _AGAIN as error:
            if attempt == _TRIES:
                _log.warning("the database does not answer", why=type(error).__name__)
                detail = "the database does not answer now; ask again with the same request_id"
                raise Problem("unavailable", detail, request_id=request_id) from error
        await asyncio.sleep(pause_s)
        pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
    raise AssertionError("the last attempt returns or raises")
