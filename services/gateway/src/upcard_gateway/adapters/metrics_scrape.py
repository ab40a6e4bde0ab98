"""Metrics of services, read where Prometheus reads them, and our own from the process's registry."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Final

import aiohttp
from prometheus_client import CollectorRegistry
from prometheus_client.parser import text_string_to_metric_families

from servicekit.metrics import registry
from upcard_gateway.app.metrics_seen import Instance, MetricsSeen, Sample

__all__ = ["Scrape", "samples_of"]

MOST_BYTES: Final = 4 * 1_048_576
"""Most bytes of one instance's metrics."""
MOST_SAMPLES: Final = 20_000
"""Most samples that are kept of one instance."""
AT_ONCE: Final = 8
"""Instances that are asked side by side."""
FRESH_S: Final = 2.0
"""For so long nobody asks again: many pages look, and each instance is asked once."""
OWN: Final = "gateway"
_ASKED: Final = ("upcard_ready", "upcard_check_")


class Scrape:
    """Reads all instances at once. One reading serves everybody who asks while it is under way or fresh."""

    def __init__(
        self,
        addresses: Mapping[str, Sequence[str]],
        now: Callable[[], datetime],
        *,
        timeout_s: float,
        own: CollectorRegistry | None = None,
        own_name: str = "",
    ) -> None:
        self._addresses = addresses
        self._now = now
        self._timeout_s = timeout_s
        self._own = registry() if own is None else own
        self._own_name = own_name
        self._turn = asyncio.Semaphore(AT_ONCE)
        self._reading = asyncio.Lock()
        self._seen: MetricsSeen | None = None
        self._read_s = 0.0

    async def read(self) -> MetricsSeen:
        """See `MetricsReader`. Instances that do not answer are told as such; nothing is raised for them."""
        async with self._reading:
            if self._seen is None or time.monotonic() - self._read_s >= FRESH_S:
                wanted = [(service, one) for service, all_ in self._addresses.items() for one in all_]
                async with self._session() as session:
                    found = await asyncio.gather(*(self._instance(session, *one) for one in wanted))
                own = [] if OWN in self._addresses else [_own(self._own, self._own_name)]
                self._seen = MetricsSeen(self._now(), (*found, *own))
                self._read_s = time.monotonic()
            return self._seen

    def _session(self) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(
            timeout=aiohttp.ClientTimeout(total=self._timeout_s),
            cookie_jar=aiohttp.DummyCookieJar(),
            connector=aiohttp.TCPConnector(limit=AT_ONCE, force_close=True),
        )

    async def _instance(self, session: aiohttp.ClientSession, service: str, address: str) -> Instance:
        try:
            async with self._turn:
                text = await _text(session, address)
            samples, dropped = await asyncio.to_thread(samples_of, text)
        except TimeoutError:
            return Instance(service, address, why="too_slow")
        except (aiohttp.ClientError, OSError):
            return Instance(service, address, why="no_answer")
        except ValueError:
            return Instance(service, address, why="unreadable")
        return Instance(service, address, samples, dropped=dropped)


async def _text(session: aiohttp.ClientSession, address: str) -> str:
    # Whether it is ready is a metric too, as of the last time it was asked: it is asked now.
    async with session.get(f"http://{address}/health/ready", allow_redirects=False):
        pass
    async with session.get(f"http://{address}/metrics", allow_redirects=False) as answer:
        if answer.status != 200:
            raise ValueError(f"answered {answer.status}")
        body = b""
        async for part in answer.content.iter_chunked(65_536):
            body += part
            if len(body) > MOST_BYTES:
                raise ValueError("more bytes than metrics have")
        return body.decode()


def samples_of(text: str) -> tuple[tuple[Sample, ...], int]:
    """The samples of a text in Prometheus's format, buckets left out, and how many were too many.

    Raises ValueError: it is not in that format.
    """
    kept: list[Sample] = []
    dropped = 0
    for family in text_string_to_metric_families(text):
        for one in family.samples:
            if one.name.endswith(("_bucket", "_created")):
                continue
            if len(kept) < MOST_SAMPLES:
                kept.append(Sample(one.name, dict(one.labels), float(one.value)))
            else:
                dropped += 1
    return tuple(kept), dropped


def _own(own: CollectorRegistry, name: str) -> Instance:
    samples = [
        Sample(one.name, dict(one.labels), float(one.value))
        for family in own.collect()
        for one in family.samples
        # Whether this process is ready, nobody may have asked; whoever reads this is served by it.
        if not one.name.endswith(("_bucket", "_created")) and not one.name.startswith(_ASKED)
    ]
    return Instance(OWN, name, tuple(samples[:MOST_SAMPLES]), dropped=max(0, len(samples) - MOST_SAMPLES))
