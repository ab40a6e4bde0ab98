"""Answering a mutating call once: effect, events and answer in one transaction, and repeated from there.

A call is told apart by who asks, its method and its `request_id`; the same again gets the stored answer, with
another body it is refused. What a service's handlers need for it is an `Answering`, made once at its start.
All functions work inside of a call that `servicekit.grpc` serves.
"""

from __future__ import annotations

import asyncio
import re
import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeVar

import grpc
import structlog
from google.protobuf.message import Message

from eventstore import Appended, StreamAppend, faults
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
from eventstore.postgres import Connection, Pool, append_in_transaction
from servicekit.context import correlation_id, new_correlation_id
from servicekit.grpc import LOG_ERRORS, Call, CallError, ErrorMap, current_call

__all__ = [
    "ANSWER_ERRORS",
    "COME_AGAIN_S",
    "Answering",
    "Repeatable",
    "answer_once",
    "bind_request",
    "body_digest_of",
    "business_key_of",
    "database_unavailable",
    "find_answer",
    "fit_correlation_id",
    "invalid",
    "keep_answer",
    "key_of",
    "read",
    "serving",
    "who_acts",
]

COME_AGAIN_S: Final = 0.2
"""When a caller who was told to come again comes again."""

_TRIES: Final = 6
_FIRST_PAUSE_S: Final = 0.02
_LONGEST_PAUSE_S: Final = 0.5

_CORRELATIONS: Final = uuid.UUID("0d1b9c0e-6f64-4c39-8a8c-0d5f5a3b7a52")
_is_opaque = re.compile("[A-Za-z0-9_-]{1,64}").fullmatch

R = TypeVar("R", bound=Message)
T = TypeVar("T")

_log = structlog.get_logger("servicekit.answering")


class Repeatable(Protocol):
    """A request that changes something."""

    request_id: str

    def SerializeToString(self, *, deterministic: bool = ...) -> bytes:  # noqa: N802 - protobuf's name
        """Its bytes."""
        ...


@dataclass(frozen=True, slots=True)
class Answering:
    """What a service answers its calls with."""

    service: str
    """Its name: its fault points are `<service>.call.before_commit` and `<service>.call.committed`."""
    pool: Pool
    announce: Callable[[Sequence[Appended]], None]
    """Wakes the log's readers after a commit."""
    again: tuple[type[Exception], ...] = ()
    """What trying again may mend, beside a database that is away for a moment: the transaction is rolled back
    and begun anew."""


def serving() -> Call:
    """The call that is being served. Raises RuntimeError outside of one."""
    call = current_call()
    if call is None:
        raise RuntimeError("outside of a call")
    return call


def who_acts() -> str:
    """The signed actor as events name it (`player:<id>`, …); `system` where a service acts for itself."""
    context = serving().context
    return "system" if context is None else str(context.actor)


def fit_correlation_id(given: str | None = None) -> str:
    """A correlation id as events take it: the given one, else this call's, or one that is made of it."""
    given = given or correlation_id()
    if not given:
        return new_correlation_id()
    return given if _is_opaque(given) else str(uuid.uuid5(_CORRELATIONS, given))


def key_of(request: Repeatable) -> AnswerKey:
    """What the answer to this call is kept under. Raises CallError for an impossible `request_id`."""
    call = serving()
    try:
        return AnswerKey(call.asker, call.method.rpartition("/")[2], request.request_id)
    except ValueError as error:
        raise invalid(f"request_id: {error}") from None


def business_key_of(request: Repeatable) -> str:
    """What makes a payment this one and no other, also when its answer is not kept any more."""
    return f"{serving().asker}/{request.request_id}"


def body_digest_of(request: Repeatable) -> bytes:
    """What tells whether it is the same request."""
    return digest(request.SerializeToString(deterministic=True))


async def answer_once(
    answering: Answering,
    request: Repeatable,
    kind: type[R],
    work: Callable[[Connection], Awaitable[tuple[R, Sequence[StreamAppend]]]],
) -> R:
    """The answer to a call: the stored one, or what `work` gives, which is stored with its effect.

    `work` runs in the transaction of answer and events; it may run again after a rollback. A second call
    while the first one runs waits for it. Raises RequestIdReused, RequestUnderWay, CallError (the database is
    away).
    """
    key, body = key_of(request), body_digest_of(request)

    async def once() -> R:
        appended: Sequence[Appended] = ()
        async with answering.pool.acquire() as connection:
            async with connection.transaction():
                found = await begin(connection, key, body)
                if isinstance(found, Answer):
                    return kind.FromString(found.answer)
                answer, appends = await work(connection)
                await finish(connection, key, answer.SerializeToString(deterministic=True))
                if appends:
                    appended = await append_in_transaction(connection, appends)
                faults.reach(f"{answering.service}.call.before_commit")
            faults.reach(f"{answering.service}.call.committed")
        if appended:
            answering.announce(appended)
        return answer

    return await _patiently(answering, once)


