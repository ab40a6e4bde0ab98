"""Whether a call may be served at all: its deadline, who calls, who acts."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import grpc
import grpc.aio

from servicekit.grpc.calls import Call
from servicekit.grpc.errors import CallError
from servicekit.grpc.exposure import Access
from servicekit.grpc.settings import ServerSettings
from servicekit.grpc.signing import CONTEXT_KEY
from servicekit.grpc.tls import caller_of
from servicekit.grpc.verifying import CallContext, ContextVerifier


@dataclass(frozen=True, slots=True)
class Route:
    """A call that is served, by its full name; `access` is None for health and reflection."""

    method: str
    access: Access | None
    streams_requests: bool
    streams_responses: bool

    @property
    def streams(self) -> bool:
        """Whether it may last."""
        return self.streams_requests or self.streams_responses


@dataclass(frozen=True, slots=True)
class Incoming:
    """A call before it is served.

    `request` as it came in, None for a stream of requests; `headers` are the call's metadata.
    """

    route: Route
    # What was said stays out of whatever shows the state of a failed call.
    request: bytes | None = field(repr=False)
    headers: Mapping[str, str | bytes] = field(repr=False)
    context: grpc.aio.ServicerContext[Any, Any]


class Admission:
    """Decides for one server."""

    def __init__(self, settings: ServerSettings, verifier: ContextVerifier | None) -> None:
        self._settings = settings
        self._verifier = verifier

    def admit(self, incoming: Incoming) -> Call:
        """The call as its handler may know it.

        Raises CallError: INVALID_ARGUMENT `deadline_missing`, DEADLINE_EXCEEDED `deadline_exceeded`,
        PERMISSION_DENIED `caller_not_allowed` and `actor_not_allowed`, UNAUTHENTICATED
        `call_context_missing`, `call_context_invalid`, `call_context_expired`.
        """
        route = incoming.route
        deadline = self._deadline(route, incoming.context.time_remaining())
        caller = self._caller(incoming.context)
        if route.access is None:
            return Call(route.method, caller, None, deadline)
        if self._settings.tls is not None and route.access.callers is not None:
            _check_caller(caller, route.access.callers)
        context = self._context(incoming)
        _check_actor(context, route.access)
        header = incoming.headers.get(CONTEXT_KEY)
        signed = header if context is not None and isinstance(header, bytes) else None
        return Call(route.method, caller, context, deadline, incoming.request, signed)

    def longest_s(self, route: Route) -> float:
        """How long a call may take here, whatever its own deadline says, in seconds."""
        return self._settings.max_stream_s if route.streams else self._settings.max_call_s

    def _deadline(self, route: Route, remaining_s: float | None) -> float:
        if remaining_s is None:
            if route.access is not None:
                raise CallError(
                    grpc.StatusCode.INVALID_ARGUMENT, "deadline_missing", "every call needs a deadline"
                )
            remaining_s = self.longest_s(route)
        if remaining_s <= 0:
            raise CallError(
                grpc.StatusCode.DEADLINE_EXCEEDED, "deadline_exceeded", "the deadline was over on arrival"
            )
        return asyncio.get_running_loop().time() + min(remaining_s, self.longest_s(route))

    def _caller(self, context: grpc.aio.ServicerContext[Any, Any]) -> str | None:
        if self._settings.tls is None:
            return None
        return caller_of(context.auth_context(), self._settings.caller_prefix)

    def _context(self, incoming: Incoming) -> CallContext | None:
        header, request = incoming.headers.get(CONTEXT_KEY), incoming.request
        if header is None or self._verifier is None:
            return None
        if request is None or not isinstance(header, bytes):
            raise CallError(
                grpc.StatusCode.UNAUTHENTICATED,
                "call_context_invalid",
                "a call context is for one request, which a stream of requests is not",
            )
        return self._verifier.verify(header, method=incoming.route.method, request=request)


def _check_caller(caller: str | None, allowed: frozenset[str]) -> None:
    if caller is None or caller not in allowed:
        raise CallError(
            grpc.StatusCode.PERMISSION_DENIED,
            "caller_not_allowed",
            f"{caller or 'a connection without a service name'} may not make this call",
        )


def _check_actor(context: CallContext | None, access: Access) -> None:
    if not access.actors:
        return
    if context is None:
        raise CallError(
            grpc.StatusCode.UNAUTHENTICATED, "call_context_missing", "this call needs a signed call context"
        )
    if context.actor.kind not in access.actors:
        raise CallError(
            grpc.StatusCode.PERMISSION_DENIED,
            "actor_not_allowed",
            f"a {context.actor.kind.name.lower()} may not do this",
        )
