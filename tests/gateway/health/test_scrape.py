"""Metrics of services as they are read, and rows and alarms that come of them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from prometheus_client import CollectorRegistry, Counter, Gauge, generate_latest

from tests.gateway.health.behind import NOW
from upcard_gateway.adapters.metrics_scrape import MOST_BYTES, Scrape, samples_of
from upcard_gateway.app.health import Seen, overview_of
from upcard_gateway.app.metrics_seen import Instance, MetricsSeen, Sample


@contextlib.asynccontextmanager
async def telling(
    body: bytes, *, status: str = "200 OK", pause_s: float = 0.0
) -> AsyncIterator[tuple[str, list[str]]]:
    """A server that answers everything so; its address, and the paths that were asked for."""
    asked: list[str] = []
    done = asyncio.Event()
    serving: set[asyncio.Task[None]] = set()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            asked.append(head.decode().split(" ")[1])
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(done.wait(), pause_s)
            lines = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
            writer.write(lines.encode() + body)
            await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass  # whoever asked has gone
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(answer(reader, writer))
        serving.add(task)
        task.add_done_callback(serving.discard)

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    try:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}", asked
    finally:
        server.close()
        done.set()
        await asyncio.gather(*serving)


def a_registry() -> CollectorRegistry:
    registry = CollectorRegistry()
    Gauge("upcard_ready", "Whether it is ready", registry=registry).set(1)
    Counter("upcard_works_total", "Works that were done", ["reason"], registry=registry).labels("a").inc(3)
    return registry


def scrape(addresses: dict[str, tuple[str, ...]], *, timeout_s: float = 5.0) -> Scrape:
    return Scrape(addresses, lambda: NOW, timeout_s=timeout_s, own=a_registry(), own_name="g1")


async def test_instances_are_read_and_summed() -> None:
    text = generate_latest(a_registry())
    async with telling(text) as (one, asked), telling(text) as (other, _):
        reader = scrape({"table": (one, other)})
        seen = await reader.read()
        assert seen.value("table", "upcard_works_total", reason="a") == 6
        assert seen.value("table", "upcard_works_total", reason="b") is None
        assert seen.most("table", "upcard_works_total") == 3
        assert seen.by("table", "upcard_works_total", "reason") == {"a": 6}
        # Readiness is asked before, so that its metric is of now.
        assert asked == ["/health/ready", "/metrics"]
        # Who asks a moment later gets the same.
        assert await reader.read() is seen
    (own,) = seen.of("gateway")
    assert (own.address, own.value("upcard_works_total")) == ("g1", 3)
    assert own.value("upcard_ready") is None


async def test_what_does_not_answer_is_told_with_why_and_harms_nobody() -> None:
    text = generate_latest(a_registry())
    async with (
        telling(text) as (well, _),
        telling(b"no metrics {{{") as (garbled, _),
        telling(text, status="500 Broken") as (broken, _),
        telling(b"x" * (MOST_BYTES + 1)) as (huge, _),
    ):
        there = (well, garbled, broken, huge, "127.0.0.1:1")
        seen = await scrape({"table": there}).read()
    whys = [one.why for one in seen.of("table")]
    assert whys == ["", "unreadable", "unreadable", "unreadable", "no_answer"]
    assert seen.value("table", "upcard_works_total") == 3


async def test_a_slow_instance_is_waited_for_no_longer_than_set() -> None:
    async with telling(b"", pause_s=30.0) as (slow, _):
        seen = await scrape({"table": (slow,)}, timeout_s=0.2).read()
    assert [one.why for one in seen.of("table")] == ["too_slow"]


def test_buckets_are_left_out() -> None:
    text = '# TYPE a histogram\na_bucket{le="1"} 1\na_bucket{le="+Inf"} 2\na_sum 3\na_count 2\n'
    samples, dropped = samples_of(text)
    assert [(one.name, one.value) for one in samples] == [("a_sum", 3.0), ("a_count", 2.0)]
    assert dropped == 0


def instance(service: str, address: str = "a:1", **values: float) -> Instance:
    return Instance(service, address, tuple(Sample(name, {}, value) for name, value in values.items()))


def test_readiness_memory_and_age_come_from_metrics() -> None:
    began = NOW.timestamp() - 60
    table = Instance(
        "table",
        "a:1",
        (
            Sample("upcard_ready", {}, 0),
            Sample("upcard_check_ok", {"check": "database"}, 0),
            Sample("upcard_check_ok", {"check": "loop"}, 1),
            Sample("upcard_build_info", {"service": "table", "version": "1.2"}, 1),
            Sample("process_start_time_seconds", {}, began),
            Sample("process_resident_memory_bytes", {}, 1_000),
        ),
    )
    metrics = MetricsSeen(
        NOW, (table, Instance("wallet", "b:1", why="no_answer"), instance("wallet", upcard_ready=1))
    )
    seen = overview_of(("table", "wallet", "bonus"), Seen(), metrics)
    first, second, third = seen.services
    assert (first.state, first.failing, first.version) == ("not_ready", ("database",), "1.2")
    assert first.began is not None
    assert first.began.timestamp() == began
    assert (second.state, second.silent, second.instances) == ("partly", ("b:1",), 1)
    assert (third.state, third.instances) == ("ready", 0)
    assert [one.key for one in seen.alarms] == ["service_not_ready", "instances_silent"]


def test_any_of_what_must_never_be_is_an_alarm() -> None:
    metrics = MetricsSeen(
        NOW,
        (
            instance("wallet", upcard_wallet_difference_alarms=2, upcard_wallet_suspense_minor_units_total=5),
            instance("table", upcard_table_waiting_for_floor=1),
            instance("bonus", upcard_bonus_misused_free_bets_total=0),
        ),
    )
    seen = overview_of((), Seen(), metrics)
    assert [(one.key, one.values["n"]) for one in seen.alarms] == [
        ("differences", 2),
        ("suspense", 5),
        ("waiting_for_floor", 1),
    ]
