"""How many connections there may be, of whom; and how often somebody may look on without signing in."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final

from upcard_gateway.entrypoints.http.limits import RateLimit
from upcard_gateway.settings.play import PlaySettings

__all__ = ["Doors", "DoorsShut"]

_HOUR_S: Final = 3_600.0


class DoorsShut(Exception):
    """There is no room. `reason`: a slug for `ended`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Doors:
    """Counts the connections of one instance."""

    def __init__(self, settings: PlaySettings, clock: Callable[[], float]) -> None:
        """`clock` gives seconds and never jumps."""
        self._settings = settings
        self.connections = 0
        self.viewers = 0
        self._of_address: Counter[str] = Counter()
        self._viewers_of_address: Counter[str] = Counter()
        self._views = RateLimit(clock)

    @contextlib.contextmanager
    def connected(self, address: str) -> Iterator[None]:
        """While a connection lasts. Raises DoorsShut."""
        if self.connections >= self._settings.play_connections_max:
            raise DoorsShut("overloaded")
        if self._of_address[address] >= self._settings.play_address_connections_max:
            raise DoorsShut("too_many_connections")
        self.connections += 1
        self._of_address[address] += 1
        try:
            yield
        finally:
            self.connections -= 1
            _less(self._of_address, address)

    @contextlib.contextmanager
    def viewing(self, address: str) -> Iterator[None]:
        """While somebody looks on. Raises DoorsShut."""
        if (
            self.viewers >= self._settings.play_viewers_max
            or self._viewers_of_address[address] >= self._settings.play_address_viewers_max
        ):
            raise DoorsShut("too_many_viewers")
        an_hour = self._settings.play_views_per_h
        if self._views.take(address, an_hour / _HOUR_S, an_hour):
            raise DoorsShut("viewing_too_often")
        self.viewers += 1
        self._viewers_of_address[address] += 1
        try:
            yield
        finally:
            self.viewers -= 1
            _less(self._viewers_of_address, address)


def _less(counted: Counter[str], name: str) -> None:
    counted[name] -= 1
    if counted[name] <= 0:
        del counted[name]
