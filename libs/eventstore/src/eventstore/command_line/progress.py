"""A bar on a terminal; elsewhere a line now and then."""

import time
from collections.abc import Callable
from types import TracebackType
from typing import Final, Self, TextIO

from eventstore.projections import Progress

_WIDTH: Final = 30
_TERMINAL_INTERVAL_S: Final = 0.1
_LINE_INTERVAL_S: Final = 10.0


class Bar:
    """Shows progress, no more often than anyone reads it. Use it as a context manager."""

    def __init__(self, out: TextIO, title: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._out = out
        self._title = title
        self._clock = clock
        self._on_terminal = out.isatty()
        self._next = clock()
        self._last: Progress | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._last is not None:
            self._write(self._last)
        if self._on_terminal:
            self._out.write("\n")

    def show(self, progress: Progress) -> None:
        """Where it is now."""
        self._last = progress
        now = self._clock()
        if now >= self._next:
            self._next = now + (_TERMINAL_INTERVAL_S if self._on_terminal else _LINE_INTERVAL_S)
            self._write(progress)

    def _write(self, progress: Progress) -> None:
        part = progress.done / progress.total if progress.total else 1.0
        text = f"{self._title}: {part:6.1%}, {progress.done:,} of {progress.total:,} events"
        if self._on_terminal:
            full = round(part * _WIDTH)
            text = f"\r[{'#' * full}{'.' * (_WIDTH - full)}] {text}\x1b[K"
        else:
            text += "\n"
        self._out.write(text)
        self._out.flush()
