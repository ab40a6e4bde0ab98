"""Running a service, from its settings to its exit status."""

import asyncio
import contextlib
import faulthandler
import os
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, NoReturn, TypeVar

import structlog

from servicekit.health import Heartbeat, Phase
from servicekit.health.endpoint import Endpoint, EndpointUnavailable, Shown
from servicekit.lifecycle.exits import ExitCode, StartRefused
from servicekit.lifecycle.service import Service
from servicekit.lifecycle.signals import StopSignals
from servicekit.lifecycle.watchdog import Watchdog
from servicekit.logging import Logging, Redactor, configure_logging
from servicekit.metrics import check_registry, describe_build, registry
from servicekit.settings import ServiceSettings, WrongSettings, load_settings, secrets_of, shown
from servicekit.tracing import Tracing, configure_tracing, otlp_exporter

AnySettings = TypeVar("AnySettings", bound=ServiceSettings)
Main = Callable[[Service[AnySettings]], Awaitable[None]]
"""Starts a service's stages in their order, and returns when all of them are started."""

# After a stop's own deadline: what is left to write out, and the interpreter's end.
_GRACE_S = 5.0

_log = structlog.get_logger("servicekit.lifecycle")


def run_service(main: Main[AnySettings], settings: type[AnySettings], *, name: str, version: str) -> NoReturn:
    """Run a service to its end, and end the process with an `ExitCode`. What `__main__.py` calls.

    Reads the settings, sets up logs, metrics, health and traces, calls `main`, then waits: for SIGTERM or
    SIGINT, or for a stage that fails. Then everything is stopped in the reverse order. A second signal, or a
    stop beyond its deadline, ends the process at once.
    """
    _keep_standard_files()
    faulthandler.enable(file=2)
    logging: list[Logging] = []

    def last_words(why: str) -> None:
        _log.critical("ended by force", why=why)
        for one in logging:
            one.flush(0.5)

    signals = StopSignals(lambda: last_words("a second signal"))
    watchdog = Watchdog(lambda: last_words("it hangs; standard error has where"), lambda: signals.asked_at)
    signals.catch()
    try:
        loaded = load_settings(settings)
    except WrongSettings as wrong:
        for problem in wrong.problems:
            print(f"{name}: {problem}", file=sys.stderr)  # noqa: T201 - there is no log yet
        sys.exit(ExitCode.WRONG_SETTINGS)
    made = _configure_logging(loaded, name)
    logging.append(made)
    watchdog.start(loaded.stop_delay_s + loaded.stop_deadline_s + _GRACE_S)
    code = _run(main, _Life(name, version, loaded, signals, watchdog, made.redactor))
    made.flush()
    # The watchdog stays armed: a thread of some library could still keep the interpreter from its end.
    sys.exit(code)


