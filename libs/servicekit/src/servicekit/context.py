"""What the running task works for: ids that travel with it into logs, calls and events.

They follow the task and those that it starts. A task that serves many callers (a queue's worker) has to be
started outside of any, see `detached`.
"""

import contextlib
import contextvars
import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

MAX_ID_CHARACTERS: Final = 128
_FIT = re.compile(rf"[A-Za-z0-9._:@/+=-]{{1,{MAX_ID_CHARACTERS}}}")


class UnfitId(ValueError):
    """An id is empty, too long, or has characters that do not belong into a log line or a header."""


@dataclass(frozen=True, slots=True)
class Work:
    """What a task works for; None where it is not known."""

    correlation_id: str | None = None
    """The same for everything that one request from outside led to."""
    causation_id: str | None = None
    """The id of the event or command that led to this directly."""
    actor: str | None = None
    """Who acts, as in events: `player:<id>`, `dealer:<id>`, `staff:<id>`, `platform`, `system`."""


NOTHING: Final = Work()
_work: contextvars.ContextVar[Work] = contextvars.ContextVar("servicekit_work", default=NOTHING)


def current() -> Work:
    """All that is known of what the running task works for."""
    return _work.get()


def correlation_id() -> str | None:
    """The correlation id of what the running task works for."""
    return _work.get().correlation_id


def causation_id() -> str | None:
    """The id of what led to the present work directly."""
    return _work.get().causation_id


def actor() -> str | None:
    """Who acts."""
    return _work.get().actor


@contextlib.contextmanager
def bind(
    *,
    correlation_id: str | None = None,
    causation_id: str | None = None,
    actor: str | None = None,
) -> Iterator[Work]:
    """Within the context, work for these; what is None stays as it was. Raises UnfitId."""
    given = {"correlation_id": correlation_id, "causation_id": causation_id, "actor": actor}
    for name, value in given.items():
        if value is not None and not is_fit(value):
            raise UnfitId(f"{name}: 1 to {MAX_ID_CHARACTERS} letters, digits and ._:@/+=-")
    work = replace(_work.get(), **{name: value for name, value in given.items() if value is not None})
    token = _work.set(work)
    try:
        yield work
    finally:
        _work.reset(token)


def is_fit(text: str) -> bool:
    """Whether a text may be an id: bounded, and harmless in a log line, a header or a label."""
    return _FIT.fullmatch(text) is not None


def new_correlation_id() -> str:
    """A fresh correlation id, for work that nobody outside asked for or whose caller brought none."""
    return str(uuid.uuid4())


def accepted_correlation_id(given: str | None) -> str:
    """The caller's correlation id if it is fit, else a fresh one: never a refusal for the sake of a log."""
    return given if given is not None and is_fit(given) else new_correlation_id()


def detached() -> contextvars.Context:
    """An empty context for a task that serves many callers: `create_task(…, context=detached())`.

    Otherwise it would speak for ever in the name of the caller that happened to start it.
    """
    return contextvars.Context()
