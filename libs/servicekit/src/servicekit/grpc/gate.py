"""How many calls are served at a time, and which streams have to end when the server stops."""

import asyncio
import contextlib
from collections.abc import Iterator

import grpc

from servicekit.grpc import observing
from servicekit.grpc.errors import CallError

COME_AGAIN_S = 0.2
"""When a caller that was refused may come again, in seconds."""


class Gate:
    """Counts what is served and refuses what is too much."""

    def __init__(self, *, max_calls: int, max_streams: int) -> None:
        self._max = {"call": max_calls, "stream": max_streams}
        self._now = {"call": 0, "stream": 0}
        self._streams: set[asyncio.Task[object]] = set()
        self._stopping = False

    @property
    def stopping(self) -> bool:
        """Whether streams are being ended."""
        return self._stopping

    @contextlib.contextmanager
    def passed(self, *, stream: bool, always: bool) -> Iterator[None]:
        """Within the context, a call is served. `always`: it is counted by nobody and refused never.

        Raises CallError with UNAVAILABLE and the reason `overloaded` or, for streams, `server_stopping`.
        """
        task = asyncio.current_task() if stream else None
        if stream and self._stopping:
            raise stopping()
        kind = "stream" if stream else "call"
        if not always and self._now[kind] >= self._max[kind]:
            raise CallError(
                grpc.StatusCode.UNAVAILABLE,
                "overloaded",
                f"{self._max[kind]} {kind}s are being served already",
                retry_after_s=COME_AGAIN_S,
            )
        self._change(kind, 0 if always else 1)
        if task is not None:
            self._streams.add(task)
        try:
            yield
        finally:
            self._change(kind, 0 if always else -1)
            if task is not None:
                self._streams.discard(task)

    def end_streams(self) -> None:
        """End all streams, and let none begin any more."""
        self._stopping = True
        for task in self._streams:
            task.cancel()

    def _change(self, kind: str, by: int) -> None:
        self._now[kind] += by
        observing.in_flight(kind, self._now[kind])


def stopping() -> CallError:
    """What the reader of a stream is told when the server stops."""
    return CallError(grpc.StatusCode.UNAVAILABLE, "server_stopping", "this server stops; ask another")
