"""The endpoint of metrics and health: as little HTTP as it needs, and no more of anything."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator

import pytest
from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily

from servicekit.health import Check, Heartbeat, NotReady, Phase, Readiness
from servicekit.health.endpoint import MOST_CONNECTIONS, Endpoint, EndpointUnavailable, Shown
from servicekit.logging import Redactor
from servicekit.metrics import counter


class Served:
    """An endpoint, and asking it."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.registry = CollectorRegistry()
        self.readiness = Readiness(kept_for_s=0.0)
        self.readiness.enter(Phase.RUNNING)
        self.redactor = Redactor()
        shown = Shown(self.registry, self.readiness, Heartbeat(), loop, 10.0, self.redactor)
        self.endpoint = Endpoint("127.0.0.1", 0, shown)
        self.port = self.endpoint.start()

    async def send(self, request: bytes) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(request)
            async with asyncio.timeout(60):
                return await reader.read()
        except ConnectionResetError:  # cut off with something unread
            return b""
        finally:
            writer.close()

    async def get(self, path: str, method: str = "GET") -> tuple[int, dict[str, str], bytes]:
        answer = await self.send(f"{method} {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        head, _, body = answer.partition(b"\r\n\r\n")
        first, *rest = head.decode().split("\r\n")
        return int(first.split()[1]), dict(line.split(": ") for line in rest), body


@pytest.fixture
async def served() -> Iterator[Served]:  # type: ignore[misc]  # pytest-asyncio's generators
    made = Served(asyncio.get_running_loop())
    yield made
    made.endpoint.stop()


async def test_metrics(served: Served) -> None:
    counter("upcard_calls_total", "Calls that came", into=served.registry).inc()
    status, headers, body = await served.get("/metrics?name=x")
    assert status == 200
    assert headers["Content-Type"].startswith("text/plain; version=0.0.4")
    assert b"upcard_calls_total 1.0" in body
    assert int(headers["Content-Length"]) == len(body)


async def test_a_page_that_is_larger_than_any_buffer_comes_whole(served: Served) -> None:
    calls = counter("upcard_calls_total", "Calls that came", ("method",), into=served.registry)
    for number in range(10_000):
        calls.labels(f"method-{number}")
    status, headers, body = await served.get("/metrics")
    assert (status, int(headers["Content-Length"])) == (200, len(body))


class Broken:
    """A collector that fails."""

    def collect(self) -> Iterator[GaugeMetricFamily]:
        yield GaugeMetricFamily("upcard_things", "Things there are", value=1)
        raise RuntimeError("hunter2")


async def test_a_collector_that_fails_is_an_error_and_the_endpoint_lives(served: Served) -> None:
    served.registry.register(Broken())
    status, _, body = await served.get("/metrics")
    assert (status, json.loads(body)) == (500, {"error": "RuntimeError"})
    assert (await served.get("/health/live"))[0] == 200


async def test_ready_and_not(served: Served) -> None:
    served.redactor.add("hunter22")
    problem: list[str] = []

    async def ask() -> None:
        if problem:
            raise NotReady(problem[0])

    served.readiness.add(Check("database", ask))
    status, headers, body = await served.get("/health/ready")
    assert (status, headers["Cache-Control"]) == (200, "no-store")
    said = json.loads(body)
    assert said["checks"]["database"].pop("took_s") < 60
    assert said == {"ready": True, "phase": "running", "checks": {"database": {"ok": True}}}
    problem.append("the password hunter22 is wrong")
    status, _, body = await served.get("/health/ready")
    assert status == 503
    assert json.loads(body)["checks"]["database"]["problem"] == "the password [masked] is wrong"


async def test_head_has_no_body(served: Served) -> None:
    status, headers, body = await served.get("/health/live", "HEAD")
    assert (status, body) == (200, b"")
    assert int(headers["Content-Length"]) > 0


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"GET /nothing HTTP/1.1\r\n\r\n", 404),
        (b"GET / HTTP/1.1\r\n\r\n", 404),
        (b"POST /metrics HTTP/1.1\r\n\r\n", 405),
        (b"\x16\x03\x01 \r\n\r\n", 400),
        (b"GET\r\n\r\n", 400),
    ],
)
async def test_other_requests(served: Served, request_: bytes, status: int) -> None:
    assert (await served.send(request_)).startswith(b"HTTP/1.1 %d " % status)


async def test_a_request_without_end_is_cut_off(served: Served) -> None:
    assert await served.send(b"GET /metrics HTTP/1.1\r\nX: " + b"x" * 100_000 + b"\r\n\r\n") == b""
    assert (await served.get("/health/live"))[0] == 200


async def test_connections_are_bounded_and_come_back(served: Served) -> None:
    idle = [await asyncio.open_connection("127.0.0.1", served.port) for _ in range(MOST_CONNECTIONS)]
    for _, writer in idle:
        writer.write(b"GET")
    assert await served.send(b"GET /health/live HTTP/1.1\r\n\r\n") == b""
    for _, writer in idle:
        writer.close()
    async with asyncio.timeout(60):
        while await served.send(b"GET /health/live HTTP/1.1\r\n\r\n") == b"":
            pass


@pytest.mark.parametrize("host", ["192.0.2.1", "no-such-host.invalid"])
async def test_an_address_that_is_not_ours_is_one_sentence(host: str) -> None:
    shown = Shown(CollectorRegistry(), Readiness(), Heartbeat(), asyncio.get_running_loop(), 10.0)
    with pytest.raises(EndpointUnavailable, match=f"at {host}:0 .*UPCARD_METRICS_HOST"):
        Endpoint(host, 0, shown).start()


async def test_the_heartbeat_tells_how_long_the_loop_was_silent() -> None:
    heartbeat = Heartbeat()
    assert heartbeat.silent_for_s == 0.0
    async with heartbeat.beating():
        async with asyncio.timeout(60):
            silent = [0.0]
            while silent[-1] >= silent[0]:  # it grows, up to the next beat
                await asyncio.sleep(0.01)
                silent = [*silent[-1:], heartbeat.silent_for_s]
    assert heartbeat.silent_for_s == 0.0
