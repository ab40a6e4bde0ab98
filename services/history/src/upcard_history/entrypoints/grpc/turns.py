"""Turns at what takes long: so many at once, and so many of one asker."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator
from typing import Final

import grpc

from servicekit.grpc import CallError

COME_AGAIN_S: Final = 5.0
OF_ONE_ASKER: Final = 2


class ExportTurns:
    """Turns of exports; who finds none is told to come again, since an export may take minutes."""

    def __init__(self, at_once: int, *, of_one_asker: int = OF_ONE_ASKER) -> None:
        self._at_once = at_once
        self._of_one = of_one_asker
        self._now: Counter[str] = Counter()

    @property
    def taken_now(self) -> int:
        """How many are being written."""
        return self._now.total()

    @contextlib.contextmanager
    def taken(self, asker: str) -> Iterator[None]:
        """Within the context, the asker has a turn. Raises CallError when there is none."""
        if self._now.total() >= self._at_once or self._now[asker] >= self._of_one:
            raise CallError(
                grpc.StatusCode.RESOURCE_EXHAUSTED,
                "exports_busy",
                f"{self._at_once} exports are written at once, {self._of_one} of one asker: come again",
                retry_after_s=COME_AGAIN_S,
            )
        self._now[asker] += 1
        try:
            yield
        finally:
            self._now[asker] -= 1
            if not self._now[asker]:
                del self._now[asker]
