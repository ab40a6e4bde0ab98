"""Readiness that tells the truth: checks that run together, each with a deadline, when somebody asks."""

import asyncio
import enum
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

import structlog

from servicekit.context import detached
from servicekit.metrics import gauge

Ask = Callable[[], Awaitable[None]]
"""A check: returns if all is well, raises `NotReady` with a sentence, or whatever it was that failed."""

MOST_CHECKS: Final = 50
LONGEST_CHECK_S: Final = 4.0
"""Whoever asks waits for little longer than this."""

_log = structlog.get_logger("servicekit.health")
_ready = gauge("upcard_ready", "Whether the service is ready: 1 or 0, as of the last time it was asked")
_check_ok = gauge(
    "upcard_check_ok", "Whether a check of readiness passed: 1 or 0, as of the last time", ("check",)
)
_check_took = gauge(
    "upcard_check_duration_seconds", "How long a check of readiness took, last time", ("check",)
)


class NotReady(Exception):
    """Something is not as it has to be; the text is for a person and holds no secret."""


class Phase(enum.Enum):
    """Where the service is in its life."""

    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"


@dataclass(frozen=True, slots=True)
class Check:
    """Something that has to be well for the service to be of use."""

    name: str
    ask: Ask
    within_s: float = 2.0


@dataclass(frozen=True, slots=True)
class Result:
    """How a check went. `problem` is None if all is well."""

    name: str
    problem: str | None
    took_s: float


@dataclass(frozen=True, slots=True)
class Report:
    """Whether the service is ready, and what each check said."""

    phase: Phase
    results: tuple[Result, ...]

    @property
    def ready(self) -> bool:
        """Whether the service can do what it is for."""
        return self.phase is Phase.RUNNING and all(result.problem is None for result in self.results)


class Readiness:
    """The checks of a service. All of its methods belong to its event loop."""

    def __init__(self, *, kept_for_s: float = 1.0) -> None:
        self._kept_for_s = kept_for_s
        self._checks: dict[str, Check] = {}
        self._phase = Phase.STARTING
        self._asking: asyncio.Task[tuple[Result, ...]] | None = None
        self._results: tuple[Result, ...] = ()
        self._asked_at = -float("inf")
        self._problems: dict[str, str | None] = {}

    @property
    def phase(self) -> Phase:
        """Where the service is in its life."""
        return self._phase

    def enter(self, phase: Phase) -> None:
        """The service is in another phase from now on."""
        self._phase = phase
        self._forget()

    def add(self, check: Check) -> None:
        """Ask this too from now on.

        Raises ValueError when the name is taken, there are too many, or it may take too long.
        """
        if not 0 < check.within_s <= LONGEST_CHECK_S:
            raise ValueError(f"{check.name}: a check takes at most {LONGEST_CHECK_S} s, not {check.within_s}")
        if check.name in self._checks:
            raise ValueError(f"there is a check {check.name} already")
        if len(self._checks) >= MOST_CHECKS:
            raise ValueError(f"more than {MOST_CHECKS} checks")
        self._checks[check.name] = check
        self._forget()

    def remove(self, name: str) -> None:
        """Ask this no longer: what it was about is being stopped."""
        self._checks.pop(name, None)
        self._forget()

    async def report(self) -> Report:
        """Ask everything, unless it was asked a moment ago; who comes meanwhile gets the same answer.

        Takes no longer than the slowest check may.
        """
        if self._phase is Phase.RUNNING:
            results = await self._fresh()
        else:
            results = ()  # what is not all there yet, or no longer, need not be asked
        report = Report(self._phase, results)
        _ready.set(report.ready)
        return report

    async def _fresh(self) -> tuple[Result, ...]:
        if time.monotonic() - self._asked_at < self._kept_for_s:
            return self._results
        if self._asking is None:
            self._asking = asyncio.create_task(self._ask_all(), name="readiness", context=detached())
        # Whoever asked first may go away; the others still want to know.
        return await asyncio.shield(self._asking)

    async def _ask_all(self) -> tuple[Result, ...]:
        asking = asyncio.current_task()
        results = tuple(await asyncio.gather(*(_ask(check) for check in self._checks.values())))
        for result in results:
            _check_ok.labels(result.name).set(result.problem is None)
            _check_took.labels(result.name).set(result.took_s)
            self._tell(result)
        if self._asking is asking:  # else something has changed meanwhile: the next one asks anew
            self._asking = None
            self._results, self._asked_at = results, time.monotonic()
        return results

    def _tell(self, result: Result) -> None:
        """Log a change, not each time: balancers ask for ever."""
        before = self._problems.get(result.name)
        self._problems[result.name] = result.problem
        if result.problem is not None and before is None:
            _log.warning("not ready", check=result.name, problem=result.problem)
        elif result.problem is None and before is not None:
            _log.info("ready again", check=result.name)

    def _forget(self) -> None:
        self._asking = None
        self._asked_at = -float("inf")


async def _ask(check: Check) -> Result:
    began = time.monotonic()
    problem: str | None = None
    try:
        async with asyncio.timeout(check.within_s):
            await check.ask()
    except NotReady as error:
        problem = str(error)
    except TimeoutError:
        problem = f"no answer within {check.within_s:g} s"
    except Exception as error:  # noqa: BLE001 - whatever it is, it is not ready
        # The class alone: these words go to whoever can reach the endpoint.
        problem = f"failed: {type(error).__name__}"
        _log.debug("a check failed", check=check.name, exc_info=error)
    return Result(check.name, problem, time.monotonic() - began)
