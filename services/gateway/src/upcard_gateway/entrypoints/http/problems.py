"""Problems: raised anywhere in a route, answered as `application/problem+json` (RFC 9457)."""

from __future__ import annotations

import math
from typing import Any, Final

import grpc.aio
from fastapi import Response

from servicekit.grpc import failure_of
from upcard_platform.problems import MEDIA_TYPE, PROBLEMS, URN, Money, ProblemBody

__all__ = ["COME_AGAIN_S", "Problem", "answer", "as_problem", "body_of", "responses"]

COME_AGAIN_S: Final = 0.5
"""When a caller who may try the same again does so, where nothing else is known."""


class Problem(Exception):
    """A call that is not done. `code` is one of `upcard_platform.problems.PROBLEMS`, which has the rest.

    `detail` says what it is this time, for the platform's programmer; nothing secret. `extra` are members
    beside those of each problem, such as `limit=…`. Raises KeyError for a code that nobody has declared.
    """

    def __init__(
        self,
        code: str,
        detail: str,
        *,
        money: Money | None = None,
        retry_after_s: float | None = None,
        request_id: str | None = None,
        headers: dict[str, str] | None = None,
        **extra: Any,  # noqa: ANN401 - whatever JSON has
    ) -> None:
        kind = PROBLEMS[code]
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail
        self.status = kind.status
        self.money: Money = money or kind.money
        if retry_after_s is None and kind.retry == "same_request":
            retry_after_s = COME_AGAIN_S
        self.retry_after_s = retry_after_s
        self.request_id = request_id
        self.headers = headers or {}
        self.extra = extra


def body_of(problem: Problem, instance: str | None = None) -> ProblemBody:
    """A problem as it is answered; `instance`: the id under which our log knows it."""
    kind = PROBLEMS[problem.code]
    return ProblemBody(
        type=f"{URN}{problem.code}",
        title=kind.title,
        status=kind.status,
        detail=problem.detail,
        code=problem.code,
        money=problem.money,
        retry=kind.retry,
        retry_after_s=problem.retry_after_s,
        request_id=problem.request_id,
        instance=instance,
        **problem.extra,
    )


def answer(problem: Problem, instance: str | None = None) -> Response:
    """The answer that says it."""
    headers = dict(problem.headers)
    if problem.retry_after_s is not None:
        headers["Retry-After"] = str(max(1, math.ceil(problem.retry_after_s)))
    return Response(
        body_of(problem, instance).model_dump_json(exclude_none=True),
        status_code=problem.status,
        media_type=MEDIA_TYPE,
        headers=headers,
    )


def as_problem(error: grpc.aio.AioRpcError, *, money: Money = "unknown") -> Problem:
    """What a failed call to a service means to the platform.

    `money`: what may have happened to it; a call that only reads says `none_moved`. A failure that will not
    pass by itself is ours: `internal`.
    """
    failure = failure_of(error)
    if failure.reason == "request_id_reused":
        return Problem(
            "request_id_reused", "this request_id came before, with another body; nothing was done"
        )
    if failure.may_pass or error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED:
        return Problem(
            "unavailable",
            "a service behind the edge does not answer now; ask again with the same request_id",
            money=money,
            retry_after_s=failure.retry_after_s or COME_AGAIN_S,
        )
    return Problem("internal", "a service behind the edge refused a call of ours", money=money)


_OF_ALL: Final = (
    "request_invalid",
    "unauthenticated",
    "key_unknown",
    "timestamp_refused",
    "signature_wrong",
    "request_replayed",
    "address_refused",
    "operator_closed",
    "method_not_allowed",
    "body_too_large",
    "headers_too_large",
    "media_type_refused",
    "rate_limited",
    "overloaded",
    "unavailable",
    "internal",
)


def responses(*codes: str) -> dict[int | str, dict[str, Any]]:
    """What a route documents: the problems that any signed call can meet, and these of its own.

    `@router.get("/v1/tables/{table}", responses=responses("not_found"))`. Raises KeyError: no such code.
    """
    by_status: dict[int, list[str]] = {}
    for code in (*_OF_ALL, *codes):
        by_status.setdefault(PROBLEMS[code].status, []).append(code)
    return {
        status: {
            "description": ", ".join(dict.fromkeys(found)),
            "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemBody"}}},
        }
        for status, found in sorted(by_status.items())
    }
