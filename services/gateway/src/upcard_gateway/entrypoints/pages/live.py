"""Regions of a page that stay as the world is: sent as fragments (Server-Sent Events), when they changed."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Final

import grpc.aio
import structlog
from fastapi.responses import StreamingResponse
from starlette.requests import Request

from eventstore.coordination.outages import PASSING
from upcard_gateway.entrypoints.pages.guard import LIVE, standing_of
from upcard_gateway.entrypoints.pages.member import Member
from upcard_gateway.entrypoints.pages.problems import PageProblem

__all__ = ["LiveStreams", "live"]

Regions = Callable[[], Awaitable[Mapping[str, str]]]

LASTS_S: Final = 240.0
"""A stream ends after so long, and the page opens it again: it must end before the edge's own limit."""
BEAT_S: Final = 5.0
"""The longest that a stream is silent, in seconds."""
_LEAST_S: Final = 0.2
_AGAIN_MS: Final = 1_500
_FAILURES_TOLD: Final = 2

_log = structlog.get_logger("upcard.gateway.pages")


class LiveStreams:
    """How many streams are open, of each member and in all."""

    def __init__(self, *, most: int = 120, most_of_one: int = 8) -> None:
        self._most = most
        self._most_of_one = most_of_one
        self._open: Counter[str] = Counter()

    def check(self, staff: str) -> None:
        """Raise PageProblem when there is no room for one more."""
        if self._open[staff] >= self._most_of_one or self._open.total() >= self._most:
            raise PageProblem(429, "frame.too_many_live", retry_after_s=5.0)

    def begin(self, staff: str) -> None:
        """Count one. Raises PageProblem: there are too many."""
        self.check(staff)
        self._open[staff] += 1

    @property
    def open(self) -> int:
        """How many are open in all."""
        return self._open.total()

    def end(self, staff: str) -> None:
        """Count one less."""
        self._open[staff] -= 1
        self._open += Counter()


def live(request: Request, member: Member, region: Regions, every_s: float) -> StreamingResponse:
    """A stream of the regions that `region` gives, asked every so often: each when it is not what it was.

    It ends when the session does, when it is locked, or by itself after some minutes (the page begins anew).
    A region that cannot be read now makes the stream say `stale`. Raises PageProblem: too many are open.
    """
    if not request.url.path.endswith(LIVE):
        raise RuntimeError(
            f"a live region's path ends with {LIVE}, by which it is known as no sign of a member"
        )
    streams: LiveStreams = request.app.state.pages.streams
    streams.check(member.staff)

    async def told() -> AsyncIterator[bytes]:
        # Counted here, where the end is sure to be seen: a stream that nobody reads never begins.
        streams.begin(member.staff)
        try:
            async for part in _parts(request, region, max(every_s, _LEAST_S)):
                yield part
        finally:
            streams.end(member.staff)

    return StreamingResponse(
        told(),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


async def _parts(request: Request, region: Regions, every_s: float) -> AsyncIterator[bytes]:
    yield f"retry: {_AGAIN_MS}\n\n".encode()
    before: dict[str, str] = {}
    began_s = time.monotonic()
    told_s = 0.0
    failed = 0
    while time.monotonic() - began_s < LASTS_S:
        standing = await standing_of(request, passive=True)
        wanted: frozenset[str] = getattr(request.state, "roles_wanted", frozenset())
        if standing is not None and wanted and wanted.isdisjoint(standing.roles):
            standing = None  # the page, asked for anew, says that the role is gone
        if standing is None or standing.state != "live":
            yield _event("ended", {"state": "none" if standing is None else standing.state})
            return
        now_s = time.monotonic()
        try:
            found = await asyncio.wait_for(region(), max(every_s, BEAT_S))
        except (grpc.aio.AioRpcError, PageProblem, TimeoutError, *PASSING) as error:
            failed += 1
            if failed == _FAILURES_TOLD:
                _log.warning("a live region cannot be read", why=type(error).__name__, path=request.url.path)
            yield _event("stale", {})
            told_s = now_s
        else:
            failed = 0
            changed = {name: html for name, html in found.items() if before.get(name) != html}
            gone = [name for name in before if name not in found]
            before = dict(found)
            if changed or gone:
                yield _event("regions", {"changed": changed, "gone": gone})
                told_s = now_s
            elif now_s - told_s >= BEAT_S:
                yield _event("beat", {})
                told_s = now_s
        await asyncio.sleep(every_s)


def _event(name: str, data: object) -> bytes:
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n".encode()
