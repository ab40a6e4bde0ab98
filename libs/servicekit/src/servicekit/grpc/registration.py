"""Bringing services into a server: each handler wrapped, each call with a rule, nothing besides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias, cast

import grpc
import grpc.aio

from servicekit.grpc.exposure import Access, Exposed
from servicekit.grpc.handling import Handling, refuse_unknown

# Generic for the type checker only.
Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"


class WrongHandlers(ValueError):
    """A service brings handlers that nobody opened, or lacks some that somebody did."""


class Registration:
    """Takes handlers from generated code (which takes it for a server) and gives them to gRPC, wrapped."""

    def __init__(self, server: grpc.aio.Server, handling: Handling) -> None:
        self._server = server
        self._handling = handling
        self._taken: dict[str, Handler] = {}

    def expose(self, item: Exposed) -> None:
        """Bring in a service. Raises WrongHandlers, or TypeError for a handler that would block."""
        self._bring(item, item.rules())

    def always_serve(self, item: Exposed) -> None:
        """Bring in a service of tools and balancers: no deadline is asked for, no limit counts."""
        self._bring(item, dict.fromkeys(item.rules()))

    def close(self) -> None:
        """Answer whatever else is called with a reason."""
        self._server.add_generic_rpc_handlers((_Unknown(),))

    def add_generic_rpc_handlers(self, generic_rpc_handlers: Iterable[grpc.GenericRpcHandler]) -> None:
        """What generated code also calls, with the same handlers in another form."""

    def add_registered_method_handlers(
        self, service_name: str, method_handlers: Mapping[str, Handler]
    ) -> None:
        """What generated code calls."""
        self._taken |= {f"/{service_name}/{name}": handler for name, handler in method_handlers.items()}

    def _bring(self, item: Exposed, rules: Mapping[str, Access | None]) -> None:
        self._taken = {}
        item.register(cast("grpc.aio.Server", self))
        if wrong := set(self._taken).symmetric_difference(rules):
            raise WrongHandlers(
                f"opened without a handler, or the other way about: {', '.join(sorted(wrong))}"
            )
        service = item.descriptor.full_name
        wrapped = {
            method.rpartition("/")[2]: self._handling.wrap(method, handler, rules[method])
            for method, handler in self._taken.items()
        }
        self._server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, wrapped),))
        self._server.add_registered_method_handlers(service, wrapped)


class _Unknown(grpc.GenericRpcHandler):
    """Comes last, and takes all."""

    def __init__(self) -> None:
        # Streams, so that it need not wait for a request before it answers.
        self._handler: Handler = grpc.stream_stream_rpc_method_handler(refuse_unknown)

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> Handler:  # noqa: ARG002 - all are the same
        """The refusal."""
        return self._handler
