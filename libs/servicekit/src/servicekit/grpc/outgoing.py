"""What a call to another service takes along: its deadline, what it belongs to, who acts."""

from collections.abc import Coroutine, Iterable
from dataclasses import dataclass
from typing import Any, Final, Protocol

import grpc

from servicekit import context as work_context
from servicekit.grpc.calls import current_call
from servicekit.grpc.observing import CORRELATION_KEY, Seen, calling_span
from servicekit.grpc.settings import ClientSettings
from servicekit.grpc.signing import CONTEXT_KEY, MAX_LIFETIME_S, ContextSigner, acting, passed_on

Metadata = tuple[tuple[str, str | bytes], ...]

_RESERVED: Final = frozenset({CONTEXT_KEY, CORRELATION_KEY})
_SHORTEST_S: Final = 0.001
"""What is left of a deadline that is over, so that gRPC answers as for any other."""
_ON_ITS_WAY_S: Final = 1.0
"""How much longer than its deadline a call's context is valid: it may be repeated at the last moment."""


class Ending(Protocol):
    """A call under way, of any kind."""

    def add_done_callback(self, callback: Any, /) -> None:  # noqa: ANN401 - each kind of call names itself
        """Be told at its end."""
        ...

    def code(self) -> Coroutine[Any, Any, grpc.StatusCode]:
        """Its status."""
        ...


@dataclass(frozen=True, slots=True)
class Prepared:
    """One call, ready to be sent."""

    timeout_s: float
    metadata: Metadata
    seen: Seen

    def watch(self, call: Ending) -> None:
        """Note how it ends."""

        def ended(_call: object) -> None:
            self.seen.made(_at_once(call.code()))

        call.add_done_callback(ended)


class Outgoing:
    """Prepares the calls of one channel."""

    def __init__(self, settings: ClientSettings, audience: str, signer: ContextSigner | None) -> None:
        self._settings = settings
        self._audience = audience
        self._signer = signer

    def prepare(
        self,
        method: str,
        request: bytes | None,
        *,
        streams: bool,
        timeout_s: float | None,
        metadata: Iterable[tuple[str, str | bytes]] | None,
    ) -> Prepared:
        """`request` as it will be sent; None for a stream of requests.

        Raises ValueError for metadata that only this module may set, and for a stream of requests in an
        actor's name, which no signature would cover.
        """
        given = tuple(metadata or ())
        if taken := _RESERVED.intersection(key for key, _ in given):
            raise ValueError(f"{', '.join(sorted(taken))} cannot be set by hand")
        limit_s = self._limit_s(timeout_s, streams=streams)
        context = self._signed(method, request, limit_s)
        correlation_id = work_context.correlation_id() or work_context.new_correlation_id()
        carrier: dict[str, str] = {}
        with work_context.bind(correlation_id=correlation_id):
            seen = calling_span(method, carrier)
        sent = (*given, (CORRELATION_KEY, correlation_id), *carrier.items(), *context)
        return Prepared(limit_s, sent, seen)

    def _limit_s(self, timeout_s: float | None, *, streams: bool) -> float:
        """The call's own limit, and never longer than the call lasts for whose sake it is made."""
        usual_s = self._settings.default_stream_s if streams else self._settings.default_timeout_s
        limit_s = usual_s if timeout_s is None else timeout_s
        served = current_call()
        return max(_SHORTEST_S, limit_s if served is None else min(limit_s, served.remaining_s()))

    def _signed(self, method: str, request: bytes | None, limit_s: float) -> Metadata:
        if (passed := passed_on()) is not None:
            (signed,) = passed
            return () if signed is None else ((CONTEXT_KEY, signed),)
        actor = acting()
        if actor is None or self._signer is None:
            return ()
        if request is None:
            raise ValueError(f"{method}: a stream of requests cannot be sent in an actor's name")
        signed = self._signer.sign(
            actor,
            audience=self._audience,
            method=method,
            request=request,
            lifetime_s=min(limit_s + _ON_ITS_WAY_S, MAX_LIFETIME_S),
        )
        return ((CONTEXT_KEY, signed),)


def _at_once(asked: Coroutine[Any, Any, grpc.StatusCode]) -> grpc.StatusCode:
    """The answer of a coroutine that has nothing to wait for, since the call has ended."""
    try:
        asked.send(None)
    except StopIteration as answered:
        code: grpc.StatusCode = answered.value
        return code
    asked.close()
    return grpc.StatusCode.UNKNOWN
