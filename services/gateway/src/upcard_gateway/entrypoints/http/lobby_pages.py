"""Pages of the lobby's lists: how many, and where the next one begins."""

from __future__ import annotations

import base64
import re
from typing import Annotated, Final

from fastapi import Query

from upcard_gateway.entrypoints.http.edge import Problem

_is_id: Final = re.compile(r"[A-Za-z0-9_-]{1,64}").fullmatch
_LONGEST: Final = 120

Limit = Annotated[int, Query(ge=1, le=200, description="most items of the page")]
After = Annotated[str | None, Query(description="`next` of the page before; absent: the first page")]


def cursor(kind: str, last: str) -> str:
    """Where the page behind `last` begins; `kind` names the list, so that no other takes it."""
    return base64.urlsafe_b64encode(f"{kind}:{last}".encode()).decode().rstrip("=")


def after_of(kind: str, after: str | None) -> str:
    """The id that a cursor of this list stands for; empty: the first page. Raises Problem."""
    if after is None:
        return ""
    last = _read(kind, after)
    if last is None:
        detail = "pass on `next` of the page before as it came, or begin without `after`"
        raise Problem("cursor_invalid", detail)
    return last


def _read(kind: str, after: str) -> str | None:
    if len(after) > _LONGEST:
        return None
    try:
        text = base64.b64decode(after + "=" * (-len(after) % 4), altchars=b"-_", validate=True).decode()
    except ValueError:
        return None
    named, _, last = text.partition(":")
    # One form only: what reads the same and is written otherwise was not made here.
    return last if named == kind and _is_id(last) and cursor(kind, last) == after else None