async def read(answering: Answering, work: Callable[[Connection], Awaitable[T]]) -> T:
    """Read in one view of the database; nothing can be written. Raises CallError (the database is away)."""

    async def once() -> T:
        async with (
            answering.pool.acquire() as connection,
            connection.transaction(isolation="repeatable_read", readonly=True),
        ):
            return await work(connection)

    return await _patiently(answering, once)


async def find_answer(answering: Answering, request: Repeatable, kind: type[R]) -> R | None:
    """The stored answer to a call. Raises RequestIdReused, CallError (the database is away)."""
    key, body = key_of(request), body_digest_of(request)

    async def once() -> R | None:
        async with answering.pool.acquire() as connection:
            found = await find_answers(connection, [key])
        return kind.FromString(found[key].checked(key, body)) if key in found else None

    return await _patiently(answering, once)


async def bind_request(answering: Answering, request: Repeatable, kind: type[R]) -> R | None:
    """Bind a call's `request_id` to its body, before any of its effects, which come apart.

    Gives the answer that was kept of the same call before, if there is one. Of two calls at once with one id
    and other bodies only one goes on. The commit is not waited for: the effects begin with one of the same
    database, which makes this one durable with it. Raises RequestIdReused, CallError (the database is away).
    """
    answered = key_of(request)
    key = AnswerKey(answered.caller, f"{answered.method}, the body", answered.request_id)
    body = body_digest_of(request)

    async def once() -> R | None:
        async with answering.pool.acquire() as connection, connection.transaction():
            await connection.execute("SET LOCAL synchronous_commit = off")
            if isinstance(await begin(connection, key, body), Fresh):
                await finish(connection, key, b"bound")
                return None
            found = await find_answers(connection, [answered])
            return kind.FromString(found[answered].checked(answered, body)) if found else None

    return await _patiently(answering, once)


async def keep_answer(answering: Answering, request: Repeatable, answer: R) -> R:
    """Store the answer to a call whose effect is durable already, and found again by ids of its own.

    Gives the first answer where another call has stored one meanwhile. When the database is away nothing is
    kept: the same call again finds the effect and makes the answer anew; so the commit is not waited for
    either.
    """
    key, body = key_of(request), body_digest_of(request)
    try:
        async with answering.pool.acquire() as connection, connection.transaction():
            await connection.execute("SET LOCAL synchronous_commit = off")
            await store_answers(
                connection, [NewAnswer(key, body, answer.SerializeToString(deterministic=True))]
            )
    except AnswerExists:
        found = await find_answer(answering, request, type(answer))
        return answer if found is None else found
    except PASSING as error:
        _log.warning("an answer is not kept", method=key.method, why=type(error).__name__)
    return answer


async def _patiently(answering: Answering, once: Callable[[], Awaitable[T]]) -> T:
    """Try again what may be mended by that, while there is time for it.

    It is safe: what was stored meanwhile is found as the call's answer.
    """
    call = serving()
    again: tuple[type[Exception], ...] = (*answering.again, *PASSING)
    pause_s = _FIRST_PAUSE_S
    for attempt in range(1, _TRIES + 1):
        try:
            return await once()
        except again as error:
            if attempt == _TRIES or call.remaining_s() <= pause_s:
                raise database_unavailable() from error
        await asyncio.sleep(pause_s)
        pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
    raise AssertionError("the last attempt returns or raises")


def invalid(what: str) -> CallError:
    """A request that no right program sends; it has changed nothing."""
    return CallError(grpc.StatusCode.INVALID_ARGUMENT, "invalid_argument", what)


def database_unavailable() -> CallError:
    """The database did not answer in time, or answered that it cannot now."""
    return CallError(
        grpc.StatusCode.UNAVAILABLE,
        "database_unavailable",
        "it may have been done; ask again with the same request_id",
        retry_after_s=COME_AGAIN_S,
    )


def _says(
    code: grpc.StatusCode, reason: str, message: str, retry_after_s: float | None = None
) -> Callable[[Exception], CallError]:
    return lambda _: CallError(code, reason, message, retry_after_s=retry_after_s)


ANSWER_ERRORS: Final[ErrorMap] = {
    **LOG_ERRORS,
    RequestIdReused: _says(
        grpc.StatusCode.INVALID_ARGUMENT,
        RequestIdReused.slug,
        "this request_id came before, with another body",
    ),
    RequestUnderWay: _says(
        grpc.StatusCode.UNAVAILABLE,
        RequestUnderWay.slug,
        "the same request is still under way; ask again with the same request_id",
        COME_AGAIN_S,
    ),
}
"""The log's errors and those of answering: the `known_errors` of a service that answers so."""
