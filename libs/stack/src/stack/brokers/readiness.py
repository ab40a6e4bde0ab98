"""Whether a broker serves: it answers the protocol's first two questions."""

from __future__ import annotations

import asyncio
import logging

from aiokafka.client import AIOKafkaClient
from aiokafka.errors import KafkaError

from stack.threads import run_apart

ANSWER_S = 5.0


def brokers_in_cluster(bootstrap: str) -> int:
    """How many brokers the cluster says it has; 0 when it does not answer."""
    return run_apart(lambda: _ask(bootstrap))


async def _ask(bootstrap: str) -> int:
    client = AIOKafkaClient(bootstrap_servers=bootstrap, request_timeout_ms=int(ANSWER_S * 1000))
    # The client reports a broker that does not answer yet as an error; while a broker starts it is none.
    logging.getLogger("aiokafka").addFilter(_quiet)
    try:
        async with asyncio.timeout(ANSWER_S):
            await client.bootstrap()
        return len(client.cluster.brokers())
    except (KafkaError, OSError, TimeoutError):
        return 0
    finally:
        await client.close()
        logging.getLogger("aiokafka").removeFilter(_quiet)


def _quiet(_record: logging.LogRecord) -> bool:
    return False
