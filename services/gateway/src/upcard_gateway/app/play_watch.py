"""What players' connections ask of the table service: what happens at a table, as its viewer may see it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from upcard_gateway.app.game_seen import Beginning, Happened, Mine

__all__ = ["TableWatch", "Update", "WatchBroken", "WatchRefused"]


class WatchBroken(Exception):
    """The stream has ended for a reason that passes: go on with the last token."""


class WatchRefused(Exception):
    """The stream was refused for good. `reason`: such as `table_unknown`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Update:
    """A message of a stream."""

    token: str = field(repr=False)
    """Where to go on after it, over whichever gateway."""
    what: Beginning | Sequence[Happened] | Mine = field(repr=False)
    """Everything as it is now; what happened, as everybody sees it; what concerns the one player."""
    expired: bool = False
    """With a beginning: the token that was given leads nowhere any more."""


class TableWatch(Protocol):
    """The table service's streams. Each raises WatchBroken or WatchRefused at its end."""

    def public(self, table: str, token: str = "") -> AsyncIterator[Update]:
        """What everybody sees."""
        ...

    def own(self, table: str, player: str, currency: str, token: str = "") -> AsyncIterator[Update]:
        """What concerns one player, with their own view."""
        ...

    async def now(self, table: str, player: str = "", currency: str = "") -> Beginning:
        """The table now, as everybody sees it or as one player does. Raises WatchBroken, WatchRefused."""
        ...
