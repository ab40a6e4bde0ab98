"""What lists of rounds and money have in common: their pages, periods and files."""

from __future__ import annotations

import base64
import datetime as dt
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Annotated, Any, Final, TypeVar

from fastapi import Depends, Query, Response
from fastapi.responses import StreamingResponse
from pydantic import AwareDatetime

from servicekit.csv_lines import Cell, csv_line
from upcard_gateway.adapters.history_rounds import Window
from upcard_gateway.app.reports import FINAL_AFTER, LONGEST
from upcard_gateway.entrypoints.http.edge import Problem

__all__ = [
    "After",
    "Limit",
    "OfWindow",
    "Since",
    "Until",
    "csv_answer",
    "csv_responses",
    "cursor_of",
    "final",
    "moment",
    "no_such_cursor",
    "period",
    "token_of",
    "window_of",
]

Limit = Annotated[int, Query(ge=1, le=200, description="most items of the page")]
After = Annotated[str | None, Query(max_length=500, description="`next` of the page before")]
Since = Annotated[AwareDatetime | None, Query(description="from here, RFC 3339 with a time zone")]
Until = Annotated[AwareDatetime | None, Query(description="up to here, which is not in it")]

EARLIEST: Final = dt.datetime(2000, 1, 1, tzinfo=dt.UTC)
"""Nothing is older."""
LATEST: Final = dt.datetime(2200, 1, 1, tzinfo=dt.UTC)

_PIECE_BYTES: Final = 65_536

T = TypeVar("T")


def cursor_of(token: str) -> str | None:
    """A service's token as `next` of a page; None at the end."""
    return base64.urlsafe_b64encode(token.encode()).rstrip(b"=").decode() if token else None


def token_of(after: str | None) -> str:
    """The token of a cursor; it is checked further where it leads. Raises Problem."""
    if after is None:
        return ""
    try:
        token = base64.b64decode(after + "=" * (-len(after) % 4), altchars=b"-_", validate=True).decode(
            "ascii"
        )
    except ValueError:
        raise no_such_cursor() from None
    if not token or not token.isprintable():
        raise no_such_cursor()
    return token


def no_such_cursor() -> Problem:
    """`after` is not what a page ended with."""
    return Problem("cursor_invalid", "`after` is no `next` of this list")


def moment(value: dt.datetime | None) -> dt.datetime | None:
    """A moment in UTC. Raises Problem for what no calendar of ours has."""
    if value is None:
        return None
    try:
        found = value.astimezone(dt.UTC)
    except OverflowError:
        found = LATEST
    if not EARLIEST <= found < LATEST:
        raise Problem("period_invalid", "a moment is in the years 2000 to 2199")
    return found


def window_of(since: Since = None, until: Until = None, limit: Limit = 50, after: After = None) -> Window:
    """A page of a period that may be open at both ends; a dependency of FastAPI's. Raises Problem."""
    return Window(moment(since) or EARLIEST, moment(until) or LATEST, token_of(after), limit)


OfWindow = Annotated[Window, Depends(window_of)]
"""A parameter of a route: which part of a list is wanted."""


def period(
    since: dt.datetime | None, until: dt.datetime | None, day: dt.date | None = None
) -> tuple[dt.datetime, dt.datetime]:
    """The period that is meant: a day (UTC), or from one moment up to another. Raises Problem."""
    if day is not None:
        if since is not None or until is not None:
            raise Problem("period_invalid", "say `day`, or `since` and `until`, and not both")
        begin = moment(dt.datetime.combine(day, dt.time(), dt.UTC))
        if begin is None or begin >= LATEST - dt.timedelta(days=1):
            raise Problem("period_invalid", "a moment is in the years 2000 to 2199")
        return begin, begin + dt.timedelta(days=1)
    begin, end = moment(since), moment(until)
    if begin is None or end is None:
        raise Problem("period_invalid", "say `since` and `until`, or `day` where the call takes one")
    if not begin < end <= begin + LONGEST:
        raise Problem("period_invalid", f"`until` is after `since`, by {LONGEST.days} days at the most")
    return begin, end


def final(until: dt.datetime, now: dt.datetime) -> bool:
    """Whether nothing can be added to a period any more."""
    return now >= until + FINAL_AFTER


async def csv_answer(
    name: str,
    columns: Sequence[str],
    pages: AsyncIterator[Sequence[T]],
    cells: Callable[[T], Sequence[Cell]],
) -> Response:
    """Pages as a file that is written as they come; a failure before the first page is answered as a problem.

    What fails later breaks the answer off, so that no reader takes a part for the whole.
    """
    first = await anext(pages, None)

    async def pieces() -> AsyncIterator[bytes]:
        held = [csv_line(columns)]
        size = len(held[0])
        page = first
        while page is not None:
            for row in page:
                held.append(csv_line(cells(row)))
                size += len(held[-1])
                if size >= _PIECE_BYTES:
                    yield b"".join(held)
                    held, size = [], 0
            page = await anext(pages, None)
        if held:
            yield b"".join(held)

    disposition = {"Content-Disposition": f'attachment; filename="{name}.csv"', "Cache-Control": "no-store"}
    return StreamingResponse(pieces(), media_type="text/csv; charset=utf-8", headers=disposition)


csv_responses: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "description": "the file, RFC 4180 in UTF-8, the first line names the columns",
        "content": {"text/csv": {"schema": {"type": "string"}}},
    }
}
"""What a route that answers with a file documents."""
