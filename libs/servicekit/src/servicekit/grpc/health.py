"""The standard health service: whether calls should be sent here."""

from typing import Any

from grpc_health.v1 import health, health_pb2

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
# The stubs are older than this call.
_messages: Any = health_pb2


class Health(health.aio.HealthServicer):
    """gRPC's own, with the call that it lacks in its asynchronous form."""

    def __init__(self, services: tuple[str, ...]) -> None:
        """`services` by their full names; the empty name for the server as a whole is among them always."""
        super().__init__()
        self._names = ("", *services)
        self._serving = False
        self._stopping = False

    async def tell(self, *, serving: bool) -> None:
        """Whether calls should be sent here. After `stopping` it is no for good."""
        self._serving = serving and not self._stopping
        for name in self._names:
            await self.set(name, SERVING if serving else NOT_SERVING)

    async def stopping(self) -> None:
        """No, for good."""
        self._serving, self._stopping = False, True
        await self.enter_graceful_shutdown()

    async def List(self, _request: Any, _context: Any) -> Any:  # noqa: ANN401, N802 - as the proto has it
        """The state of all services."""
        state = health_pb2.HealthCheckResponse(status=SERVING if self._serving else NOT_SERVING)
        return _messages.HealthListResponse(statuses=dict.fromkeys(self._names, state))
