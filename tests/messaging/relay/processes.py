"""Relays as processes of their own, to be killed and stopped."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator

from stack import Stack
from tests.messaging.relay.watching import DEADLINE_S


@contextlib.asynccontextmanager
async def relay_process(
    stack: Stack, dsn: str, topic: str, *, die_at: str = "", times: int = 1, ttl_s: float = 1.5
) -> AsyncIterator[asyncio.subprocess.Process]:
    """A relay in a process; killed at the end if it lives."""
    plan = {
        "dsn": dsn,
        "bootstrap": stack.addresses.kafka_bootstrap,
        "idempotent": stack.facts.idempotent_producer,
        "replication_factor": stack.facts.replication_factor,
        "min_insync_replicas": stack.facts.min_insync_replicas,
        "topic": topic,
        "die_at": die_at,
        "times": times,
        "ttl_s": ttl_s,
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.messaging.relay.program",
        json.dumps(plan),
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def said(process: asyncio.subprocess.Process, word: str) -> str:
    """The next line of a process that begins with this word."""
    assert process.stdout is not None
    async with asyncio.timeout(DEADLINE_S):
        while line := (await process.stdout.readline()).decode().strip():
            if line.startswith(word):
                return line
    raise AssertionError(f"the process ended without saying {word!r}")
