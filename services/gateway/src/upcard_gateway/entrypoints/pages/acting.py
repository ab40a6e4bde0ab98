"""Staff's actions: each an event before anything is done, and one with what came of it."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

import grpc.aio
import structlog
from google.protobuf.message import Message

from eventstore import Appended, Expect, StreamAppend
from eventstore.answers import (
    Answer,
    AnswerKey,
    RequestIdReused,
    RequestUnderWay,
    begin,
    digest,
    find_answers,
    finish,
)
from eventstore.postgres import Connection, append_in_transaction
from servicekit.answering import fit_correlation_id
from servicekit.grpc import failure_of
from upcard_gateway.app.recording import Recorder
from upcard_gateway.domain.staff import (
    EVENT_TYPES,
    StaffActionAnswered,
    StaffActionAsked,
    staff_stream,
)
from upcard_gateway.entrypoints.http.edge import Edge
from upcard_gateway.entrypoints.pages.member import Member
from upcard_gateway.entrypoints.pages.problems import PageProblem

__all__ = ["LONGEST_REASON", "acted", "checked_reason", "result_of"]

LONGEST_REASON: Final = 500
_is_request_id: Final = re.compile(r"[A-Za-z0-9_-]{8,64}").fullmatch
_LONGEST_SUBJECT: Final = 200
_LONGEST_RESULT: Final = 200

T = TypeVar("T")

_log = structlog.get_logger("upcard.gateway.pages")


async def acted(  # noqa: PLR0913 - all of it is what the log says of an action
    edge: Edge,
    member: Member,
    *,
    action: str,
    subject: str,
    reason: str,
    request_id: str,
    work: Callable[[], Awaitable[T]],
    told: Callable[[T], str] | None = None,
    again: Callable[[], Awaitable[T]] | None = None,
) -> T:
    """Do what a member asked for, with who, when and why in the log before it, and what came of it behind.

    `work` hands `request_id` on to what it calls, which is what makes a repeated post one action: here it is
    recorded once, and there it is done once. `told` gives the result's words; None: `result_of`. `again`:
    where what is done is done here, what is given in its place for a post that was answered before.

    Raises PageProblem (an id or a reason that is none, or an id that came with another action), or what
    `work` does, once that is recorded.
    """
    if not _is_request_id(request_id):
        raise PageProblem(400, "frame.form_unreadable")
    subject = subject[:_LONGEST_SUBJECT]
    asked = StaffActionAsked(member.staff, member.session, action, subject, reason, request_id)
    fresh = await _recorded(edge, member, asked, f"{action}\n{subject}\n{reason}", "asked")
    if again is not None and not fresh and await _was_answered(edge, member, request_id):
        return await again()
    try:
        result = await work()
    except PageProblem as problem:
        await _answered(edge, member, asked, f"refused: {problem.code}", final=True)
        raise
    except grpc.aio.AioRpcError as error:
        failure = failure_of(error)
        words = f"failed: {failure.reason or failure.code.name.lower()}"
        await _answered(edge, member, asked, words, final=not failure.may_pass)
        raise
    except Exception as error:
        await _answered(edge, member, asked, f"failed: {type(error).__name__}", final=False)
        raise
    await _answered(edge, member, asked, (told or result_of)(result), final=True)
    return result


def result_of(result: object) -> str:
    """What came of an action: the refusal that an answer of a service has, or `done`."""
    if isinstance(result, Message) and "refusal" in result.DESCRIPTOR.fields_by_name:
        whole: Any = result
        if whole.HasField("refusal"):
            return f"refused: {getattr(whole.refusal, 'reason', '') or 'refused'}"
    return "done"


def checked_reason(form: dict[str, str], *, least: int = 3) -> str:
    """The reason that a form gives. Raises PageProblem: it is missing, too long, or not text."""
    reason = " ".join(form.get("reason", "").split())
    if not least <= len(reason) <= LONGEST_REASON or not reason.isprintable():
        raise PageProblem(422, "frame.reason_wanted", least=least, most=LONGEST_REASON)
    return reason


async def _answered(edge: Edge, member: Member, asked: StaffActionAsked, result: str, *, final: bool) -> None:
    """Record what came of it; what may pass is recorded each time, what is final once."""
    event = StaffActionAnswered(member.staff, asked.action, asked.request_id, result[:_LONGEST_RESULT])
    await _recorded(edge, member, event, "answered", "answered" if final else "")


async def _recorded(
    edge: Edge, member: Member, event: StaffActionAsked | StaffActionAnswered, body: str, once: str
) -> bool:
    """Append an event; False: it was there, and nothing was appended."""
    recorder = Recorder(EVENT_TYPES, now=edge.now)
    made = recorder.event(
        staff_stream(member.staff),
        event,
        actor=f"staff:{member.staff}",
        correlation_id=fit_correlation_id(),
    )
    append = StreamAppend(staff_stream(member.staff), Expect.ANY, [made])
    key = _key(member, once, event.request_id)
    try:
        async with edge.pool.acquire() as connection, connection.transaction():
            appended = await _once(connection, key if once else None, body, append)
    except RequestIdReused:
        raise PageProblem(409, "frame.request_reused") from None
    except RequestUnderWay:
        raise PageProblem(409, "frame.request_under_way") from None
    if appended:
        edge.store.announce(appended)
    return bool(appended)


async def _was_answered(edge: Edge, member: Member, request_id: str) -> bool:
    """Whether what came of a member's action is recorded for good."""
    key = _key(member, "answered", request_id)
    async with edge.pool.acquire() as connection:
        return bool(await find_answers(connection, [key]))


def _key(member: Member, once: str, request_id: str) -> AnswerKey:
    return AnswerKey(f"staff:{member.staff}", f"action {once}", request_id)


async def _once(
    connection: Connection, key: AnswerKey | None, body: str, append: StreamAppend
) -> tuple[Appended, ...]:
    if key is not None:
        if isinstance(await begin(connection, key, digest(body.encode())), Answer):
            return ()
        await finish(connection, key, b"recorded")
    return await append_in_transaction(connection, [append])
