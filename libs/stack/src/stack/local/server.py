"""A server of this machine: the part that PostgreSQL and the brokers have in common."""

from __future__ import annotations

import signal
import threading
from abc import ABC, abstractmethod
from pathlib import Path

from stack.deadlines import Deadline, happens
from stack.errors import ServerDidNotStartError, log_text
from stack.local.guarded import CannotRunError, Command, GuardedProcess, end_leftover
from stack.ports import HOST, free_ports, is_free

# A free port may be taken before the server has it: so many ports are tried.
PORT_TRIES = 5
# A server that comes back needs its own port: so long it waits for whoever has it.
OWN_PORT_S = 10.0
PORT_TAKEN = ("address already in use", "address in use", "addrinuse")


class PortTakenError(Exception):
    """Somebody else has the port that was chosen; another one will do."""


class LocalServer(ABC):
    """One server in one folder: `<name>.log` is its log, `process.json` says which process it is.

    Once started it keeps its port: `start` after `stop` or `kill` brings it back where its clients look for
    it.
    """

    name: str
    stop_signal: signal.Signals
    stop_deadline_s: float = 20.0
    start_deadline_s: float = 60.0

    def __init__(self, folder: Path, port: int | None = None) -> None:
        """A server in a folder, made if need be; `port` is tried first where one is given."""
        self.folder = folder
        self.port = port
        self._process: GuardedProcess | None = None
        self._keeps_port = False
        self._since = 0
        self._lock = threading.RLock()

    @property
    def address(self) -> str:
        """`host:port`."""
        return f"{HOST}:{self.port}"

    @property
    def log(self) -> Path:
        """The file to read when something is wrong."""
        return self.folder / f"{self.name}.log"

    @property
    def record(self) -> Path:
        """The file that says which process this server is."""
        return self.folder / "process.json"

    @property
    def running(self) -> bool:
        """Whether its process is there (it may be paused)."""
        return self._process is not None and self._process.running

    @property
    def pid(self) -> int:
        """The pid of its process, running or the last one."""
        return self._started().pid

    @property
    def process(self) -> GuardedProcess:
        """Its process, running or the last one."""
        return self._started()

    def start(self) -> None:
        """Start it and wait until it serves; nothing happens when it runs already.

        Raises:
            ServerDidNotStartError: The message names its log and shows the end of it.
        """
        with self._lock:
            if self.running:
                return
            self.folder.mkdir(parents=True, exist_ok=True)
            end_leftover(self.record, self.stop_signal, self.stop_deadline_s)
            self._since = self.log.stat().st_size if self.log.exists() else 0
            self.launch_on_a_port()
            self._keeps_port = True
            self._port_file.write_text(f"{self.port}\n", encoding="ascii")

    def stop(self) -> None:
        """End it in order; by force when it does not end in time."""
        with self._lock:
            if self._process is not None:
                self._process.stop()
                self.record.unlink(missing_ok=True)

    def kill(self) -> None:
        """End it as a loss of power would: SIGKILL, no time to put anything in order."""
        with self._lock:
            self._started().kill()
            self.record.unlink(missing_ok=True)

    def abandon(self) -> None:
        """Kill it while another thread is still waiting for it to start; that thread gets the error."""
        process = self._process
        if process is not None and process.running:
            process.identity.kill()

    def restart(self) -> None:
        """Stop it in order if it runs, and start it: the same data, the same port."""
        self.stop()
        self.start()

    def pause(self) -> None:
        """Freeze it (SIGSTOP): it keeps its connections and answers nothing."""
        self._started().pause()

    def resume(self) -> None:
        """Let a frozen server go on."""
        self._started().resume()

    @abstractmethod
    def prepare(self) -> None:
        """Make what has to lie in the folder; called before each try, when the port is set."""

    @abstractmethod
    def command(self) -> Command:
        """What to run."""

    @abstractmethod
    def is_ready(self) -> bool:
        """Whether it serves; asked often while it starts."""

    def should_be_tried_again(self, _log: str) -> bool:
        """Whether a start that failed with this in the log may succeed a moment later, on the same port."""
        return False

    def failed(self, why: str) -> ServerDidNotStartError:
        """The error for a start that failed, with the end of the log since that start began."""
        return ServerDidNotStartError(self.name, why, self.log, self._since)

    def launch_on_a_port(self) -> None:
        """Launch it: at its own port if it has one, else at one that is free."""
        if self._keeps_port:
            if not happens(lambda: self.port is not None and is_free(self.port), OWN_PORT_S):
                raise self.failed(f"another program has its port {self.port}")
            self.launch()
            return
        tried = []
        for _ in range(PORT_TRIES):
            if self.port is None:
                self.port = self._earlier_port() or free_ports(1)[0]
            tried.append(self.port)
            try:
                self.launch()
            except PortTakenError:
                self.port = None
            else:
                return
        raise self.failed(f"other programs took each of the ports {tried} before it had them")

    @property
    def _port_file(self) -> Path:
        return self.folder / "port"

    def _earlier_port(self) -> int | None:
        """The port that a server in this folder had last, once: people and programs may still know it."""
        try:
            port = int(self._port_file.read_text(encoding="ascii"))
        except (OSError, ValueError):
            return None
        self._port_file.unlink()
        return port if is_free(port) else None

    def launch(self) -> None:
        """Launch it at the port that is set, and again while the log says that it may work in a moment.

        Raises:
            PortTakenError: Somebody else has the port, and this server does not insist on it.
            ServerDidNotStartError: Anything else.
        """
        deadline = Deadline(self.start_deadline_s)
        while True:
            since = self.log.stat().st_size if self.log.exists() else 0
            try:
                self._launch(deadline, since)
            except ServerDidNotStartError:
                if deadline.passed or not self.should_be_tried_again(log_text(self.log, since)):
                    raise
            else:
                return

    def _launch(self, deadline: Deadline, since: int) -> None:
        assert self.port is not None  # noqa: S101 - chosen by the caller
        self.prepare()
        try:
            process = GuardedProcess.start(self.command())
        except CannotRunError as error:
            raise self.failed(f"its program cannot be run ({error})") from error
        process.identity.write(self.record)
        self._process = process
        # Whoever answers at the port has to be this process: a stranger may have been faster.
        port = self.port
        ready = happens(
            lambda: not process.running or (process.listens_on(port) and self.is_ready()), deadline.left_s
        )
        if process.running and ready:
            return
        status = process.exit_status()
        if status is None:
            process.kill()
            why = f"it was not ready after {self.start_deadline_s:.0f} s"
        else:
            why = f"it ended at once, status {status}"
        self.record.unlink(missing_ok=True)
        if any(sign in log_text(self.log, since).lower() for sign in PORT_TAKEN):
            if self._keeps_port:
                raise self.failed(f"another program has its port {self.port}")
            raise PortTakenError(self.port)
        raise self.failed(why)

    def _started(self) -> GuardedProcess:
        if self._process is None:
            raise RuntimeError(f"{self.name} has not been started")
        return self._process
