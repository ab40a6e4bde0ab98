"""Answering a call once: effect, events and answer are stored in one transaction, and repeated from there."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeVar

import structlog
from google.protobuf.message import Message

from eventstore import Appended, StreamAppend
from eventstore.answers import (
    Answer,
    AnswerExists,
    AnswerKey,
    Fresh,
    NewAnswer,
    begin,
    digest,
    find_answers,
    finish,
    store_answers,
)
from eventstore.coordination.outages import PASSING
from eventstore.postgres import Connection, Pool, append_in_transaction
from servicekit.context import correlation_id, new_correlation_id
from servicekit.grpc import Call, current_call
from upcard_wallet.app.adjustments import Adjustments, DecidedMeanwhile
from upcard_wallet.app.ports import HoldExists
from upcard_wallet.app.wallet import Origin, Wallet
from upcard_wallet.domain.ids import is_opaque_id
from upcard_wallet.entrypoints.faults import reach
from upcard_wallet.entrypoints.grpc.errors import database_unavailable, invalid

_TRIES: Final = 6
_FIRST_PAUSE_S: Final = 0.02
_LONGEST_PAUSE_S: Final = 0.5
_AGAIN: Final = (DecidedMeanwhile, HoldExists, *PASSING)
"""What trying again may mend. It is safe: what was stored meanwhile is found as the call's answer."""

_CORRELATIONS: Final = uuid.UUID("0d1b9c0e-6f64-4c39-8a8c-0d5f5a3b7a52")

R = TypeVar("R", bound=Message)
T = TypeVar("T")

_log = structlog.get_logger("upcard_wallet.grpc")


class Repeatable(Protocol):
    """A request that changes something."""

    request_id: str

    def SerializeToString(self, *, deterministic: bool = ...) -> bytes:  # noqa: N802 - protobuf's name
        """Its bytes."""
        ...


@dataclass(frozen=True, slots=True)
class Desk:
    """What all calls stand on."""

    wallet: Wallet
    adjustments: Adjustments
    pool: Pool
    announce: Callable[[Sequence[Appended]], None]
    """Wakes the log's readers after a commit."""


def serving() -> Call:
    """The call that is being served."""
    call = current_call()
    if call is None:
        raise RuntimeError("outside of a call")
    return call


def origin() -> Origin:
    """Who acts, for the events of a call: the signed actor, else the service itself."""
    context = serving().context
    return Origin("system" if context is None else str(context.actor), fit_correlation_id(correlation_id()))


def fit_correlation_id(given: str | None) -> str:
    """A correlation id as events take it: the given one, or one that is made of it, or a new one."""
    if not given:
        return new_correlation_id()
    return given if is_opaque_id(given) else str(uuid.uuid5(_CORRELATIONS, given))


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
    desk: Desk,
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
        async with desk.pool.acquire() as connection:
            async with connection.transaction():
                found = await begin(connection, key, body)
                if isinstance(found, Answer):
                    return kind.FromString(found.answer)
                answer, appends = await work(connection)
                await finish(connection, key, answer.SerializeToString(deterministic=True))
                if appends:
                    appended = await append_in_transaction(connection, appends)
                reach("wallet.call.before_commit")
            reach("wallet.call.committed")
        if appended:
            desk.announce(appended)
        return answer

    return await _patiently(once)


async def read(desk: Desk, work: Callable[[Connection], Awaitable[T]]) -> T:
    """Read in one view of the database."""

    async def once() -> T:
        async with (
            desk.pool.acquire() as connection,
            connection.transaction(isolation="repeatable_read", readonly=True),
        ):
            return await work(connection)

    return await _patiently(once)


async def find_answer(desk: Desk, request: Repeatable, kind: type[R]) -> R | None:
    """The stored answer to a call. Raises RequestIdReused."""
    key, body = key_of(request), body_digest_of(request)

    async def once() -> R | None:
        async with desk.pool.acquire() as connection:
            found = await find_answers(connection, [key])
        return kind.FromString(found[key].checked(key, body)) if key in found else None

    return await _patiently(once)


async def bind_request(desk: Desk, request: Repeatable) -> None:
    """Bind a call's `request_id` to its body, durably, before any of its effects, which come apart.

    Of two calls at once with one id and other bodies only one goes on. Raises RequestIdReused.
    """
    answered = key_of(request)
    key = AnswerKey(answered.caller, f"{answered.method}, the body", answered.request_id)
    body = body_digest_of(request)

    async def once() -> None:
        async with desk.pool.acquire() as connection, connection.transaction():
            if isinstance(await begin(connection, key, body), Fresh):
                await finish(connection, key, b"bound")

    await _patiently(once)


async def keep_answer(desk: Desk, request: Repeatable, answer: R) -> R:
    """Store the answer to a call whose effect is durable already, and found again by ids of its own.

    Gives the first answer where another call has stored one meanwhile. When the database is away nothing is
    kept: the same call again finds the effect and makes the answer anew; so the commit is not waited for
    either.
    """
    key, body = key_of(request), body_digest_of(request)
    try:
        async with desk.pool.acquire() as connection, connection.transaction():
            await connection.execute("SET LOCAL synchronous_commit = off")
            await store_answers(
                connection, [NewAnswer(key, body, answer.SerializeToString(deterministic=True))]
            )
    except AnswerExists:
        found = await find_answer(desk, request, type(answer))
        return answer if found is None else found
    except PASSING as error:
        _log.warning("an answer is not kept", method=key.method, why=type(error).__name__)
    return answer


async def _patiently(once: Callable[[], Awaitable[T]]) -> T:
    """Try again what may be mended by that, while there is time for it."""
    call = serving()
    pause_s = _FIRST_PAUSE_S
    for attempt in range(1, _TRIES + 1):
        try:
            return await once()
        except _AGAIN as error:
            if attempt == _TRIES or call.remaining_s() <= pause_s:
                raise database_unavailable() from error
        await asyncio.sleep(pause_s)
        pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
    raise AssertionError("the last attempt returns or raises")
