"""What a handler may know of the call that it serves."""

import asyncio
import contextlib
import contextvars
from collections.abc import Iterator
from dataclasses import dataclass, field

import grpc

from servicekit.grpc.errors import CallError
from servicekit.grpc.verifying import CallContext


@dataclass(frozen=True, slots=True)
class Call:
    """The call that is being served.

    `caller` is the calling service's name from its certificate, None where it showed none. `context` is who
    acts, None where nobody was vouched for. `deadline` is a time of the event loop's clock. `request` are the
    bytes that came in (None for a stream of requests), and `signed` the signed context beside them: what
    another instance of this service needs to serve the very same call (`passing_on`).
    """

    method: str
    caller: str | None
    context: CallContext | None
    deadline: float
    # What was said stays out of whatever shows the state of a failed call.
    request: bytes | None = field(default=None, repr=False)
    signed: bytes | None = field(default=None, repr=False)

    @property
    def asker(self) -> str:
        """Whose `request_id` it is: who acts, else the calling service, else nobody in particular."""
        if self.context is not None:
            return str(self.context.actor)
        return f"service:{self.caller or ''}"

    def remaining_s(self) -> float:
        """Seconds until the deadline; 0 when it is over."""
        return max(0.0, self.deadline - asyncio.get_running_loop().time())


_call: contextvars.ContextVar[Call | None] = contextvars.ContextVar("servicekit_call", default=None)


def current_call() -> Call | None:
    """The call that the running task serves; None outside of one.

    A task that goes on after the call has to be started detached (`servicekit.context.detached`): it would
    inherit the call, and with it a deadline that is over.
    """
    return _call.get()


def call_context() -> CallContext:
    """Who acts in the call that is being served.

    Raises CallError with UNAUTHENTICATED and the reason `call_context_missing` where nobody was vouched for.
    """
    call = _call.get()
    if call is None or call.context is None:
        raise CallError(
            grpc.StatusCode.UNAUTHENTICATED, "call_context_missing", "this call needs a signed call context"
        )
    return call.context


@contextlib.contextmanager
def serving(call: Call) -> Iterator[None]:
    """Within the context, this is the call that is being served."""
    token = _call.set(call)
    try:
        yield
    finally:
        _call.reset(token)
