"""`/metrics`, `/health/live` and `/health/ready` over HTTP, from a thread with an event loop of its own.

When the service's loop stands still, this one can still say so. It speaks as little HTTP as Prometheus and
balancers need, with a bound for everything: GET and HEAD, one request a connection.
"""

import asyncio
import concurrent.futures
import contextlib
import threading
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Final, Self

import orjson
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from servicekit.health.heartbeat import Heartbeat
from servicekit.health.readiness import LONGEST_CHECK_S, Readiness, Report
from servicekit.logging.redaction import Redactor

MOST_CONNECTIONS: Final = 32
_LARGEST_REQUEST_BYTES: Final = 8_192
_REQUEST_WITHIN_S: Final = 5.0
_READY_WITHIN_S: Final = LONGEST_CHECK_S + 1.0
_JSON: Final = "application/json"
_REASONS: Final = {
    200: "OK",
    400: "Bad Request",
    404: "Not Found",
    405: "Method Not Allowed",
    500: "Internal Server Error",
    503: "Service Unavailable",
}


class EndpointUnavailable(Exception):
    """The endpoint cannot listen: its address is taken or is not this machine's."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What is sent back."""

    status: int
    body: bytes
    kind: str = _JSON


@dataclass(frozen=True, slots=True)
class Shown:
    """What an endpoint shows: of the service, whose event loop is `loop`."""

    registry: CollectorRegistry
    readiness: Readiness
    heartbeat: Heartbeat
    loop: asyncio.AbstractEventLoop
    stall_s: float
    """Seconds without a turn of the loop after which the service counts as not live."""
    redactor: Redactor = field(default_factory=Redactor)


class Endpoint:
    """Serves metrics and health from `start` to `stop`, in a thread of its own."""

    def __init__(self, host: str, port: int, shown: Shown) -> None:
        self._host = host
        self._port = port
        self._registry = shown.registry
        self._readiness = shown.readiness
        self._heartbeat = shown.heartbeat
        self._service_loop = shown.loop
        self._stall_s = shown.stall_s
        self._redactor = shown.redactor
        self._started: concurrent.futures.Future[int] = concurrent.futures.Future()
        self._thread = threading.Thread(target=self._run, name="health-endpoint", daemon=True)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping: asyncio.Event | None = None
        self._open = 0
        self._answers: dict[str, Callable[[], Coroutine[Any, Any, Answer]]] = {
            "/metrics": self._metrics,
            "/health/live": self._live,
            "/health/ready": self._ready,
        }

    def start(self) -> int:
        """Listen; the port. Raises EndpointUnavailable."""
        self._thread.start()
        try:
            return self._started.result(timeout=10)
        except OSError as error:
            why = error.strerror or str(error)
            raise EndpointUnavailable(
                f"metrics and health cannot be served at {self._host}:{self._port} ({why}):"
                " set UPCARD_METRICS_HOST and UPCARD_METRICS_PORT to an address of this machine that is free"
            ) from None

    def stop(self, timeout_s: float = 2.0) -> None:
        """Listen no longer."""
        if self._loop is not None and self._stopping is not None:
            with contextlib.suppress(RuntimeError):  # its loop has ended
                self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join(timeout_s)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._loop, self._stopping = asyncio.get_running_loop(), asyncio.Event()
        try:
            server = await asyncio.start_server(
                self._connected,
                self._host,
                self._port,
                limit=_LARGEST_REQUEST_BYTES,
                backlog=MOST_CONNECTIONS,
            )
        except Exception as error:  # noqa: BLE001 - whoever waits for the start is told
            self._started.set_exception(error)
            return
        self._started.set_result(server.sockets[0].getsockname()[1])
        await self._stopping.wait()
        server.close()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open += 1
        try:
            if self._open <= MOST_CONNECTIONS:
                async with asyncio.timeout(_REQUEST_WITHIN_S + _READY_WITHIN_S):
                    await self._speak(reader, writer)
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # whoever asked has gone, is too slow, or says too much
        except asyncio.CancelledError:
            writer.transport.abort()  # the endpoint stops
        finally:
            await _close(writer)
            self._open -= 1

    async def _speak(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(_REQUEST_WITHIN_S):
            head = await reader.readuntil(b"\r\n\r\n")
        method, _, rest = head.decode("latin-1").partition(" ")
        path = rest.partition(" ")[0].partition("?")[0]
        answer = await self._answer(method, path)
        lines = [
            f"HTTP/1.1 {answer.status} {_REASONS[answer.status]}",
            f"Content-Type: {answer.kind}",
            f"Content-Length: {len(answer.body)}",
            "Cache-Control: no-store",
            "X-Content-Type-Options: nosniff",
            "Connection: close",
            *(["Allow: GET, HEAD"] if answer.status == 405 else []),
        ]
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + (answer.body if method != "HEAD" else b""))
        await writer.drain()

    async def _answer(self, method: str, path: str) -> Answer:
        if method not in {"GET", "HEAD"}:
            return Answer(405 if method.isalpha() else 400, b"{}")
        make = self._answers.get(path)
        if make is None:
            return Answer(404, orjson.dumps({"paths": sorted(self._answers)}))
        try:
            return await make()
        except TimeoutError:
            raise
        except Exception as error:  # noqa: BLE001 - a metric that cannot be read must not end the endpoint
            return Answer(500, orjson.dumps({"error": type(error).__name__}))

    async def _metrics(self) -> Answer:
        return Answer(200, generate_latest(self._registry), CONTENT_TYPE_PLAIN_0_0_4)

    async def _live(self) -> Answer:
        silent_s = self._heartbeat.silent_for_s
        live = silent_s <= self._stall_s
        return Answer(200 if live else 503, orjson.dumps({"live": live, "loop_silent_s": round(silent_s, 3)}))

    async def _ready(self) -> Answer:
        asked = self._readiness.report()
        try:
            future = asyncio.run_coroutine_threadsafe(asked, self._service_loop)
        except RuntimeError:  # the service's loop has ended
            asked.close()
            return Answer(503, orjson.dumps({"ready": False, "phase": "stopped", "checks": {}}))
        try:
            async with asyncio.timeout(_READY_WITHIN_S):
                report = await asyncio.wrap_future(future)
        except TimeoutError:
            future.cancel()
            why = {"ready": False, "phase": "stalled", "checks": {}}
            return Answer(503, orjson.dumps(why))
        return Answer(200 if report.ready else 503, orjson.dumps(self._shown(report)))

    def _shown(self, report: Report) -> dict[str, object]:
        return {
            "ready": report.ready,
            "phase": report.phase.value,
            "checks": {
                result.name: {
                    "ok": result.problem is None,
                    "took_s": round(result.took_s, 3),
                    **({} if result.problem is None else {"problem": self._redactor.text(result.problem)}),
                }
                for result in report.results
            },
        }


async def _close(writer: asyncio.StreamWriter) -> None:
    """Send what is left and close; a reader that takes nothing is cut off."""
    writer.close()
    try:
        async with asyncio.timeout(_REQUEST_WITHIN_S):
            await writer.wait_closed()
    except (OSError, TimeoutError):
        writer.transport.abort()
