"""A service's stages: started in order, stopped in the reverse order, each with a deadline."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Final, Generic, Self, TypeVar

import structlog

from servicekit.context import detached
from servicekit.health import Phase, Readiness
from servicekit.lifecycle.exits import StartRefused, WorkEnded
from servicekit.settings import ServiceSettings

MOST_STAGES: Final = 100
# What a stage gets at the least, when those before it have used up the time of the whole stop.
_LEAST_STOP_S: Final = 0.1
_ANNOUNCE_WITHIN_S: Final = 1.0

AnySettings = TypeVar("AnySettings", bound=ServiceSettings)
Made = TypeVar("Made")
Work = Callable[[asyncio.Event], Awaitable[None]]
"""Work in the background: goes on until the event is set, then comes to an end by itself."""

_log = structlog.get_logger("servicekit.lifecycle")


@dataclass(frozen=True, slots=True)
class _Stage:
    name: str
    manager: AbstractAsyncContextManager[Any]
    stop_within_s: float


class Service(Generic[AnySettings]):
    """What a service's `main` gets: its settings, its readiness, and where it starts its stages."""

    def __init__(self, name: str, settings: AnySettings) -> None:
        self.name = name
        self.settings = settings
        self.readiness = Readiness()
        self._stages: list[_Stage] = []
        self._stop_wanted = asyncio.Event()
        self._starting: asyncio.Task[Any] | None = None
        self._failure: BaseException | None = None
        self._failed_to_stop: list[str] = []
        self._when_stopping: list[Callable[[], Awaitable[None]]] = []

    @property
    def instance(self) -> str:
        """The name of this process, for the database's sessions and leases: `table@host-1`."""
        return f"{self.name}@{self.settings.instance}"

    @property
    def stopping(self) -> bool:
        """Whether the service has been told to stop, or has to."""
        return self._stop_wanted.is_set()

    @property
    def failure(self) -> BaseException | None:
        """Why the service stops, if not because it was told to."""
        return self._failure

    @property
    def failed_to_stop(self) -> tuple[str, ...]:
        """Stages that failed at stopping or were late."""
        return tuple(self._failed_to_stop)

    async def start(
        self,
        name: str,
        manager: AbstractAsyncContextManager[Made],
        *,
        start_within_s: float = 30.0,
        stop_within_s: float = 10.0,
    ) -> Made:
        """Start the next stage: enter the context manager; it is left when the service stops.

        What was started later is stopped before it. Raises StartRefused when it takes too long, and whatever
        the manager raises.
        """
        if len(self._stages) >= MOST_STAGES:
            raise ValueError(f"more than {MOST_STAGES} stages")
        began = time.monotonic()
        limit = asyncio.timeout(start_within_s)
        try:
            async with limit:
                made = await manager.__aenter__()
                # No await between: whatever has been entered will be left.
                self._stages.append(_Stage(name, manager, stop_within_s))
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise StartRefused(f"{name} did not start within {start_within_s:g} s") from error
        _log.info("started", stage=name, took_s=round(time.monotonic() - began, 3))
        return made

    async def run(self, name: str, work: Work, *, stop_within_s: float = 10.0) -> None:
        """Start work in the background, as a stage.

        When the service stops, the work is asked to end, and cancelled when that takes too long. When it
        ends or fails by itself, the service stops: exit status 1.
        """
        await self.start(
            name, _Background(self, name, work, stop_within_s), stop_within_s=stop_within_s + 1.0
        )

    def when_stopping(self, callback: Callable[[], Awaitable[None]]) -> None:
        """Call this as soon as the service has to stop, before the delay and before any stage is stopped.

        For what tells others not to come any more: gRPC's own health service. It has a second.
        """
        self._when_stopping.append(callback)

    async def announce_stop(self) -> None:
        """Call what `when_stopping` was given."""
        for callback in self._when_stopping:
            try:
                async with asyncio.timeout(_ANNOUNCE_WITHIN_S):
                    await callback()
            except Exception as error:  # noqa: BLE001 - it keeps nobody from stopping
                _log.error("telling others of the stop failed", exc_info=error)

    def fail(self, error: BaseException) -> None:
        """Stop the service, because of this."""
        if self._failure is None and not self.stopping:
            self._failure = error
        self.ask_to_stop()

    def ask_to_stop(self) -> None:
        """Stop the service, in order. While it is still starting, the start is broken off."""
        self._stop_wanted.set()
        if self._starting is not None:
            self._starting.cancel()  # the stage that is being started; the others are stopped in their order

    async def begin(self, main: Callable[[Self], Awaitable[None]]) -> None:
        """Start all stages. A stop that is wanted meanwhile cancels this: `stopping` tells."""
        self._starting = asyncio.current_task()
        try:
            if not self.stopping:
                await main(self)
        finally:
            self._starting = None
        if not self.stopping:
            self.readiness.enter(Phase.RUNNING)

    async def until_stop_wanted(self) -> None:
        """Wait until the service has to stop."""
        await self._stop_wanted.wait()

    async def stop(self, within_s: float) -> None:
        """Stop all stages, the last one first. A stage that fails or is late does not keep the others."""
        deadline = time.monotonic() + within_s
        self._stop_wanted.set()
        self.readiness.enter(Phase.STOPPING)
        while self._stages:
            stage = self._stages.pop()
            left_s = max(_LEAST_STOP_S, deadline - time.monotonic())
            await self._stop(stage, min(stage.stop_within_s, left_s))

    async def _stop(self, stage: _Stage, within_s: float) -> None:
        began = time.monotonic()
        try:
            async with asyncio.timeout(within_s):
                await stage.manager.__aexit__(None, None, None)
        except TimeoutError:
            self._failed_to_stop.append(stage.name)
            _log.error("a stage did not stop in time", stage=stage.name, within_s=round(within_s, 3))
        # Nobody cancels a stop: a CancelledError is a stage's own failure.
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - the others have to be stopped
            self._failed_to_stop.append(stage.name)
            _log.error("a stage failed at stopping", stage=stage.name, exc_info=error)
        else:
            _log.info("stopped", stage=stage.name, took_s=round(time.monotonic() - began, 3))


class _Background:
    """A task that has to run for as long as the service does."""

    def __init__(self, service: Service[Any], name: str, work: Work, stop_within_s: float) -> None:
        self._service = service
        self._name = name
        self._work = work
        self._stop_within_s = stop_within_s
        self._ending = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> None:
        self._task = asyncio.create_task(self._run(), name=self._name, context=detached())
        self._task.add_done_callback(self._ended)

    async def __aexit__(self, *_: object) -> None:
        self._ending.set()
        if self._task is None:
            return
        try:
            done, _pending = await asyncio.wait([self._task], timeout=self._stop_within_s)
        finally:
            self._task.cancel()
        if not done:
            await asyncio.wait([self._task], timeout=1.0)
            raise TimeoutError
        if not self._task.cancelled() and (error := self._task.exception()) is not None:
            if self._service.failure is error:
                return  # said already: it is why the service stops
            raise error

    async def _run(self) -> None:
        await self._work(self._ending)

    def _ended(self, task: asyncio.Task[None]) -> None:
        if self._ending.is_set():
            return
        error = None if task.cancelled() else task.exception()
        self._service.fail(error or WorkEnded(f"{self._name} has ended, which it must not"))
