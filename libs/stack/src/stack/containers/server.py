"""A server in a container. Its port of this machine is chosen first, so that it comes back where it was."""

from __future__ import annotations

from collections.abc import Callable

from docker.models.containers import Container
from testcontainers.core.container import DockerContainer

from stack.containers.images import Image
from stack.deadlines import happens
from stack.errors import StackError
from stack.ports import HOST, free_ports

START_DEADLINE_S = 120.0
STOP_DEADLINE_S = 20
LAST_LINES = 25


class ContainerServer:
    """One container, made at the first start; testcontainers' own reaper takes it away when we are killed."""

    def __init__(self, image_at: Callable[[int], Image], is_ready: Callable[[str], bool]) -> None:
        """`image_at`: what to run for a port of this machine; `is_ready`: whether the address serves."""
        (self.port,) = free_ports(1)
        self._image = image_at(self.port)
        self._is_ready = is_ready
        self._made: DockerContainer | None = None

    @property
    def name(self) -> str:
        """What it is called in messages."""
        return self._image.name

    @property
    def address(self) -> str:
        """`host:port`."""
        return f"{HOST}:{self.port}"

    @property
    def running(self) -> bool:
        """Whether its container runs, paused or not."""
        if self._made is None:
            return False
        container = self._container()
        container.reload()
        return container.status in {"running", "paused"}

    def start(self) -> None:
        """Start it, and wait until it serves."""
        if self.running:
            return
        if self._made is None:
            image = self._image
            made = DockerContainer(image.image, mem_limit=image.memory_bytes)
            for name, value in image.environment.items():
                made.with_env(name, value)
            if image.command:
                made.with_command(list(image.command))
            # Loopback only; `with_bind_ports` would open the port to the network.
            made.ports[f"{image.port}/tcp"] = (HOST, self.port)  # type: ignore[assignment]  # the engine takes pairs
            self._made = made.start()
        else:
            self._container().start()
        if (
            not happens(lambda: not self.running or self._is_ready(self.address), START_DEADLINE_S)
            or not self.running
        ):
            log = self._container().logs(tail=LAST_LINES).decode("utf-8", errors="replace")
            raise StackError(
                f"the container of {self.name} ({self._image.image}) did not start; its log ends:\n{log}"
            )

    def stop(self) -> None:
        """End it in order, keep the container."""
        if self.running:
            self._container().stop(timeout=STOP_DEADLINE_S)

    def kill(self) -> None:
        """SIGKILL."""
        self._container().kill()

    def restart(self) -> None:
        """Stop it in order if it runs, and start it: the same data, the same port."""
        self.stop()
        self.start()

    def pause(self) -> None:
        """Freeze it."""
        self._container().pause()

    def resume(self) -> None:
        """Let it go on."""
        self._container().unpause()

    def wipe(self) -> None:
        """Take the container away with its data; `start` makes a new one."""
        if self._made is not None:
            self._made.stop()
            self._made = None

    def _container(self) -> Container:
        if self._made is None:
            raise RuntimeError(f"{self.name} has not been started")
        return self._made.get_wrapped_container()
