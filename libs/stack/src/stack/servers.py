"""What every server of a stack can do, wherever it comes from."""

from __future__ import annotations

from typing import NoReturn, Protocol
from urllib.parse import urlsplit

from stack.errors import NotOursError


class Server(Protocol):
    """One server: a process or a container of ours."""

    @property
    def name(self) -> str:
        """What it is called in messages."""

    @property
    def address(self) -> str:
        """`host:port`; it stays the same over restarts."""

    @property
    def running(self) -> bool:
        """Whether it is there (it may be paused)."""

    def start(self) -> None:
        """Start it, wait until it serves; on the data and at the port that it had before."""

    def stop(self) -> None:
        """End it in order."""

    def kill(self) -> None:
        """End it as a loss of power would."""

    def restart(self) -> None:
        """Stop it if it runs, and start it."""

    def pause(self) -> None:
        """Freeze it: it keeps its connections and answers nothing."""

    def resume(self) -> None:
        """Let a frozen server go on."""

    def wipe(self) -> None:
        """Kill it and throw its data away; `start` begins with nothing."""


class SomeonesPostgres:
    """A PostgreSQL that was there before us: used, never touched."""

    name = "postgresql"

    def __init__(self, dsn: str) -> None:
        parts = urlsplit(dsn)
        self.address = f"{parts.hostname or 'localhost'}:{parts.port or 5432}"

    @property
    def running(self) -> bool:
        """As far as we know."""
        return True

    def start(self) -> None:
        """It runs already."""

    def stop(self) -> None:
        """It goes on."""

    def kill(self) -> None:
        """Refused."""
        self._refuse("killed")

    def restart(self) -> None:
        """Refused."""
        self._refuse("restarted")

    def pause(self) -> None:
        """Refused."""
        self._refuse("paused")

    def resume(self) -> None:
        """Refused."""
        self._refuse("resumed")

    def wipe(self) -> None:
        """Refused."""
        self._refuse("wiped")

    def _refuse(self, what: str) -> NoReturn:
        raise NotOursError(
            f"the PostgreSQL at {self.address} was not started by this stack: it cannot be {what}"
        )