def _keep_standard_files() -> None:
    """Open what was closed: else the next socket would be number 1, and the log be written into it."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number, so this one


def _configure_logging(settings: ServiceSettings, name: str) -> Logging:
    redactor = Redactor()
    for secret in secrets_of(settings):
        redactor.add(secret)
    return configure_logging(
        service=name, instance=settings.instance, level=settings.log_level, redactor=redactor
    )


@dataclass(frozen=True, slots=True)
class _Life:
    name: str
    version: str
    settings: Any
    signals: StopSignals
    watchdog: Watchdog
    redactor: Redactor


def _run(main: Main[Any], life: _Life) -> int:
    describe_build(life.name, life.version)
    check_registry(registry())
    tracing = _switch_tracing_on(life)
    try:
        with asyncio.Runner() as runner:
            code = runner.run(_live(main, life))
    except Exception as error:  # noqa: BLE001 - the last place that can say so
        _log.critical("the service failed", exc_info=error)
        code = ExitCode.FAILED
    finally:
        if tracing is not None and not tracing.close():
            _log.warning("some spans were not sent in time")
    _log.info("ended", code=int(code))
    return code


def _switch_tracing_on(life: _Life) -> Tracing | None:
    endpoint: str | None = life.settings.tracing_endpoint
    if endpoint is None:
        return None
    return configure_tracing(
        service=life.name,
        instance=life.settings.instance,
        sample_ratio=life.settings.tracing_sample_ratio,
        exporter=otlp_exporter(endpoint),
        redactor=life.redactor,
    )


async def _live(main: Main[Any], life: _Life) -> ExitCode:
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(_say)
    service: Service[Any] = Service(life.name, life.settings)
    heartbeat = Heartbeat()
    things = Shown(registry(), service.readiness, heartbeat, loop, life.settings.loop_stall_s, life.redactor)
    async with heartbeat.beating():
        endpoint = Endpoint(life.settings.metrics_host, life.settings.metrics_port, things)
        try:
            port = endpoint.start()
        except EndpointUnavailable as error:
            _log.error("the service cannot start", why=str(error))
            return ExitCode.NOT_STARTED
        try:
            _log.info("starting", version=life.version, metrics_port=port, settings=shown(life.settings))
            return await _start_and_stop(main, service, life)
        finally:
            endpoint.stop()


async def _start_and_stop(main: Main[Any], service: Service[Any], life: _Life) -> ExitCode:
    loop, settings = asyncio.get_running_loop(), life.settings

    def pass_on() -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended: so has the service
            loop.call_soon_threadsafe(service.ask_to_stop)

    life.signals.tell(pass_on)
    code = ExitCode.STOPPED
    limit = asyncio.timeout(settings.start_deadline_s)
    life.watchdog.arm(settings.start_deadline_s + settings.stop_deadline_s + _GRACE_S, ExitCode.NOT_STARTED)
    try:
        async with limit:
            await asyncio.sleep(0)  # a signal that has come already is heard first
            await service.begin(main)
        if not service.stopping:
            life.watchdog.disarm()
            _log.info("running")
        await service.until_stop_wanted()
    except asyncio.CancelledError as error:
        if not service.stopping:  # nobody asked for it: some stage let it out
            _log.critical("the start failed", exc_info=error)
            code = ExitCode.FAILED
    except StartRefused as error:
        _log.error("the service cannot start", why=str(error))
        code = ExitCode.STOPPED if service.stopping else ExitCode.NOT_STARTED
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever it is, what was started has to be stopped
        if limit.expired():
            _log.error("the service did not start in time", within_s=settings.start_deadline_s)
            code = ExitCode.NOT_STARTED
        elif service.stopping:
            _log.warning("what was being started failed when it was broken off", exc_info=error)
        else:
            _log.critical("the start failed", exc_info=error)
            code = ExitCode.FAILED
    return await _stop(service, life, code)


async def _stop(service: Service[Any], life: _Life, code: ExitCode) -> ExitCode:
    await _forget_cancelling()
    limit, delay = life.settings.stop_deadline_s, life.settings.stop_delay_s
    was_running = service.readiness.phase is Phase.RUNNING
    service.readiness.enter(Phase.STOPPING)
    asked = life.signals.asked
    failed = service.failure is not None or code is not ExitCode.STOPPED
    why = asked.name if asked is not None else "failure" if failed else "itself"
    if service.failure is not None:
        code = ExitCode.FAILED
        _log.critical("the service has to stop", exc_info=service.failure)
    if not (asked is not None and was_running and service.failure is None):
        delay = 0.0  # nobody relies on it any more
    life.watchdog.arm(delay + limit + _GRACE_S)
    _log.info("stopping", why=why, delay_s=delay)
    await service.announce_stop()
    await asyncio.sleep(delay)
    await service.stop(limit)
    if service.failed_to_stop and code is ExitCode.STOPPED:
        code = ExitCode.STOPPED_BADLY
    return code


async def _forget_cancelling() -> None:
    """What was cancelled was the start. A stop is not, and must not be by what is left of that."""
    task = asyncio.current_task()
    while task is not None and task.cancelling():
        task.uncancel()
    # A stage that cancelled the start by itself, synchronously, may not have come to an await since.
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.sleep(0)


def _say(_: asyncio.AbstractEventLoop, said: dict[str, Any]) -> None:
    """Log what the event loop would print."""
    _log.error(
        "an exception in the event loop",
        what=said.get("message"),
        task=str(said.get("task") or said.get("future") or said.get("handle") or ""),
        exc_info=said.get("exception"),
    )
