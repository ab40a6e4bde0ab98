"""One event of the log as one bounded line of JSON, without secrets."""

import datetime as dt
import enum
import traceback
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, TypeAlias
from uuid import UUID

import orjson
from opentelemetry import trace

from servicekit import context
from servicekit.logging.redaction import MASK, Redactor, names_a_secret

ExcInfo: TypeAlias = tuple[type[BaseException], BaseException, TracebackType | None]
Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"

_DEPTH: Final = 4
_ITEMS: Final = 50
_FIELDS: Final = 40
_NAME_CHARACTERS: Final = 100
_TEXTS: Final = (str, bytes, bytearray, memoryview)
_LARGEST_INTEGER: Final = 2**53 - 1
# In this order in each line, so that a person finds them; they are ours, a caller's field steps aside.
_OURS: Final = (
    "time",
    "level",
    "event",
    "logger",
    "service",
    "instance",
    "correlation_id",
    "causation_id",
    "actor",
    "trace_id",
    "span_id",
)


@dataclass(frozen=True, slots=True)
class LineLimits:
    """Bounds of one line."""

    line_bytes: int = 16_384
    """Container engines cut longer lines in pieces that are no JSON."""
    text_characters: int = 4_000
    """Of each text in it; of a traceback twice as many."""


class Renderer:
    """Makes lines."""

    def __init__(
        self, redactor: Redactor, *, service: str, instance: str, limits: LineLimits | None = None
    ) -> None:
        self._redactor = redactor
        self._fixed = {"service": service, "instance": instance}
        self._limits = limits or LineLimits()

    def line(
        self,
        level: str,
        event: object,
        logger: str,
        fields: Mapping[str, Any],
        exc_info: ExcInfo | None = None,
    ) -> bytes:
        """One line, with its line feed. Never raises: what cannot be shown is replaced by what it is."""
        try:
            parts = self._parts(level, event, logger)
            for name, value in list(fields.items())[:_FIELDS]:
                key = self._text(str(name), _NAME_CHARACTERS)
                parts[f"{key}_" if key in _OURS or key == "exception" else key] = self.value(key, value)
            if exc_info is not None:
                parts["exception"] = self._exception(exc_info)
            return self._bounded(parts)
        except Exception as error:  # noqa: BLE001 - a line that cannot be made must not stop what it is about
            return (
                orjson.dumps(
                    {"level": level, "event": "a log line could not be made", "why": type(error).__name__}
                )
                + b"\n"
            )

    def _parts(self, level: str, event: object, logger: str) -> dict[str, Json]:
        work = context.current()
        span = trace.get_current_span().get_span_context()
        parts: dict[str, Json] = {
            "time": dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            "level": level,
            "event": self.value("event", event),
            "logger": logger,
            **self._fixed,
        }
        for name in ("correlation_id", "causation_id", "actor"):
            if (known := getattr(work, name)) is not None:
                parts[name] = known
        if span.is_valid:
            parts |= {"trace_id": f"{span.trace_id:032x}", "span_id": f"{span.span_id:016x}"}
        return parts

    def value(self, name: str, value: object, depth: int = _DEPTH) -> Json:
        """A value as JSON, without secrets, bounded."""
        if value is None or isinstance(value, bool | float):
            return value
        if isinstance(value, int) and not isinstance(value, enum.Enum):
            return int(value) if abs(value) <= _LARGEST_INTEGER else str(value)
        if names_a_secret(name):
            return MASK
        if depth > 0 and isinstance(value, Mapping):
            items = list(value.items())[:_ITEMS]
            return {
                self._text(_as_text(key), _NAME_CHARACTERS): self.value(_as_text(key), one, depth - 1)
                for key, one in items
            }
        if depth > 0 and isinstance(value, Sequence | AbstractSet) and not isinstance(value, _TEXTS):
            return [self.value("", one, depth - 1) for one in list(value)[:_ITEMS]]
        if isinstance(value, Mapping | Sequence | AbstractSet) and not isinstance(value, _TEXTS):
            return f"<{type(value).__name__} of {len(value)}>"
        return self._text(_as_text(value))

    def _text(self, text: str, characters: int | None = None) -> str:
        limit = characters or self._limits.text_characters
        # First without secrets, then cut: a half of a secret would not be recognised. What is absurdly long
        # is cut before, and then loses as much of its end as a half could be.
        if len(text) > 4 * limit:
            shown = self._redactor.text(text[: 4 * limit])[: -self._redactor.longest or None]
        else:
            shown = self._redactor.text(text)
        return self._cut(shown, limit).encode("utf-8", "backslashreplace").decode()

    @staticmethod
    def _cut(text: str, characters: int) -> str:
        return text if len(text) <= characters else f"{text[:characters]}… ({len(text) - characters} more)"

    def _exception(self, exc_info: ExcInfo) -> Json:
        kind, error, where = exc_info
        lines = traceback.format_exception(kind, error, where, limit=-30)
        text, limit = "".join(lines), 2 * self._limits.text_characters
        if len(text) > limit:  # its end says what happened
            text = f"…{self._redactor.text(text[-4 * limit :])[-limit:]}"
        return {"type": f"{kind.__module__}.{kind.__qualname__}", "trace": self._text(text, limit + 1)}

    def _bounded(self, parts: dict[str, Json]) -> bytes:
        made = orjson.dumps(parts) + b"\n"
        if len(made) <= self._limits.line_bytes:
            return made
        short: dict[str, Json] = {}
        for name, value in parts.items():
            # A character is at most six bytes of JSON.
            text = value if isinstance(value, str) else orjson.dumps(value).decode()
            keep = isinstance(value, int | float | None) or len(text) <= 40
            short[name] = value if keep else self._cut(text, max(40, self._limits.line_bytes // 120))
        made = orjson.dumps({**short, "truncated": True}) + b"\n"
        if len(made) <= self._limits.line_bytes:
            return made
        least = {name: short[name] for name in _OURS if name in short}
        return orjson.dumps({**least, "truncated": True}) + b"\n"


def _as_text(value: object) -> str:
    match value:
        case enum.StrEnum():
            return value.value
        case enum.Enum():
            return value.name
        case bytes() | bytearray() | memoryview():
            return f"<{len(value)} bytes>"  # contents, keys: never of use in a line
        case dt.datetime() | dt.date():
            return value.isoformat()
        case str() | UUID() | dt.timedelta() | BaseException():
            show: Callable[[object], str] = str
        case _:
            show = repr
    try:
        return show(value)
    except Exception as error:  # noqa: BLE001 - its own code, which may do anything
        return f"<{type(value).__name__} that cannot be shown: {type(error).__name__}>"
