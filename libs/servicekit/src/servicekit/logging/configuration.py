"""Everything that is logged goes one way: structlog, the standard library, warnings, what nobody caught."""

import atexit
import logging
import sys
import threading
import warnings
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Final

import structlog

from servicekit.logging.figures import FIGURES
from servicekit.logging.redaction import Redactor
from servicekit.logging.rendering import ExcInfo, LineLimits, Renderer
from servicekit.logging.writer import LineWriter, Sink, standard_output

_LEVELS: Final = {"debug": 10, "info": 20, "warning": 30, "error": 40, "critical": 50}
_RECORD: Final = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class _NamedLogger:
    """What structlog's loggers write to: it knows the name, the processors do the rest."""

    def __init__(self, name: str) -> None:
        self.name = name

    def msg(self, **_: object) -> None:
        """Nothing: the last processor dropped the event, having written it."""

    debug = info = warning = error = critical = exception = log = msg


@dataclass(slots=True)
class Logging:
    """The process's logging. `close` writes out what waits and puts back what was there before."""

    redactor: Redactor
    renderer: Renderer
    writer: LineWriter
    _undo: list[Any] = field(default_factory=list)

    def write(
        self, level: str, event: object, logger: str, fields: Mapping[str, Any], exc_info: ExcInfo | None
    ) -> None:
        """Write one line."""
        FIGURES.written(level)
        self.writer.write(self.renderer.line(level, event, logger, fields, exc_info))

    def flush(self, timeout_s: float = 2.0) -> bool:
        """Write out what waits; whether that was done in time."""
        return self.writer.flush(timeout_s)

    def close(self) -> None:
        """Write out what waits and put back what was there before."""
        while self._undo:
            self._undo.pop()()
        self.writer.close()


def configure_logging(
    *,
    service: str,
    instance: str,
    level: str = "info",
    redactor: Redactor | None = None,
    limits: LineLimits | None = None,
    sink: Sink = standard_output,
) -> Logging:
    """Log as JSON, a line an event, from now on.

    `level`: debug, info, warning, error or critical. `redactor` knows the secrets. Call it once, at the
    start; another call takes over.
    """
    redactor = redactor or Redactor()
    renderer = Renderer(redactor, service=service, instance=instance, limits=limits)
    made = Logging(redactor, renderer, LineWriter(sink))
    _take_over_structlog(made, _LEVELS[level])
    _take_over_standard_library(made, _LEVELS[level])
    _take_over_hooks(made)
    atexit.register(made.writer.close)
    made._undo.append(lambda: atexit.unregister(made.writer.close))  # noqa: SLF001 - its own maker
    return made


def _take_over_structlog(made: Logging, level: int) -> None:
    def write(logger: Any, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:  # noqa: ANN401 - as structlog calls it
        exc_info = _exc_info(event.pop("exc_info", None))
        level_name = "error" if method == "exception" else method
        said = event.pop("event", "")
        made.write(level_name, said, getattr(logger, "name", ""), event, exc_info)
        raise structlog.DropEvent

    before = structlog.get_config()
    structlog.configure(
        processors=[structlog.contextvars.merge_contextvars, write],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=lambda *names: _NamedLogger(str(names[0]) if names else "service"),
        context_class=dict,
        cache_logger_on_first_use=False,
    )
    made._undo.append(lambda: structlog.configure(**before))  # noqa: SLF001 - its own maker


def _exc_info(given: object) -> ExcInfo | None:
    if isinstance(given, BaseException):
        return type(given), given, given.__traceback__
    if isinstance(given, tuple) and len(given) == 3 and given[0] is not None:
        return given
    if given and not isinstance(given, tuple) and (error := sys.exception()) is not None:
        return type(error), error, error.__traceback__
    return None


class _Handler(logging.Handler):
    """The standard library's records, as lines like all others."""

    def __init__(self, made: Logging) -> None:
        super().__init__()
        self._made = made

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record."""
        try:
            said = record.getMessage()
        except Exception:  # noqa: BLE001 - arguments that do not fit their text; the text alone still says much
            said = str(record.msg)
        fields = {name: value for name, value in vars(record).items() if name not in _RECORD}
        level = next((name for name, at in reversed(_LEVELS.items()) if record.levelno >= at), "debug")
        self._made.write(level, said, record.name, fields, _exc_info(record.exc_info))


def _take_over_standard_library(made: Logging, level: int) -> None:
    root = logging.getLogger()
    handlers, level_before = root.handlers[:], root.level
    root.handlers[:] = [_Handler(made)]
    # What libraries say in passing is theirs; ours is what `level` is about.
    root.setLevel(max(level, logging.INFO))
    shown = warnings.showwarning
    logging.captureWarnings(capture=True)

    def undo() -> None:
        logging.captureWarnings(capture=False)
        warnings.showwarning = shown
        root.handlers[:] = handlers
        root.setLevel(level_before)

    made._undo.append(undo)  # noqa: SLF001 - its own maker


def _take_over_hooks(made: Logging) -> None:
    before = sys.excepthook, threading.excepthook, sys.unraisablehook

    def uncaught(kind: type[BaseException], error: BaseException, where: TracebackType | None) -> None:
        made.write("critical", "an exception that nobody caught", "service", {}, (kind, error, where))

    def in_thread(said: threading.ExceptHookArgs) -> None:
        if said.exc_value is not None and said.exc_type is not SystemExit:
            name = said.thread.name if said.thread else "?"
            info = (said.exc_type, said.exc_value, said.exc_traceback)
            made.write("critical", "a thread ended with an exception", "service", {"thread": name}, info)

    def unraisable(said: "sys.UnraisableHookArgs") -> None:
        if said.exc_value is not None:
            info = (said.exc_type, said.exc_value, said.exc_traceback)
            fields = {"where": type(said.object).__name__}
            made.write("error", said.err_msg or "an exception in a finaliser", "service", fields, info)

    sys.excepthook, threading.excepthook, sys.unraisablehook = uncaught, in_thread, unraisable

    def undo() -> None:
        sys.excepthook, threading.excepthook, sys.unraisablehook = before

    made._undo.append(undo)  # noqa: SLF001 - its own maker
